import { expect, test } from 'vitest';
import { defaultRetryPolicy, maxAttempts, waits } from '../../src/domain/retry-policy.ts';

test('the default policy: 20 retries whose waits grow by half and fit 48 hours', () => {
  const all = waits(defaultRetryPolicy);
  expect(all).toHaveLength(20);
  expect(maxAttempts(defaultRetryPolicy)).toBe(21);
  expect(all.slice(0, 3)).toEqual([25_000, 37_500, 56_250]);
  const hours = all.reduce((sum, wait) => sum + wait, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(46);
  expect(hours).toBeLessThan(48);
});
