/**
 * What goes first when more is waiting in Temporal than its workers can take: batches of fresh deliveries and releases of pre-orders,
 * from which first attempts come; then warnings and every delivery's own workflow, whatever it is started for, since its first attempt
 * does not wait for it and nothing ages in this order; then recoveries. Among equals the e-shops take turns. It comes on top of the
 * turns in Postgres (docs/decisions/0003), because of which most never wait in Temporal at all. A server that does not support
 * priorities ignores them.
 */
import type { Priority } from '@temporalio/common';

/** Temporal's default, if none is given, is 3; smaller goes first. */
const KEYS = { fresh: 2, retry: 3, recovery: 4 } as const;

/** What a workflow is started for: a first attempt, further attempts, or to recover what a receiver did not get. */
export type Urgency = keyof typeof KEYS;

/** For the start of a workflow that is one e-shop's; its activities inherit it. */
export function priorityOf(urgency: Urgency, eshopId: number): Priority {
  return { priorityKey: KEYS[urgency], fairnessKey: String(eshopId) };
}

/** For a delivery's own workflow: one that is started again, or for a retry, is not to wait for as long as fresh ones are started. */
export function deliveryPriority(urgency: Urgency, eshopId: number): Priority {
  return priorityOf(urgency === 'fresh' ? 'retry' : urgency, eshopId);
}

/** For a batch: the relay has taken them from the e-shops by turns. */
export function batchPriority(urgency: Urgency): Priority {
  return { priorityKey: KEYS[urgency] };
}
