/**
 * What is repaired, decided from what Temporal says of a record's workflow alone. Pure, so that every case is a line of a
 * table test.
 */

/**
 * What should have a running workflow: an open delivery, a batch of first attempts, the mail of a deactivation, the release
 * of a pre-order, a recovery.
 */
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

/** What a record needs. */
export interface Verdict {
  readonly reason: Reason;
  readonly action: Action;
}

/**
 * When a record's next step is due. `late`: it is past although nothing holds it. `held`: not before whatever holds it ends,
 * an inactive webhook or an operator. `over`: there is none, and no workflow should wait for one.
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
 * What follows when an operator ended a workflow. A mail is due whatever becomes of the delivery, and a pre-order still
 * says that it will be released. Who ends a batch has not looked at each of its deliveries: they are not canceled, but go
 * on one by one.
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
