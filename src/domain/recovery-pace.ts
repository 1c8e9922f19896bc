/**
 * The pace of a recovery: it creates deliveries as fast as its receiver takes them, so that the backlog is bounded
 * and failures are noticed early. Pure.
 */

export interface RecoveryCounts {
  readonly created: number;
  /** Not attempted yet. */
  readonly pending: number;
  /** Pending deliveries behind an older delivery of their record (docs/interface.md, D16). */
  readonly blocked: number;
  /** Attempted without success, with another attempt to come. */
  readonly retrying: number;
  /** Failed, expired or canceled. */
  readonly failed: number;
  /** Not sent any more, since a newer event of the record superseded them (docs/interface.md, D17). */
  readonly superseded: number;
}

export interface RecoveryPace {
  /** Ended deliveries, except superseded ones: these say nothing about the receiver. */
  readonly ended: number;
  readonly superseded: number;
  /** How many end per second, except superseded ones: a moving mean; null before any was measured. */
  readonly rate: number | null;
}

/** The minimum, which is also the start, and the maximum of deliveries that may wait for their first attempt. */
const MIN_WAITING = 20;
const MAX_WAITING = 500;
/**
 * How many deliveries may wait behind older ones of their records. A record has dozens of events, so this is
 * enough for about a hundred refused records. Each step counts these deliveries, which takes milliseconds.
 */
const MAX_IN_ORDER = 5_000;
/** If the last step was longer ago than this, in seconds, a step says nothing about the receiver. */
const MAX_STEP_S = 30;

export function endedOf({ created, pending, retrying, superseded }: RecoveryCounts): number {
  return created - pending - retrying - superseded;
}

export interface StepTiming {
  /** Since the last step; null if this is the first, or the recovery was paused in between. */
  readonly elapsedS: number | null;
  /** Since the request for the recovery. */
  readonly ageS: number;
}

/**
 * The mean covers half of the recovery's age, as the recovery has a turn only every 15 seconds during a long burst.
 */
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
 * How many deliveries may be created now. Twice as many may wait as have ended since the last step. If any has
 * ended, superseded ones count too, since they made room. Deliveries waiting for their order say nothing about the
 * receiver and do not count, so a refused record does not hold up others. If many are being retried and none ends,
 * one per step tests whether that has changed.
 * @param before the pace before this step
 */
export function allowanceFor(counts: RecoveryCounts, before: RecoveryPace): number {
  const { pending, blocked, retrying } = counts;
  if (retrying >= 2 * MAX_WAITING) return 0;
  const taken = endedOf(counts) - before.ended;
  const ended = taken === 0 ? 0 : taken + counts.superseded - before.superseded;
  const bound = Math.min(MAX_WAITING, Math.max(MIN_WAITING, 2 * ended));
  const allowance = Math.max(0, Math.min(bound - (pending - blocked), MAX_IN_ORDER - blocked));
  return retrying >= MIN_WAITING && taken === 0 ? Math.min(1, allowance) : allowance;
}
