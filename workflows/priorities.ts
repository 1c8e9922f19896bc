/**
 * The order in which workers take waiting work from Temporal: first batches of fresh deliveries and releases of pre-orders, which lead
 * to first attempts; then warnings and deliveries' own workflows, regardless of their urgency, since first attempts do not wait for
 * them and this order has no ageing; then recoveries. Among equals the e-shops take turns. This comes on top of the turns in Postgres
 * (docs/decisions/0003), thanks to which most work never waits in Temporal. A server without support for priorities ignores them.
 */
import type { Priority } from '@temporalio/common';

/** Temporal's default is 3; smaller goes first. */
const KEYS = { fresh: 2, retry: 3, recovery: 4 } as const;

/** What a workflow is started for: a first attempt, further attempts, or a recovery. */
export type Urgency = keyof typeof KEYS;

/** For the start of a workflow of one e-shop; its activities inherit it. */
export function priorityOf(urgency: Urgency, eshopId: number): Priority {
  return { priorityKey: KEYS[urgency], fairnessKey: String(eshopId) };
}

/** For a delivery's own workflow: one started again, or for a retry, must not wait for as long as fresh ones are started. */
export function deliveryPriority(urgency: Urgency, eshopId: number): Priority {
  return priorityOf(urgency === 'fresh' ? 'retry' : urgency, eshopId);
}
