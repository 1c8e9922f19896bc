/** The classes of waiting deliveries, and which goes first. */

import { attemptClasses } from '../db/outbox/notify.ts';

/**
 * The classes that wait for an attempt, and those that wait for their workflow, as in `CLASS`; each has a loop of
 * its name.
 */
export { attemptClasses };
export type AttemptClass = (typeof attemptClasses)[number];
export const workflowClasses = ['undelivered', 'delivered'] as const;
export type WorkflowClass = (typeof workflowClasses)[number];
export type ClassName = AttemptClass | WorkflowClass;

/**
 * A class is claimed only when nothing is left of these; one that waits for an attempt, all the same after a while.
 */
const claimedAfter: Readonly<Record<ClassName, readonly AttemptClass[]>> = {
  fresh: [],
  retry: [],
  bulk: ['fresh'],
  recovered: ['fresh', 'bulk'],
  undelivered: [],
  delivered: ['fresh', 'retry', 'bulk'],
};

/**
 * How many a class may have in flight, and how much of each quota it may fill, as a share of what fresh ones may:
 * each has its own.
 */
export const shareOf: Readonly<Record<AttemptClass, number>> = {
  fresh: 1,
  retry: 0.5,
  bulk: 0.75,
  recovered: 0.5,
};

/**
 * A class not claimed for this long, was not being claimed. Less: a busy moment counts as an outage. More: the
 * reverse.
 */
const BREAK_MS = 5_000;

export type Precedence = ReturnType<typeof createPrecedence>;

/**
 * Tracks which classes have deliveries left to claim, and which class may be claimed now.
 * @param now in milliseconds, on a clock that does not jump
 */
export function createPrecedence(patienceMs: number, now: () => number = () => performance.now()) {
  const left = new Map<ClassName, boolean>();
  const claimedAt = new Map<ClassName, number>();
  const triedAt = new Map<ClassName, number>();
  const claimingSince = new Map<ClassName, number>();
  const begunAt = now();
  /** Whether its last claim left nothing. */
  const isEmpty = (name: ClassName): boolean => left.get(name) === false;
  function tried(name: ClassName): void {
    const at = now();
    if (at - (triedAt.get(name) ?? Number.NEGATIVE_INFINITY) > BREAK_MS) claimingSince.set(name, at);
    triedAt.set(name, at);
  }
  return {
    /** After a claim. */
    claimed(name: ClassName, more: boolean): void {
      tried(name);
      claimedAt.set(name, now());
      left.set(name, more);
    },
    /** It had no room to claim: deliveries may be waiting. */
    full(name: ClassName): void {
      tried(name);
      left.set(name, true);
    },
    /** Deliveries were added. */
    waiting: (name: ClassName): void => void left.set(name, true),
    isEmpty,
    /** Whether nothing is left of the classes before it, or it has waited long enough. */
    mayClaim(name: ClassName): boolean {
      // Until a class is first claimed, it may have deliveries waiting.
      if (claimedAfter[name].every(isEmpty)) return true;
      return name !== 'delivered' && now() - (claimedAt.get(name) ?? begunAt) > patienceMs;
    },
    /** For how long it has been claimed without a break, in milliseconds. */
    claimingMs(name: ClassName): number {
      const since = claimingSince.get(name);
      return since === undefined ? 0 : now() - since;
    },
  };
}
