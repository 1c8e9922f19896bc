/** The verdict on a workflow, from Temporal's description and its next step. Pure. */

import type { TemporalPause } from '../domain/operator-pause.ts';

/** The kinds of workflow that should be running; `mail`: of a deactivation. */
export type TrackedKind = 'delivery' | 'mail' | 'release' | 'recovery';

/** A workflow as Temporal describes it. */
export type WorkflowFound =
  /**
   * `asleep`: it waits for a future time or for a signal. `failing`: its steps keep failing. `atWork`: a worker has
   * one of its tasks. `pause`: an operator has paused it.
   */
  | {
      readonly as: 'running';
      readonly asleep: boolean;
      readonly failing: boolean;
      readonly atWork: boolean;
      readonly pause?: TemporalPause;
    }
  | { readonly as: 'missing' }
  /** Not by an operator: completed, failed, timed out, or ended by the server at one of its limits. */
  | { readonly as: 'ended' }
  /** By an operator. */
  | { readonly as: 'terminated' | 'canceled'; readonly by: string; readonly comment: string };

/** Why a workflow is repaired. */
export type Reason = Exclude<WorkflowFound['as'], 'running'> | 'asleep' | 'stuck' | 'stalled';
/** How a workflow is repaired. */
export type Action = 'startedAgain' | 'closed' | 'woken';

export interface Verdict {
  readonly reason: Reason;
  readonly action: Action;
}

/**
 * When a workflow's next step is due. `late`: past due although nothing holds it. `held`: not before an inactive
 * webhook or an operator's hold ends. `over`: there is none, and no workflow should wait for one.
 */
export type Due = 'ahead' | 'late' | 'held' | 'over';

/** @returns null if all is well */
export function verdictOn(kind: TrackedKind, found: WorkflowFound, next: Due): Verdict | null {
  // Its workflow may have ended since it was listed.
  if (next === 'over' && found.as !== 'running') return null;
  switch (found.as) {
    case 'running':
      // Temporal was restored from an older copy: the workflow has lost later signals, and sleeps.
      if ((next === 'late' || next === 'over') && found.asleep) return { reason: 'asleep', action: 'woken' };
      // Or its history is inconsistent: a worker that remembered more than Temporal went on writing it, or the code
      // cannot replay it. It would not notice that it is no longer held.
      if (next !== 'ahead' && found.failing) return { reason: 'stuck', action: 'startedAgain' };
      // If it goes on like this for long.
      return next === 'late' && found.atWork ? { reason: 'stalled', action: 'startedAgain' } : null;
    case 'missing':
    case 'ended':
      return { reason: found.as, action: 'startedAgain' };
    case 'terminated':
    case 'canceled':
      return { reason: found.as, action: AFTER_OPERATOR[kind] };
  }
}

/**
 * After an operator ended a workflow: a mail is still due, and a pre-order will still be released.
 */
const AFTER_OPERATOR = {
  delivery: 'closed',
  mail: 'startedAgain',
  release: 'startedAgain',
  recovery: 'closed',
} as const satisfies Record<TrackedKind, Action>;

/** The possible repairs. */
export const repairsMade: readonly (Verdict & { readonly kind: TrackedKind })[] = (
  Object.keys(AFTER_OPERATOR) as TrackedKind[]
).flatMap((kind) => [
  { kind, action: 'woken', reason: 'asleep' } as const,
  ...(['missing', 'ended', 'stuck', 'stalled'] as const).map(
    (reason) => ({ kind, action: 'startedAgain', reason }) as const,
  ),
  ...(['terminated', 'canceled'] as const).map((reason) => ({ kind, action: AFTER_OPERATOR[kind], reason })),
]);
