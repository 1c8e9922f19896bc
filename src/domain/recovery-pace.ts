/**
 * The pace of a recovery: it creates deliveries as its receiver takes them, so that the backlog is bounded and
 * failures are noticed early. Pure.
 */

/** How far a recovery has come. */
export interface RecoveryCounts {
  readonly created: number;
  /** Not attempted yet. */
  readonly pending: number;
  /** Attempted without success, and to be attempted again. */
  readonly retrying: number;
  /** Failed, expired or canceled. */
  readonly failed: number;
}

export interface RecoveryPace {
  /** Deliveries that may wait for their first attempt. */
  readonly bound: number;
  /** Deliveries that had ended. */
  readonly ended: number;
  /** How many end per second: a moving mean; null before any was measured. */
  readonly rate: number | null;
}

/** Deliveries that wait for their first attempt: at the beginning and at least, and at most. */
const MIN_WAITING = 20;
const MAX_WAITING = 500;
/** With so many to be attempted again nothing more is created. */
const MAX_RETRYING = 1_000;
/** So many that failed, while none succeeds, are enough to know: one more per step tries whether that has changed. */
const FAILURES_TO_SLOW_DOWN = 20;
/** A step that comes after longer than this says nothing about the receiver, in seconds. */
const MAX_STEP_S = 30;
/**
 * How far the moving mean looks back, in seconds: half of the recovery's age, within these bounds. Beside a lasting
 * rush a recovery gets its turn every 15 seconds only.
 */
const MIN_LOOK_BACK_S = 3;
const MAX_LOOK_BACK_S = 90;

export function endedOf({ created, pending, retrying }: RecoveryCounts): number {
  return created - pending - retrying;
}

export interface Look {
  /** Since the last step; null where this is the first, or the recovery was paused in between. */
  readonly elapsedS: number | null;
  /** Since the recovery was asked for. */
  readonly ageS: number;
}

export function nextPace(pace: RecoveryPace, counts: RecoveryCounts, look: Look): RecoveryPace {
  const ended = endedOf(counts);
  const taken = ended - pace.ended;
  return { bound: nextBound(pace.bound, counts, taken), ended, rate: nextRate(pace.rate, taken, look) };
}

/** Twice what was taken since the last step, if the receiver keeps up; less where much still waits. */
function nextBound(bound: number, { pending }: RecoveryCounts, taken: number): number {
  if (pending > bound / 2) return Math.max(MIN_WAITING, Math.floor(bound * 0.7));
  return Math.min(MAX_WAITING, Math.max(bound, 2 * taken));
}

function nextRate(rate: number | null, taken: number, { elapsedS, ageS }: Look): number | null {
  if (elapsedS === null || elapsedS <= 0 || elapsedS > MAX_STEP_S || (rate === null && taken === 0)) {
    return rate;
  }
  const now = taken / elapsedS;
  if (rate === null) return now;
  const lookBackS = Math.min(MAX_LOOK_BACK_S, Math.max(MIN_LOOK_BACK_S, ageS / 2));
  return rate + (now - rate) * (1 - Math.exp(-elapsedS / lookBackS));
}

/** @param before the pace before this look */
export function roomFor(bound: number, counts: RecoveryCounts, before: RecoveryPace): number {
  if (counts.retrying >= MAX_RETRYING) return 0;
  const room = Math.max(0, bound - counts.pending);
  const delivered = endedOf(counts) > before.ended;
  return counts.retrying >= FAILURES_TO_SLOW_DOWN && !delivered ? Math.min(1, room) : room;
}
