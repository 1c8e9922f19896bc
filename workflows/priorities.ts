/**
 * The order in which workers take work from Temporal: first releases of pre-orders, which lead to first attempts;
 * then notices and deliveries' workflows alike, since first attempts do not wait for them and these priorities have
 * no ageing; then recoveries. Among equals the e-shops take turns, on top of those in Postgres (docs/decisions/0003),
 * by which most work never waits in Temporal. A server without priorities ignores them.
 */
import type { Priority } from '@temporalio/common';

/** Temporal's default is 3; smaller goes first. */
const KEYS = { release: 2, delivery: 3, notice: 3, recovery: 4 } as const;

/** For the start of a workflow of one e-shop; its activities inherit it. */
export function priorityOf(kind: keyof typeof KEYS, eshopId: number): Priority {
  return { priorityKey: KEYS[kind], fairnessKey: String(eshopId) };
}
