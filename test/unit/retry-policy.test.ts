import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  defaultRetryPolicy,
  maxAttempts,
  type NextAttempt,
  nextAttempt,
  waitAfterAttempt,
  waits,
} from '../../src/domain/retry-policy.ts';

test('the default policy: 20 retries whose waits grow by half and fit 48 hours', () => {
  const all = waits(defaultRetryPolicy);
  expect(all).toHaveLength(20);
  expect(maxAttempts(defaultRetryPolicy)).toBe(21);
  expect(all.slice(0, 3)).toEqual([25_000, 37_500, 56_250]);
  const hours = all.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(46);
  expect(hours).toBeLessThan(48);
});

describe('the next attempt', () => {
  const policy = {
    ...defaultRetryPolicy,
    initialIntervalMs: 1_000,
    coefficient: 2,
    windowMs: 100_000,
    attemptTimeoutMs: 5_000,
  };
  const failed = { number: 3, now: 10_000, windowEndsAt: 100_000, retryAfterMs: null, lateMs: 0 };
  const at = (next: NextAttempt) => next.at;

  test('comes after the wait of the policy', () => {
    expect(at(nextAttempt(policy, failed))).toBe(10_000 + 4_000);
  });
  test('is put off by Retry-After', () => {
    expect(at(nextAttempt(policy, { ...failed, retryAfterMs: 30_000 }))).toBe(40_000);
  });
  test('is never brought forward by Retry-After', () => {
    expect(at(nextAttempt(policy, { ...failed, retryAfterMs: 1 }))).toBe(14_000);
  });
  test('stays inside the window, with room for the attempt, whatever Retry-After asks for', () => {
    expect(at(nextAttempt(policy, { ...failed, retryAfterMs: 10_000_000 }))).toBe(95_000);
  });
  test('does not come when its wait would not fit the window', () => {
    expect(at(nextAttempt(policy, { ...failed, windowEndsAt: 13_999 }))).toBeNull();
  });
  test('comes at the end of the window when its wait ends there', () => {
    expect(at(nextAttempt(policy, { ...failed, windowEndsAt: 14_000 }))).toBe(14_000);
  });
  test('does not come after the last attempt of the policy', () => {
    expect(at(nextAttempt(policy, { ...failed, number: 20 }))).not.toBe(undefined);
    expect(at(nextAttempt({ ...policy, maxRetries: 3 }, { ...failed, number: 4 }))).toBeNull();
  });

  test('whatever the policy and the receiver, no delivery gets more attempts than allowed, none after its window', () => {
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
              number,
              now,
              windowEndsAt: any.windowMs,
              retryAfterMs: retryAfters[number] ?? null,
              lateMs: 0,
            });
            if (next === null) break;
            expect(next).toBeGreaterThanOrEqual(now + waitAfterAttempt(any, number));
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

describe('time that an outage took', () => {
  const window = defaultRetryPolicy.windowMs;
  const hour = 3_600_000;

  test('without an outage nothing is shortened', () => {
    expect(
      nextAttempt(defaultRetryPolicy, {
        number: 20,
        now: 30.8 * hour,
        windowEndsAt: window,
        retryAfterMs: null,
        lateMs: 0,
      }),
    ).toEqual({ at: 30.8 * hour + waitAfterAttempt(defaultRetryPolicy, 20) });
  });

  test('two hours lost before the 20th attempt: the 21st comes before the end of the window', () => {
    const now = 32.8 * hour;
    const next = nextAttempt(defaultRetryPolicy, {
      number: 20,
      now,
      windowEndsAt: window,
      retryAfterMs: null,
      lateMs: 2 * hour,
    });
    expect(next.at).toBeGreaterThan(window - 60_000);
    expect(next.at).toBeLessThanOrEqual(window);
  });

  test('the last attempt keeps room for its time-out, though no more than a twentieth of a short window', () => {
    const short = { ...defaultRetryPolicy, initialIntervalMs: 1_000, coefficient: 2, windowMs: 100_000 };
    const lost = { number: 6, now: 70_000, windowEndsAt: 100_000, retryAfterMs: null, lateMs: 10_000 };
    const next = (attemptTimeoutMs: number) => nextAttempt({ ...short, attemptTimeoutMs }, lost);
    expect(next(2_000)).toEqual({ at: 98_000 });
    expect(next(50_000)).toEqual({ at: 95_000 });
  });

  test('no room left for the shortest wait: the retries are over, and the receiver is not to blame', () => {
    const lost = {
      number: 5,
      now: window - 1_000,
      windowEndsAt: window,
      retryAfterMs: null,
      lateMs: 47 * hour,
    };
    expect(nextAttempt(defaultRetryPolicy, lost)).toEqual({ at: null, internal: true });
    expect(nextAttempt(defaultRetryPolicy, { ...lost, lateMs: 0 })).toEqual({ at: null, internal: false });
  });

  test('a Retry-After is honored all the same', () => {
    const next = {
      number: 5,
      now: 40 * hour,
      windowEndsAt: window,
      retryAfterMs: 2 * hour,
      lateMs: 39 * hour,
    };
    expect(nextAttempt(defaultRetryPolicy, next)).toEqual({ at: 42 * hour });
  });

  test('whenever we were away, a delivery that has an hour left gets all 21 attempts, in the window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (away, part) => {
          let now = 0;
          let lateMs = 0;
          for (let number = 1; number < maxAttempts(defaultRetryPolicy); number += 1) {
            const next = nextAttempt(defaultRetryPolicy, {
              number,
              now,
              windowEndsAt: window,
              retryAfterMs: null,
              lateMs,
            });
            expect(next.at, `after attempt ${number}`).not.toBeNull();
            const due = next.at ?? 0;
            expect(due).toBeLessThanOrEqual(window);
            expect(due - now).toBeGreaterThanOrEqual(defaultRetryPolicy.initialIntervalMs);
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
