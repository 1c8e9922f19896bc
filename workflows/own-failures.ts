/** Internal failures in a delivery, such as a dead worker: they use up no attempt, and the planned wait follows. */
import { TimeoutType } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { AttemptVerdict } from '../src/attempt/outcome.ts';
import { failureTypes } from './delivery-types.ts';

/** The end of a run of attempts: one was accepted or could not begin, they failed, or Waybill did. */
export type AttemptEnd = AttemptVerdict | { readonly kind: 'failed' | 'interrupted' };

/** The pauses while Waybill itself keeps failing, in milliseconds: they prolong an outage by at most a quarter. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Whether attempts ended by an internal failure: a worker that died or hangs, an unreachable database. */
export function isInternal(error: unknown): boolean {
  if (!(error instanceof ActivityFailure)) return false;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) return cause.type === failureTypes.ourOutage;
  return (
    cause instanceof TimeoutFailure &&
    (cause.timeoutType === TimeoutType.HEARTBEAT || cause.timeoutType === TimeoutType.START_TO_CLOSE)
  );
}

/** Tracks how long one attempt of a delivery has been failing because of Waybill itself. */
export function createOutage() {
  let since = 0;
  let madeThen: number | null = null;
  return {
    /**
     * The pause in milliseconds: none after an attempt's first interruption, then a quarter of the outage so far.
     * @param attemptsMade as read after it: if it has risen, the outage has passed
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
