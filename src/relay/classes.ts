/** The classes of waiting deliveries, and which goes first. */

/** The classes that wait for an attempt, and those that wait for their workflow, as in `CLASS`; each has a loop of its name. */
export const attemptClasses = ['fresh', 'retry', 'bulk', 'recovered'] as const;
export type AttemptClass = (typeof attemptClasses)[number];
export const workflowClasses = ['undelivered', 'delivered'] as const;
export type WorkflowClass = (typeof workflowClasses)[number];
export type ClassName = AttemptClass | WorkflowClass;

/** How a class takes its turn. */
interface ClassRules {
  /** This class is claimed only when nothing is left of these. */
  readonly after: readonly AttemptClass[];
  /** Whether it goes all the same after waiting long enough. */
  readonly patient: boolean;
  /** How many it may have in flight, and how much of each quota it may fill, as a share of what fresh ones may: each has its own. */
  readonly share: number;
}

export const classRules: Readonly<Record<ClassName, ClassRules>> = {
  fresh: { after: [], patient: false, share: 1 },
  retry: { after: [], patient: false, share: 0.5 },
  bulk: { after: ['fresh'], patient: true, share: 0.75 },
  recovered: { after: ['fresh', 'bulk'], patient: true, share: 0.5 },
  undelivered: { after: [], patient: false, share: 1 },
  delivered: { after: ['fresh', 'retry', 'bulk'], patient: false, share: 1 },
};

/** Tracks which classes have deliveries left to claim, and which class may be claimed now. */
export interface Precedence {
  /** After a claim. */
  claimed(name: ClassName, more: boolean): void;
  /** It had no room to claim: deliveries may be waiting. */
  full(name: ClassName): void;
  /** Deliveries were added. */
  waiting(name: ClassName): void;
  /** Whether nothing is left of the classes before it, or it has waited long enough. */
  mayClaim(name: ClassName): boolean;
  /** Whether its last claim left nothing. */
  isEmpty(name: ClassName): boolean;
  /** Whether its last claim left some, or had no room. */
  hasMore(name: ClassName): boolean;
  /** For how long it has been claimed without a break, in milliseconds. */
  claimingMs(name: ClassName): number;
}

/** A class not claimed for this long, in milliseconds, was not being claimed. Less: a busy moment counts as an outage. More: the reverse. */
const BREAK_MS = 5_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createPrecedence(
  patienceMs: number,
  now: () => number = () => performance.now(),
): Precedence {
  const left = new Map<ClassName, boolean>();
  const claimedAt = new Map<ClassName, number>();
  const triedAt = new Map<ClassName, number>();
  const claimingSince = new Map<ClassName, number>();
  const begunAt = now();
  function tried(name: ClassName): void {
    const at = now();
    if (at - (triedAt.get(name) ?? Number.NEGATIVE_INFINITY) > BREAK_MS) claimingSince.set(name, at);
    triedAt.set(name, at);
  }
  return {
    claimed(name, more) {
      tried(name);
      claimedAt.set(name, now());
      left.set(name, more);
    },
    full(name) {
      tried(name);
      left.set(name, true);
    },
    waiting: (name) => void left.set(name, true),
    isEmpty: (name) => left.get(name) === false,
    hasMore: (name) => left.get(name) === true,
    mayClaim(name) {
      const { after, patient } = classRules[name];
      // Until a class is first claimed, it may have deliveries waiting.
      const blocked = after.some((other) => left.get(other) ?? true);
      return !blocked || (patient && now() - (claimedAt.get(name) ?? begunAt) > patienceMs);
    },
    claimingMs(name) {
      const since = claimingSince.get(name);
      return since === undefined ? 0 : now() - since;
    },
  };
}
