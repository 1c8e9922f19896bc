/**
 * The retry policy: one value, made here, recorded in each delivery workflow's input, shown by `waybill policy`
 * and by the README's table (given.md, "Limits": 20 retries, up to 48 hours, exponentially increasing).
 * @module
 */

/** How a delivery is tried. All times in milliseconds. */
export interface RetryPolicy {
  /** The wait before the first retry. */
  readonly initialIntervalMs: number;
  /** Each wait is the one before times this. */
  readonly coefficient: number;
  /** Retries after the first attempt: 20 means at most 21 attempts. */
  readonly maxRetries: number;
  /** From the first attempt (or the first holding) on; no attempt starts after its end. */
  readonly windowMs: number;
  /** For the whole of one attempt. */
  readonly attemptTimeoutMs: number;
}

/** The policy when nothing is configured: 20 waits of 25 s, 37.5 s, 56 s … 15.4 h, 46.2 h in all. */
export const defaultRetryPolicy: RetryPolicy = {
  initialIntervalMs: 25_000,
  coefficient: 1.5,
  maxRetries: 20,
  windowMs: 48 * 3_600_000,
  attemptTimeoutMs: 15_000,
};

/** The most attempts of one delivery: the first and its retries. */
export function maxAttempts(policy: RetryPolicy): number {
  return 1 + policy.maxRetries;
}

/**
 * The wait after the attempt of this number, in milliseconds, never longer than the window.
 * @param attempt 1 for the first attempt
 */
export function waitAfterAttempt(policy: RetryPolicy, attempt: number): number {
  return Math.min(
    Math.round(policy.initialIntervalMs * policy.coefficient ** (attempt - 1)),
    policy.windowMs,
  );
}

/** All waits in their order, in milliseconds: one per retry. */
export function waits(policy: RetryPolicy): number[] {
  return Array.from({ length: policy.maxRetries }, (_, index) => waitAfterAttempt(policy, index + 1));
}
