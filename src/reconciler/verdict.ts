/** The verdict on a workflow, from Temporal's description and its next step. Pure. */
import type { TemporalPause } from '../domain/operator-pause.ts';

/** The kinds of workflow that should be running. `mail`: one that has a deactivation to mail. */
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
  /** No operator has ended it: it completed, failed, timed out, or was ended by the server at one of its limits. */
  | { readonly as: 'ended' }
  /** An operator has ended it. */
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
 * When a workflow's next step is due. `late`: it is past due, although nothing holds it. `held`: it is not due before
 * the webhook is active again or an operator's hold ends. `over`: there is no next step, and no workflow should wait
 * for one.
 */
export type Due = 'ahead' | 'late' | 'held' | 'over';

/** @returns null if nothing is wrong */
export function verdictOn(kind: TrackedKind, found: WorkflowFound, next: Due): Verdict | null {
  // The workflow may have ended since it was listed.
  if (next === 'over' && found.as !== 'running') return null;
  switch (found.as) {
    case 'running':
      // Temporal was restored from an older copy: the workflow has lost its later signals, and sleeps.
      if ((next === 'late' || next === 'over') && found.asleep) return { reason: 'asleep', action: 'woken' };
      // The history of the workflow is inconsistent: a worker that remembered more than Temporal continued it, or the
      // code cannot replay it. Such a workflow would not notice that it is no longer held.
      if (next !== 'ahead' && found.failing) return { reason: 'stuck', action: 'startedAgain' };
      // The repair follows only if the workflow stalls for a long time.
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
 * The repair after an operator ended a workflow. A mail is still due, and a pre-order is still to be released.
 */
const AFTER_OPERATOR = {
  delivery: 'closed',
  mail: 'startedAgain',
  release: 'startedAgain',
  recovery: 'closed',
} as const satisfies Record<TrackedKind, Action>;

/** All repairs that are possible. */
export const repairsMade: readonly (Verdict & { readonly kind: TrackedKind })[] = (
  Object.keys(AFTER_OPERATOR) as TrackedKind[]
).flatMap((kind) => [
  { kind, action: 'woken', reason: 'asleep' } as const,
  ...(['missing', 'ended', 'stuck', 'stalled'] as const).map(
    (reason) => ({ kind, action: 'startedAgain', reason }) as const,
  ),
  ...(['terminated', 'canceled'] as const).map((reason) => ({ kind, action: AFTER_OPERATOR[kind], reason })),
]);
