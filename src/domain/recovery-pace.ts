/**
 * The pace of a recovery: it creates deliveries as its receiver takes them, so that the backlog is bounded and
 * failures are noticed early. Pure.
 */

/** How far a recovery has come. */
export interface RecoveryCounts {
  readonly created: number;
  /** Not attempted yet. */
  readonly pending: number;
  /** Of the pending ones: behind an older one of their record (docs/interface.md, D16). */
  readonly inOrder: number;
  /** Attempted without success, and to be attempted again. */
  readonly retrying: number;
  /** Failed, expired or canceled. */
  readonly failed: number;
  /** Not sent any more, since a newer event of the record is (docs/interface.md, D17). */
  readonly superseded: number;
}

export interface RecoveryPace {
  /** Deliveries that had ended, but for those superseded: of these the receiver knows nothing. */
  readonly ended: number;
  readonly superseded: number;
  /** How many end per second, but for those superseded: a moving mean; null before any was measured. */
  readonly rate: number | null;
}

/** Deliveries that may wait for their first attempt: at the beginning and at least, and at most. */
const MIN_WAITING = 20;
const MAX_WAITING = 500;
/**
 * Deliveries that may wait behind older ones of their records. A record has dozens of events, so these are of about a hundred that are
 * refused; each step counts them, which takes milliseconds.
 */
const MAX_IN_ORDER = 5_000;
/** A step that comes after longer than this says nothing about the receiver, in seconds. */
const MAX_STEP_S = 30;

export function endedOf({ created, pending, retrying, superseded }: RecoveryCounts): number {
  return created - pending - retrying - superseded;
}

export interface StepTiming {
  /** Since the last step; null where this is the first, or the recovery was paused in between. */
  readonly elapsedS: number | null;
  /** Since the recovery was asked for. */
  readonly ageS: number;
}

/** The mean looks back over half of the recovery's age: beside a lasting burst its turn comes every 15 seconds only. */
export function nextPace(
  pace: RecoveryPace,
  counts: RecoveryCounts,
  { elapsedS, ageS }: StepTiming,
): RecoveryPace {
  const { rate } = pace;
  const { superseded } = counts;
  const ended = endedOf(counts);
  const taken = ended - pace.ended;
  if (elapsedS === null || elapsedS <= 0 || elapsedS > MAX_STEP_S) return { ended, superseded, rate };
  const now = taken / elapsedS;
  if (rate === null) return { ended, superseded, rate: taken === 0 ? null : now };
  return { ended, superseded, rate: rate + (now - rate) * (1 - Math.exp((-2 * elapsedS) / ageS)) };
}

/**
 * How many deliveries may be created now: twice what was taken since the last step may wait. What was superseded beside it counts as
 * well, since it has made room. What waits for its order says nothing about the receiver, so that a refused record holds up no other.
 * Where many failed and none succeeds, one per step tries whether that has changed.
 * @param before the pace before this step
 */
export function allowanceFor(counts: RecoveryCounts, before: RecoveryPace): number {
  const { pending, inOrder, retrying } = counts;
  if (retrying >= 2 * MAX_WAITING) return 0;
  const taken = endedOf(counts) - before.ended;
  const ended = taken === 0 ? 0 : taken + counts.superseded - before.superseded;
  const bound = Math.min(MAX_WAITING, Math.max(MIN_WAITING, 2 * ended));
  const allowance = Math.max(0, Math.min(bound - (pending - inOrder), MAX_IN_ORDER - inOrder));
  return retrying >= MIN_WAITING && taken === 0 ? Math.min(1, allowance) : allowance;
}
