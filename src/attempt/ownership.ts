/** The time for which an attempt has an owner. Pure. */
import type { RetryPolicy } from '../domain/retry-policy.ts';

/**
 * How long ownership lasts beyond the attempt's time-out, in milliseconds. The request leaves within the first four
 * fifths of this time or not at all, so that two requests of an attempt never meet at a receiver. Too low: a busy
 * moment costs a second try. Too high: attempts that are under way when a worker dies wait longer.
 */
const LONGER_MS = 5_000;

/** How long after an attempt was begun its request may leave, in milliseconds. */
export const MAX_START_DELAY_MS = 0.8 * LONGER_MS;

/** How long an attempt that was begun belongs to its owner, in milliseconds: no other owner may begin it. */
export function ownedMs({ attemptTimeoutMs }: Pick<RetryPolicy, 'attemptTimeoutMs'>): number {
  return attemptTimeoutMs + LONGER_MS;
}
