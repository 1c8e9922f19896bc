/** The retry policy: one value, recorded in each delivery workflow's input (docs/interface.md, D6). */

/** How a delivery is retried. All times in milliseconds. */
export interface RetryPolicy {
  readonly initialIntervalMs: number;
  readonly coefficient: number;
  /** Retries after the first attempt: 20 means at most 21 attempts. */
  readonly maxRetries: number;
  /** Begins with the first attempt (or the first hold); no attempt begins after its end. */
  readonly windowMs: number;
  /** The time-out of a whole attempt. */
  readonly attemptTimeoutMs: number;
}

/** The default policy: 20 waits of 25 s, 37.5 s, 56 s … 15.4 h, 46.2 h in all. */
export const defaultRetryPolicy: RetryPolicy = {
  initialIntervalMs: 25_000,
  coefficient: 1.5,
  maxRetries: 20,
  windowMs: 48 * 3_600_000,
  attemptTimeoutMs: 15_000,
};

export function maxAttempts(policy: RetryPolicy): number {
  return 1 + policy.maxRetries;
}

/** The planned wait after the attempt of this number, in milliseconds, never longer than the window. */
export function waitAfterAttempt(policy: RetryPolicy, attempt: number): number {
  return partOfPlan(policy, attempt, 1);
}

/** A part of the planned wait, bounded last: otherwise a wait longer than the window could be cut to fit into it. */
function partOfPlan(policy: RetryPolicy, attempt: number, share: number): number {
  const planned = policy.initialIntervalMs * policy.coefficient ** (attempt - 1);
  return Math.min(Math.round(planned * share), policy.windowMs);
}

/** The shortest wait, as a part of the planned one: deliveries that failed together are spread over a tenth of it. */
export const SHORTEST_PART = 0.9;

/**
 * The wait after the attempt of this number of this delivery, in milliseconds: 90–100 % of the planned one, by a
 * hash of both, so that every process computes the same. Waits still grow where the coefficient is at least 1.2.
 */
export function jitteredWait(policy: RetryPolicy, deliveryId: string, attempt: number): number {
  const share = SHORTEST_PART + (1 - SHORTEST_PART) * unitHash(`${deliveryId}/${attempt}`);
  return partOfPlan(policy, attempt, share);
}

/**
 * A number from 0 to 1, evenly distributed: FNV-1a with the finalizer of MurmurHash3, since FNV alone leaves the
 * upper bits of similar texts similar. Workflow code has no `node:crypto`.
 */
function unitHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0xffffffff;
}

/** All planned waits in order, in milliseconds: one per retry. */
export function waits(policy: RetryPolicy): number[] {
  return Array.from({ length: policy.maxRetries }, (_, index) => waitAfterAttempt(policy, index + 1));
}

/** The end of the window of a delivery that began at this time. */
export function windowEnd({ windowMs }: RetryPolicy, windowStartedAt: Date): Date {
  return new Date(windowStartedAt.getTime() + windowMs);
}

/** A longer `Retry-After` is cut to this: a receiver that recovers sooner should not wait for days. */
export const MAX_RETRY_AFTER_MS = 6 * 3_600_000;

/** The input for the next wait besides the policy. Times in milliseconds since 1970. */
interface FailedAttemptTimes {
  readonly deliveryId: string;
  readonly number: number;
  readonly now: number;
  readonly windowEndsAt: number;
  /** The receiver's `Retry-After`, in milliseconds from now. */
  readonly retryAfterMs: number | null;
  /** How late the attempts so far began because of outages, in milliseconds: the sum of all. */
  readonly lateInAllMs: number;
}

/**
 * When the attempt after a failed one is due. A `Retry-After` lengthens the wait, by six hours at most and never
 * past the window. Time lost to outages is taken from the waits, not from the number of attempts: the waits shrink
 * in proportion to the rest of the window, but never below the policy's first wait.
 * @returns `at`: in milliseconds since 1970; null if none follows. `internal`: internal outages left no room in the
 * window; the receiver is not to blame for the missing attempts
 */
export function nextAttempt(policy: RetryPolicy, failed: FailedAttemptTimes) {
  const { deliveryId, number, now, windowEndsAt, retryAfterMs, lateInAllMs } = failed;
  if (number >= maxAttempts(policy)) return { at: null, internal: false };
  const requestedMs = Math.min(
    retryAfterMs ?? 0,
    MAX_RETRY_AFTER_MS,
    Math.max(0, windowEndsAt - now - policy.attemptTimeoutMs),
  );
  const planned = jitteredWait(policy, deliveryId, number);
  const due = waitsWithinWindow(policy, deliveryId, number, windowEndsAt - now + lateInAllMs);
  if (due === 0) return { at: null, internal: false };

  const wait = Math.max(
    requestedMs,
    lateInAllMs === 0 ? planned : shortened(policy, planned, due, windowEndsAt - now),
  );
  return now + wait > windowEndsAt ? { at: null, internal: true } : { at: now + wait };
}

/**
 * The sum of those of a delivery's waits from this attempt on that fit into a time, in milliseconds; 0 if the first
 * one does not fit.
 * @param deliveryId null for the waits as planned
 */
export function waitsWithinWindow(
  policy: RetryPolicy,
  deliveryId: string | null,
  attempt: number,
  timeMs: number,
): number {
  let sum = 0;
  for (let next = attempt; next < maxAttempts(policy); next += 1) {
    const wait =
      deliveryId === null ? waitAfterAttempt(policy, next) : jitteredWait(policy, deliveryId, next);
    if (sum + wait > timeMs) break;
    sum += wait;
  }
  return sum;
}

/** A wait, reduced in the same proportion as all remaining waits, with some time left for the last attempt. */
function shortened(policy: RetryPolicy, wait: number, dueMs: number, leftMs: number): number {
  const room = leftMs - Math.min(policy.attemptTimeoutMs, policy.windowMs / 20);
  if (dueMs <= room) return wait;
  return Math.min(wait, Math.max(policy.initialIntervalMs, Math.floor((wait * room) / dueMs)));
}
