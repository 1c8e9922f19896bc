import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  defaultRetryPolicy,
  jitteredWait,
  MAX_RETRY_AFTER_MS,
  maxAttempts,
  nextAttempt,
  waitAfterAttempt,
  waits,
} from '../../src/domain/retry-policy.ts';

test('the default policy has 20 retries, whose waits grow by half and fit 48 hours', () => {
  const all = waits(defaultRetryPolicy);
  expect(all).toHaveLength(20);
  expect(maxAttempts(defaultRetryPolicy)).toBe(21);
  expect(all.slice(0, 3)).toEqual([25_000, 37_500, 56_250]);
  const hours = all.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(46);
  expect(hours).toBeLessThan(48);
});

const deliveryId = '019aa1b2-0000-7000-8000-000000000001';
const someIds = Array.from(
  { length: 1_000 },
  (_, index) => `019aa1b2-0000-7000-8000-${`${index}`.padStart(12, '0')}`,
);

describe('each wait', () => {
  test('is 90 to 100 % of the planned one, the same wherever computed', () => {
    for (const [index, planned] of waits(defaultRetryPolicy).entries()) {
      const wait = jitteredWait(defaultRetryPolicy, deliveryId, index + 1);
      expect(wait).toBe(jitteredWait({ ...defaultRetryPolicy }, deliveryId, index + 1));
      expect(wait).toBeGreaterThanOrEqual(0.9 * planned);
      expect(wait).toBeLessThanOrEqual(planned);
    }
    expect(jitteredWait(defaultRetryPolicy, deliveryId, 1)).toBe(24_512);
  });

  test.each([1, 2, 20])(
    'is spread evenly among deliveries that failed together, after attempt %i',
    (number) => {
      const planned = waitAfterAttempt(defaultRetryPolicy, number);
      const tenths = someIds.map((id) =>
        Math.min(9, Math.floor((jitteredWait(defaultRetryPolicy, id, number) / planned - 0.9) * 100)),
      );
      for (let tenth = 0; tenth < 10; tenth += 1) {
        const share = tenths.filter((each) => each === tenth).length;
        expect(share, `tenth ${tenth}`).toBeGreaterThan(60);
        expect(share, `tenth ${tenth}`).toBeLessThan(140);
      }
    },
  );

  test('grows if the coefficient is at least 1.2', () => {
    const policy = { ...defaultRetryPolicy, coefficient: 1.2 };
    for (const id of someIds.slice(0, 100)) {
      const all = waits(policy).map((_, index) => jitteredWait(policy, id, index + 1));
      expect(all).toEqual(all.toSorted((one, other) => one - other));
      expect(new Set(all).size).toBe(all.length);
    }
  });
});

describe('the next attempt', () => {
  const policy = {
    ...defaultRetryPolicy,
    initialIntervalMs: 1_000,
    coefficient: 2,
    windowMs: 100_000,
    attemptTimeoutMs: 5_000,
  };
  const failed: Parameters<typeof nextAttempt>[1] = {
    deliveryId,
    number: 3,
    now: 10_000,
    windowEndsAt: 100_000,
    retryAfterMs: null,
    lateInAllMs: 0,
  };
  const wait = jitteredWait(policy, deliveryId, 3);

  test.each<[string, Partial<typeof failed>, number | null]>([
    ['comes after the wait of the policy', {}, 10_000 + wait],
    ['is delayed by Retry-After', { retryAfterMs: 30_000 }, 40_000],
    ['is never brought forward by Retry-After', { retryAfterMs: 1 }, 10_000 + wait],
    ['stays inside the window, with room for the attempt', { retryAfterMs: 10_000_000 }, 95_000],
    ['does not come when its wait would not fit the window', { windowEndsAt: 9_999 + wait }, null],
    [
      'comes at the end of the window when its wait ends there',
      { windowEndsAt: 10_000 + wait },
      10_000 + wait,
    ],
  ])('%s', (_, change, expected) => {
    expect(nextAttempt(policy, { ...failed, ...change }).at).toBe(expected);
  });
  test('is delayed by six hours at most', () => {
    const failure = { ...failed, number: 1, now: 0, windowEndsAt: defaultRetryPolicy.windowMs };
    const wantedAfter = (retryAfterMs: number) =>
      nextAttempt(defaultRetryPolicy, { ...failure, retryAfterMs }).at;
    expect(wantedAfter(MAX_RETRY_AFTER_MS - 1)).toBe(6 * 3_600_000 - 1);
    expect(wantedAfter(30 * 86_400_000)).toBe(6 * 3_600_000);
  });
  test('does not come after the last attempt of the policy', () => {
    expect(nextAttempt({ ...policy, maxRetries: 4 }, { ...failed, number: 4 }).at).not.toBeNull();
    expect(nextAttempt({ ...policy, maxRetries: 3 }, { ...failed, number: 4 }).at).toBeNull();
  });

  test('no policy or receiver leads to more attempts than allowed, or to one after the window', () => {
    fc.assert(
      fc.property(
        fc.record({
          initialIntervalMs: fc.integer({ min: 1, max: 60_000 }),
          coefficient: fc.double({ min: 1, max: 4, noNaN: true }),
          maxRetries: fc.integer({ min: 0, max: 30 }),
          windowMs: fc.integer({ min: 1, max: 200_000_000 }),
          attemptTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
        }),
        fc.array(fc.option(fc.integer({ min: 0, max: 1_000_000_000 })), { minLength: 40, maxLength: 40 }),
        (any, retryAfters) => {
          let now = 0;
          let number = 1;
          for (;;) {
            const { at: next } = nextAttempt(any, {
              deliveryId,
              number,
              now,
              windowEndsAt: any.windowMs,
              retryAfterMs: retryAfters[number] ?? null,
              lateInAllMs: 0,
            });
            if (next === null) break;
            expect(next).toBeGreaterThanOrEqual(now + jitteredWait(any, deliveryId, number));
            expect(next).toBeLessThanOrEqual(any.windowMs);
            now = next;
            number += 1;
          }
          expect(number).toBeLessThanOrEqual(maxAttempts(any));
        },
      ),
    );
  });
});

describe('time lost to an outage', () => {
  const window = defaultRetryPolicy.windowMs;
  const hour = 3_600_000;
  type Failure = Parameters<typeof nextAttempt>[1];
  const failedAfter = (failure: Pick<Failure, 'number' | 'now'> & Partial<Failure>) => {
    const others = { deliveryId, windowEndsAt: window, retryAfterMs: null, lateInAllMs: 0 };
    return nextAttempt(defaultRetryPolicy, { ...others, ...failure });
  };

  test('shortens nothing if there was none', () => {
    const at = 30.8 * hour + jitteredWait(defaultRetryPolicy, deliveryId, 20);
    expect(failedAfter({ number: 20, now: 30.8 * hour })).toEqual({ at });
  });

  test('four hours lost before the 20th attempt: the 21st still comes within the window', () => {
    const { at } = failedAfter({ number: 20, now: 34.8 * hour, lateInAllMs: 4 * hour });
    expect(at).toBeGreaterThan(window - 60_000);
    expect(at).toBeLessThanOrEqual(window);
  });

  test('the last attempt keeps room for its time-out, at most a twentieth of a short window', () => {
    const short = { ...defaultRetryPolicy, initialIntervalMs: 1_000, coefficient: 2, windowMs: 100_000 };
    const lost = { deliveryId, number: 6, now: 70_000, windowEndsAt: 100_000 };
    const next = (attemptTimeoutMs: number) =>
      nextAttempt({ ...short, attemptTimeoutMs }, { ...lost, retryAfterMs: null, lateInAllMs: 10_000 });
    expect(next(2_000)).toEqual({ at: 98_000 });
    expect(next(50_000)).toEqual({ at: 95_000 });
  });

  test('without room for the shortest wait retries end, and the receiver is not to blame', () => {
    const lost = { number: 5, now: window - 1_000 };
    expect(failedAfter({ ...lost, lateInAllMs: 47 * hour })).toEqual({ at: null, internal: true });
    expect(failedAfter(lost)).toEqual({ at: null, internal: false });
  });

  test('a Retry-After is still honored', () => {
    const patient = { retryAfterMs: 2 * hour, lateInAllMs: 39 * hour };
    expect(failedAfter({ number: 5, now: 40 * hour, ...patient })).toEqual({ at: 42 * hour });
  });

  test('a delivery with an hour left gets all 21 attempts, whenever the outage was', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (away, part) => {
          let now = 0;
          let lateMs = 0;
          for (let number = 1; number < maxAttempts(defaultRetryPolicy); number += 1) {
            const next = failedAfter({ number, now, lateInAllMs: lateMs });
            expect(next.at, `after attempt ${number}`).not.toBeNull();
            const due = next.at ?? 0;
            expect(due).toBeLessThanOrEqual(window);
            expect(due - now).toBeGreaterThanOrEqual(0.9 * defaultRetryPolicy.initialIntervalMs);
            expect(due - now).toBeLessThanOrEqual(waitAfterAttempt(defaultRetryPolicy, number));
            const late = number === away ? Math.round(Math.max(0, window - hour - due) * part) : 0;
            lateMs += late;
            now = due + late;
          }
        },
      ),
    );
  });
});

test('a planned wait beyond the window becomes the whole window, and so does not fit', () => {
  const policy = { ...defaultRetryPolicy, initialIntervalMs: 40, coefficient: 50, windowMs: 60_000 };
  for (let lot = 0; lot < 100; lot += 1) expect(jitteredWait(policy, `delivery ${lot}`, 3)).toBe(60_000);
});
