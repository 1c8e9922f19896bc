/** Heartbeats: with them Temporal notices within seconds that a worker died in the middle of an activity. */
import type { Context } from '@temporalio/activity';
import type { ActivityCancellationDetails } from '@temporalio/common';

/** The time between two heartbeats, in milliseconds; a shorter activity sends none. */
const HEARTBEAT_INTERVAL_MS = 1_000;

/**
 * Whether a cancellation aborts the work: yes if the worker stops or the server has given up on the activity. If the
 * workflow is canceled, or an operator pauses or resets the activity, the request may finish: a success counts.
 */
const aborts = ({ cancelRequested, paused, reset }: Partial<ActivityCancellationDetails>) =>
  !cancelRequested && !paused && !reset;

/** Runs work with heartbeats. */
export async function withHeartbeat<T>(
  context: Context,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const onCancel = () => {
    if (aborts(context.cancellationDetails ?? {})) abort.abort();
  };
  context.cancellationSignal.addEventListener('abort', onCancel);
  // If the signal was aborted before, its event does not come again.
  if (context.cancellationSignal.aborted) onCancel();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await run(abort.signal);
  } finally {
    clearInterval(timer);
    context.cancellationSignal.removeEventListener('abort', onCancel);
  }
}
