/** An incident: a webhook whose attempts fail (docs/interface.md, W14), and when its e-shop is warned (W15). */
import * as v from 'valibot';
import { component, described, time, wholeNumber } from './fields.ts';
import { defaultRetryPolicy, type RetryPolicy, waitsWithinWindow } from './retry-policy.ts';

export const incidentSchema = component('Incident', {
  since: described(
    time(),
    'The first failed attempt since the last accepted one, the activation or the change of URL.',
  ),
  failures: described(wholeNumber(), 'Failed attempts since then, of all deliveries.'),
  lastError: described(v.nullable(v.string()), 'The last error, as a sentence.'),
  deactivationAt: described(
    v.nullable(time()),
    'The earliest time at which the retries of a delivery will be exhausted, and the webhook deactivated. It may be delayed by ' +
      'the remaining attempts themselves (15 s each at most by default), by `Retry-After`, and by outages of the service; it comes ' +
      'sooner only if the receiver responds with 410, by `try-now`, or if a `Retry-After` leaves no time for the last attempts. ' +
      'Null while nothing is being retried.',
  ),
});
type Incident = v.InferOutput<typeof incidentSchema>;

/** A delivery that is being retried. Times in milliseconds since 1970. */
export interface Retried {
  readonly deliveryId: string;
  readonly attemptsMade: number;
  /** Null if no attempt is planned: the last one is under way, or was made. */
  readonly nextAttemptAt: number | null;
  readonly windowStartedAt: number;
  readonly lastAttemptAt: number;
}

/**
 * The earliest time at which the retries of a delivery can be exhausted: if all remaining attempts fail at once.
 * @returns milliseconds since 1970
 */
export function exhaustedAt(policy: RetryPolicy, delivery: Retried): number {
  const { deliveryId, attemptsMade, nextAttemptAt, windowStartedAt, lastAttemptAt } = delivery;
  if (nextAttemptAt === null) return lastAttemptAt;
  const remainingMs = windowStartedAt + policy.windowMs - nextAttemptAt;
  return nextAttemptAt + waitsWithinWindow(policy, deliveryId, attemptsMade + 1, remainingMs);
}

/** An incident as stored with its webhook: all null if there is none. */
export interface StoredIncident {
  readonly incidentSince: Date | null;
  readonly incidentFailures: number | null;
  readonly incidentError: string | null;
  /** The oldest of its deliveries that are being retried. */
  readonly incidentRetries: readonly Retried[] | null;
}

export function incidentOf(policy: RetryPolicy, stored: StoredIncident): Incident | null {
  const { incidentSince, incidentFailures, incidentError } = stored;
  if (incidentSince === null || incidentFailures === null) return null;
  return {
    since: incidentSince.toISOString(),
    failures: incidentFailures,
    lastError: incidentError,
    deactivationAt: deactivationAt(policy, stored)?.toISOString() ?? null,
  };
}

/** The earliest time at which one of its deliveries can have used up its retries; null while none is retried. */
export function deactivationAt(
  policy: RetryPolicy,
  { incidentRetries }: Pick<StoredIncident, 'incidentRetries'>,
): Date | null {
  const times = (incidentRetries ?? []).map((delivery) => exhaustedAt(policy, delivery));
  return times.length === 0 ? null : new Date(Math.min(...times));
}

export interface WarningTimes {
  /** How long before the retries of a delivery can be exhausted. */
  readonly leadMs: number;
  /** How long without an accepted attempt. */
  readonly patienceMs: number;
}

const HOUR_MS = 3_600_000;
/** How long all retries together are planned to last, in milliseconds. */
const lasts = (policy: RetryPolicy) => waitsWithinWindow(policy, null, 1, policy.windowMs);
/** Within a shorter time nobody could act on a warning, in milliseconds. */
const MIN_WARNED_SPAN_MS = 60_000;

/**
 * When to warn: a day before the end, and after six hours; proportionally less if the policy's retries take less
 * time than the default's.
 * @returns null if all retries fit into a minute: then there is no warning
 */
export function warningTimes(policy: RetryPolicy): WarningTimes | null {
  const span = lasts(policy);
  if (span < MIN_WARNED_SPAN_MS) return null;
  const scale = Math.min(1, span / lasts(defaultRetryPolicy));
  return { leadMs: Math.round(24 * HOUR_MS * scale), patienceMs: Math.round(6 * HOUR_MS * scale) };
}

/** Whether a failed attempt is the last one before the e-shop must be warned. */
export function isLastCall(policy: RetryPolicy, delivery: Retried): boolean {
  const times = warningTimes(policy);
  const { nextAttemptAt } = delivery;
  return (
    times !== null && nextAttemptAt !== null && nextAttemptAt > exhaustedAt(policy, delivery) - times.leadMs
  );
}
