/** What is repaired, decided from Temporal's description of a workflow alone. Pure. */

/** What should have a running workflow; `mail`: of a deactivation. */
export type Kind = 'delivery' | 'batch' | 'mail' | 'release' | 'recovery';

/** A record's workflow as Temporal describes it. */
export type Found =
  /** `asleep`: it waits for something in the future, or for a signal. `failing`: its steps fail, time and again. */
  | { readonly as: 'running'; readonly asleep: boolean; readonly failing: boolean }
  | { readonly as: 'missing' }
  /** By itself: completed, failed, timed out, or ended by the server at one of its limits. */
  | { readonly as: 'ended' }
  /** By an operator. */
  | { readonly as: 'terminated' | 'canceled'; readonly by: string; readonly words: string };

/** Why a record is repaired. */
export type Reason = Exclude<Found['as'], 'running'> | 'asleep' | 'stuck';
/** How a record is repaired. */
export type Action = 'startedAgain' | 'closed' | 'handedBack' | 'woken';

export interface Verdict {
  readonly reason: Reason;
  readonly action: Action;
}

/**
 * When a record's next step is due. `late`: past although nothing holds it. `held`: not before an inactive webhook or
 * an operator's hold ends. `over`: there is none, and no workflow should wait for one.
 */
export type NextStep = 'ahead' | 'late' | 'held' | 'over';

/** @returns null where all is well */
export function verdictOn(kind: Kind, found: Found, next: NextStep): Verdict | null {
  // Its workflow may have ended since it was listed.
  if (next === 'over' && found.as !== 'running') return null;
  switch (found.as) {
    case 'running':
      // Temporal restored from an older copy: it sleeps without knowing what it was told since.
      // A batch never sleeps.
      if ((next === 'late' || next === 'over') && found.asleep && kind !== 'batch')
        return { reason: 'asleep', action: 'woken' };
      // Or its history is no longer one: a worker that remembered more than Temporal went on writing it, or one of an older
      // release that knew nothing of what holds it. It would not hear that it is held no longer.
      return next !== 'ahead' && found.failing ? { reason: 'stuck', action: 'startedAgain' } : null;
    case 'missing':
    case 'ended':
      return { reason: found.as, action: 'startedAgain' };
    case 'terminated':
    case 'canceled':
      return { reason: found.as, action: AFTER_OPERATOR[kind] };
  }
}

/**
 * When an operator ended a workflow: a mail is due all the same, and a pre-order will be released. Deliveries of an
 * ended batch go on one by one, since nobody has looked at each.
 */
const AFTER_OPERATOR = {
  delivery: 'closed',
  batch: 'handedBack',
  mail: 'startedAgain',
  release: 'startedAgain',
  recovery: 'closed',
} as const satisfies Record<Kind, Action>;

/** What may be repaired, and how. */
export const repairsMade: readonly { readonly kind: Kind; readonly action: Action }[] = (
  Object.keys(AFTER_OPERATOR) as Kind[]
).flatMap((kind) => {
  const woken: Action[] = kind === 'batch' ? [] : ['woken'];
  return [...new Set<Action>(['startedAgain', AFTER_OPERATOR[kind], ...woken])].map((action) => ({
    kind,
    action,
  }));
});
