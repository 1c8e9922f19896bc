/**
 * The order in which workers take work from Temporal. Releases of pre-orders come first, since they lead to first
 * attempts. Notices and the workflows of deliveries come next, as equals: no first attempt waits for them, and
 * Temporal's priorities have no aging. Recoveries come last. Among equals the e-shops take turns, in addition to the
 * turns in Postgres (docs/decisions/0003), which keep most work from ever waiting in Temporal. A server without
 * priorities ignores them.
 */
import type { Priority } from '@temporalio/common';

/** The priorities; Temporal's default is 3, and a smaller number goes first. */
const KEYS = { release: 2, delivery: 3, notice: 3, recovery: 4 } as const;

/** The priority for the start of a workflow of one e-shop; its activities inherit it. */
export function priorityOf(kind: keyof typeof KEYS, eshopId: number): Priority {
  return { priorityKey: KEYS[kind], fairnessKey: String(eshopId) };
}
