/**
 * What goes first when more is waiting in Temporal than its workers can take: what is fresh, with the retries of a
 * delivery's first activity; then what is started for a retry; then recoveries. Among equals the e-shops take turns. It comes on top
 * of the turns in Postgres (docs/decisions/0003), because of which most never wait in Temporal at all. A server that does not support
 * priorities ignores them.
 */
import type { Priority } from '@temporalio/common';

/** Temporal's default, if none is given, is 3; smaller goes first. */
const KEYS = { fresh: 2, retry: 3, recovery: 4 } as const;

/**
 * What a workflow is started for: a first attempt, further attempts, or to recover: what a receiver did not get, or a workflow
 * that Temporal has lost.
 */
export type Urgency = keyof typeof KEYS;

/** For the start of a workflow that is one e-shop's; its activities inherit it. */
export function priorityOf(urgency: Urgency, eshopId: number): Required<Omit<Priority, 'fairnessWeight'>> {
  return { priorityKey: KEYS[urgency], fairnessKey: String(eshopId) };
}

/** For a batch: the relay has taken them from the e-shops by turns. */
export function batchPriority(urgency: Urgency): Priority {
  return { priorityKey: KEYS[urgency] };
}

/**
 * For the activity that makes the attempts. Temporal repeats an activity with the priority that it was scheduled with, so the retries
 * of the first one count as fresh.
 * @param attemptsMade before the activity was scheduled
 * @param own of the workflow: what is recovered stays behind; none where the server knows no priorities
 */
export function attemptPriority(eshopId: number, attemptsMade: number, own: Priority = {}): Priority {
  const { priorityKey, fairnessKey } = priorityOf(attemptsMade === 0 ? 'fresh' : 'retry', eshopId);
  return { priorityKey: Math.max(priorityKey, own.priorityKey ?? 0), fairnessKey };
}
