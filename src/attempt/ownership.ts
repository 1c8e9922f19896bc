/** How long an attempt has an owner. Pure. */
import type { RetryPolicy } from '../domain/retry-policy.ts';

/**
 * Behind the attempt's own time-out, in milliseconds: so much longer nobody else may begin an attempt that is begun. Its request
 * leaves in the first four fifths of it or not at all, so that two never meet at a receiver. Less: a busy moment costs a second try.
 * More: what a worker had under way when it died waits as much longer.
 */
const LONGER_MS = 5_000;

/** Within so many milliseconds after it was begun the request of an attempt may leave. */
export const LEAVES_WITHIN_MS = 0.8 * LONGER_MS;

/** How long nobody else may begin an attempt that is begun, in milliseconds. */
export function ownedMs({ attemptTimeoutMs }: Pick<RetryPolicy, 'attemptTimeoutMs'>): number {
  return attemptTimeoutMs + LONGER_MS;
}
