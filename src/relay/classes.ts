/** The loops of the relay, the classes of waiting deliveries, and their precedence. */
import { attemptClasses } from '../db/outbox/notify.ts';

/**
 * The classes of deliveries that wait for an attempt, and the classes of deliveries that wait for their workflow, as
 * in `CLASS`. Each class has a loop of the same name.
 */
export type AttemptClass = (typeof attemptClasses)[number];
export const workflowClasses = ['undelivered', 'delivered'] as const;
export type WorkflowClass = (typeof workflowClasses)[number];
export type ClassName = AttemptClass | WorkflowClass;

/** The loops, one for each kind of work. */
export const relayLoops = [
  ...attemptClasses,
  ...workflowClasses,
  'webhooks',
  'releases',
  'recoveries',
  'orderings',
  'warnings',
  'notices',
] as const;
export type RelayLoop = (typeof relayLoops)[number];

/**
 * The classes that go before a class: it is claimed only when nothing is left of them. A class that waits for an
 * attempt is also claimed after `patienceMs`, whatever is left.
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
 * How many deliveries a class may have in flight, and how much of each quota it may fill, as a share of the fresh
 * class's. The shares are counted separately: no class takes from another's share.
 */
export const shareOf: Readonly<Record<AttemptClass, number>> = {
  fresh: 1,
  retry: 0.5,
  bulk: 0.75,
  recovered: 0.5,
};

/**
 * After this long without a claim, in milliseconds, the claiming of a class counts as interrupted. Too low: a busy
 * moment counts as an outage. Too high: a short outage counts as a wait in the queue.
 */
const BREAK_MS = 5_000;

export type Precedence = ReturnType<typeof createPrecedence>;

/**
 * Tracks which classes have deliveries left to claim, and which class may be claimed now.
 * @param now in milliseconds, on a clock that does not jump
 */
export function createPrecedence(patienceMs: number, now: () => number = () => performance.now()) {
  const remaining = new Map<ClassName, boolean>();
  const claimedAt = new Map<ClassName, number>();
  const triedAt = new Map<ClassName, number>();
  const claimingSince = new Map<ClassName, number>();
  const begunAt = now();
  /** Whether the last claim of the class left nothing. */
  const isEmpty = (name: ClassName): boolean => remaining.get(name) === false;
  function recordTry(name: ClassName): void {
    const at = now();
    if (at - (triedAt.get(name) ?? Number.NEGATIVE_INFINITY) > BREAK_MS) claimingSince.set(name, at);
    triedAt.set(name, at);
  }
  return {
    /** After a claim. */
    claimed(name: ClassName, more: boolean): void {
      recordTry(name);
      claimedAt.set(name, now());
      remaining.set(name, more);
    },
    /** The loop had no room for a claim: deliveries of the class may be waiting. */
    full(name: ClassName): void {
      recordTry(name);
      remaining.set(name, true);
    },
    /** Deliveries were added to the class. */
    waiting: (name: ClassName): void => void remaining.set(name, true),
    isEmpty,
    /** Whether nothing is left of the classes before this one, or this one has waited long enough. */
    mayClaim(name: ClassName): boolean {
      // Until a class is first claimed, it may have deliveries waiting.
      if (claimedAfter[name].every(isEmpty)) return true;
      return name !== 'delivered' && now() - (claimedAt.get(name) ?? begunAt) > patienceMs;
    },
    /** For how long the class has been claimed without a break, in milliseconds. */
    claimingMs(name: ClassName): number {
      const since = claimingSince.get(name);
      return since === undefined ? 0 : now() - since;
    },
  };
}
