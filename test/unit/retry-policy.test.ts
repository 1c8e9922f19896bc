import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  defaultRetryPolicy,
  maxAttempts,
  nextAttemptAt,
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
  const failed = { number: 3, now: 10_000, windowEndsAt: 100_000, retryAfterMs: null };

  test('comes after the wait of the policy', () => {
    expect(nextAttemptAt(policy, failed)).toBe(10_000 + 4_000);
  });
  test('is put off by Retry-After', () => {
    expect(nextAttemptAt(policy, { ...failed, retryAfterMs: 30_000 })).toBe(40_000);
  });
  test('is never brought forward by Retry-After', () => {
    expect(nextAttemptAt(policy, { ...failed, retryAfterMs: 1 })).toBe(14_000);
  });
  test('stays inside the window, with room for the attempt, whatever Retry-After asks for', () => {
    expect(nextAttemptAt(policy, { ...failed, retryAfterMs: 10_000_000 })).toBe(95_000);
  });
  test('does not come when its wait would not fit the window', () => {
    expect(nextAttemptAt(policy, { ...failed, windowEndsAt: 13_999 })).toBeNull();
  });
  test('does not come after the last attempt of the policy', () => {
    expect(nextAttemptAt(policy, { ...failed, number: 20 })).not.toBe(undefined);
    expect(nextAttemptAt({ ...policy, maxRetries: 3 }, { ...failed, number: 4 })).toBeNull();
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
            const next = nextAttemptAt(any, {
              number,
              now,
              windowEndsAt: any.windowMs,
              retryAfterMs: retryAfters[number] ?? null,
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
