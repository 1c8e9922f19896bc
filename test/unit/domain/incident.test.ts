/** When the retries of a delivery are exhausted, and after which attempt its e-shop must be warned. */
import { describe, expect, test } from 'vitest';
import {
  deactivationAt,
  exhaustedAt,
  incidentOf,
  isLastCall,
  type Retried,
  warningTimes,
} from '../../../src/domain/incident.ts';
import {
  defaultRetryPolicy,
  jitteredWait,
  maxAttempts,
  type RetryPolicy,
  waits,
} from '../../../src/domain/retry-policy.ts';

const HOUR = 3_600_000;
const deliveryId = '019aa1b2-0000-7000-8000-000000000001';

/** The record of each attempt if all fail at once, and the time of the last one. */
function life(policy: RetryPolicy): { attempts: Retried[]; end: number } {
  const attempts: Retried[] = [];
  let at = 0;
  for (let number = 1; ; number += 1) {
    const next = at + jitteredWait(policy, deliveryId, number);
    const over = number === maxAttempts(policy) || next > policy.windowMs;
    attempts.push({
      deliveryId,
      attemptsMade: number,
      nextAttemptAt: over ? null : next,
      windowStartedAt: 0,
      lastAttemptAt: at,
    });
    if (over) return { attempts, end: at };
    at = next;
  }
}

describe.each([
  ['the default policy', defaultRetryPolicy],
  ['a window that ends before the retries', { ...defaultRetryPolicy, windowMs: 20 * HOUR }],
  ['equal waits', { ...defaultRetryPolicy, coefficient: 1, initialIntervalMs: HOUR }],
  ['one retry', { ...defaultRetryPolicy, initialIntervalMs: HOUR, maxRetries: 1 }],
] as const)('%s', (_what, policy) => {
  const { attempts, end } = life(policy);

  test('each attempt gives the same time of exhaustion', () => {
    for (const attempt of attempts) expect(exhaustedAt(policy, attempt)).toBe(end);
  });

  test('the last call comes before the last attempt', () => {
    expect(attempts.some((attempt) => isLastCall(policy, attempt))).toBe(true);
    expect(isLastCall(policy, attempts.at(-1) as Retried)).toBe(false);
  });
});

test("the default policy's last call is the 18th or 19th attempt, at least a day before the end", () => {
  const { attempts, end } = life(defaultRetryPolicy);
  const first = attempts.find((attempt) => isLastCall(defaultRetryPolicy, attempt));
  expect(first?.attemptsMade).toBeOneOf([18, 19]);
  const hoursLeft = (end - (first?.lastAttemptAt ?? 0)) / HOUR;
  expect(hoursLeft).toBeGreaterThan(24);
  expect(hoursLeft).toBeLessThan(33);
});

test('retries spent within a minute have no last call', () => {
  const policy = { ...defaultRetryPolicy, initialIntervalMs: 40, coefficient: 1.1 };
  expect(life(policy).attempts.some((attempt) => isLastCall(policy, attempt))).toBe(false);
});

test('the delivery exhausted first gives the deactivation; without one there is none', () => {
  const { attempts, end } = life(defaultRetryPolicy);
  const [young, , old] = attempts;
  if (young === undefined || old === undefined) throw new Error('too few attempts');
  const later = { ...young, nextAttemptAt: (young.nextAttemptAt ?? 0) + HOUR, windowStartedAt: HOUR };
  const announced = deactivationAt(defaultRetryPolicy, { incidentRetries: [later, old] });
  expect(announced?.getTime()).toBe(end);
  expect(deactivationAt(defaultRetryPolicy, { incidentRetries: null })).toBeNull();
});

test('an incident shows the earliest deactivation, if anything is being retried', () => {
  const none = { incidentSince: null, incidentFailures: null, incidentError: null, incidentRetries: null };
  expect(incidentOf(defaultRetryPolicy, none)).toBeNull();
  expect(incidentOf(defaultRetryPolicy, { ...none, incidentSince: new Date(0) })).toBeNull();
  expect(incidentOf(defaultRetryPolicy, { ...none, incidentFailures: 2 })).toBeNull();
  const failing = { ...none, incidentSince: new Date(0), incidentFailures: 2, incidentError: 'HTTP 503' };
  const shown = { since: '1970-01-01T00:00:00.000Z', failures: 2, lastError: 'HTTP 503' };
  expect(incidentOf(defaultRetryPolicy, failing)).toEqual({ ...shown, deactivationAt: null });
  const last = {
    deliveryId,
    attemptsMade: 21,
    nextAttemptAt: null,
    windowStartedAt: 0,
    lastAttemptAt: 46 * HOUR,
  };
  expect(incidentOf(defaultRetryPolicy, { ...failing, incidentRetries: [last] })).toEqual({
    ...shown,
    deactivationAt: '1970-01-02T22:00:00.000Z',
  });
});

describe('warning times', () => {
  const policy = { ...defaultRetryPolicy, coefficient: 1, maxRetries: 1 };
  const usual = waits(defaultRetryPolicy).reduce((sum, wait) => sum + wait, 0);

  test.each([
    ['a day before the end or after six hours', usual, 24 * HOUR, 6 * HOUR],
    ['in half of these times if the retries take half as long', usual / 2, 12 * HOUR, 3 * HOUR],
    ['no earlier if they take longer', 47 * HOUR, 24 * HOUR, 6 * HOUR],
  ])('%s', (_, initialIntervalMs, leadMs, patienceMs) => {
    expect(warningTimes({ ...policy, initialIntervalMs })).toEqual({ leadMs, patienceMs });
  });

  test('exist only if all retries take at least a minute', () => {
    expect(warningTimes({ ...policy, initialIntervalMs: 60_000 })).not.toBeNull();
    expect(warningTimes({ ...policy, initialIntervalMs: 59_999 })).toBeNull();
  });
});
