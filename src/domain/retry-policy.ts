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

/** What the next wait depends on besides the policy. Times in milliseconds since 1970. */
export interface FailedAttemptTimes {
  readonly number: number;
  readonly now: number;
  readonly windowEndsAt: number;
  /** What the receiver asked for with `Retry-After`, in milliseconds from now. */
  readonly retryAfterMs: number | null;
}

/**
 * When the attempt after a failed one is due, in milliseconds since 1970, or null when the retries are spent: the
 * last one was made, or the next wait would not fit the window. A `Retry-After` lengthens the wait, but never
 * past the window.
 */
export function nextAttemptAt(policy: RetryPolicy, failed: FailedAttemptTimes): number | null {
  if (failed.number >= maxAttempts(policy)) return null;
  const planned = waitAfterAttempt(policy, failed.number);
  const latest = failed.windowEndsAt - failed.now - policy.attemptTimeoutMs;
  const wait =
    failed.retryAfterMs === null ? planned : Math.max(planned, Math.min(failed.retryAfterMs, latest));
  return failed.now + wait > failed.windowEndsAt ? null : failed.now + wait;
}
