/** Internal failures in a delivery, such as a dead worker: they use up no attempt, and waits stay as planned. */
import { TimeoutType } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { AttemptVerdict } from '../src/attempt/outcome.ts';
import { failureTypes } from './delivery-types.ts';

/**
 * The end of a run of attempts: one was accepted or could not begin, all failed, a change of the situation ended the
 * run, or Waybill itself failed.
 */
export type AttemptEnd = AttemptVerdict | { readonly kind: 'failed' | 'canceled' | 'interrupted' };

/** The bounds of the pauses while Waybill keeps failing, in ms: pauses prolong an outage by a quarter at most. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Whether attempts ended with an internal failure: a worker that died or hangs, or an unreachable database. */
export function isInternal(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) return cause.type === failureTypes.ourOutage;
  return (
    cause instanceof TimeoutFailure &&
    (cause.timeoutType === TimeoutType.HEARTBEAT || cause.timeoutType === TimeoutType.START_TO_CLOSE)
  );
}

/** Tracks for how long Waybill itself has kept one attempt of a delivery from being made. */
export function createOutage() {
  let since = 0;
  let madeThen: number | null = null;
  return {
    /**
     * The pause, in milliseconds: none after the first interruption of an attempt, then a quarter of the outage so
     * far.
     * @param attemptsMade as read after the interruption: if the number has risen, the outage is over
     */
    pauseAfter(last: AttemptEnd | null, attemptsMade: number): number {
      if (last?.kind !== 'interrupted') return 0;
      if (madeThen !== attemptsMade) {
        madeThen = attemptsMade;
        since = Date.now();
        return 0;
      }
      return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, (Date.now() - since) / 4));
    },
  };
}
