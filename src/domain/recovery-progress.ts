/** The progress of a recovery, computed from its stored data. Pure. */
import { isUnderWay, type RecoverySituation, recoveryReason, shownRecoveryState } from './recovery.ts';
import { endedOf, type RecoveryCounts } from './recovery-pace.ts';

export interface StoredRecovery extends RecoverySituation, RecoveryCounts {
  /** Events found when it was requested. */
  readonly found: number;
  /** All events have been processed. */
  readonly exhausted: boolean;
  /** The latest planned next attempt among its retried deliveries; null if none is planned. */
  readonly lastRetryAt: Date | null;
  /** How many deliveries ended per second recently, except superseded ones. */
  readonly rate: number | null;
  readonly now: Date;
}

export type Progress = ReturnType<typeof recoveryProgress>;

export interface RecoveryStatus
  extends Pick<Progress, 'state' | 'reason' | 'done' | 'failed' | 'superseded' | 'left' | 'estimatedEndAt'> {
  readonly recoveryId: string;
  readonly eshopId: number;
  readonly webhookId: number;
}

export function recoveryProgress(recovery: StoredRecovery) {
  const { found, exhausted, created, pending, retrying, failed, superseded, rate } = recovery;
  const state = shownRecoveryState(recovery);
  const open = pending + retrying;
  const done = endedOf(recovery) - failed;
  const goesOn = isUnderWay(state) && !exhausted;
  const remaining = goesOn ? Math.max(open, found - done - failed - superseded) : open;
  return {
    state,
    /** Why it is paused or was canceled, or what its end waits for, as a sentence for its e-shop. */
    reason: recoveryReason(recovery),
    /**
     * Deliveries created so far, by result: done (delivered), failed (also expired or canceled), superseded; the
     * others are open.
     */
    created,
    done,
    failed,
    superseded,
    open,
    /** Deliveries that have not ended: the open ones, and those still to be created. */
    left: remaining,
    rate,
    /** Null if not known: paused, ended, or nothing measured yet. */
    estimatedEndAt: state === 'running' ? estimatedEnd(recovery, remaining) : null,
    exhausted,
  };
}

/**
 * Computed from the measured rate, assuming that the share of superseded deliveries stays the same. If only retries
 * are left, the end is the last planned attempt, or later.
 */
function estimatedEnd(recovery: StoredRecovery, remaining: number): Date | null {
  const { exhausted, pending, retrying, superseded, rate, lastRetryAt, now } = recovery;
  if (remaining === 0) return now;
  if (exhausted && pending === 0 && retrying > 0) {
    return lastRetryAt === null || lastRetryAt < now ? now : lastRetryAt;
  }
  if (rate === null || rate <= 0) return null;
  const ended = endedOf(recovery);
  const taken = ended === 0 ? remaining : (remaining * ended) / (ended + superseded);
  return new Date(now.getTime() + Math.round((taken / rate) * 1_000));
}
