/** Whether this process can use Temporal, judged by the answers to its calls and by its workers' polls. Pure. */

/**
 * How long no call of the relay may have failed before an answered question counts too, in milliseconds: Temporal may
 * answer questions while it starts no workflows. Less: up between two failed calls. More: down for longer after
 * another worker has done the failed work.
 */
const QUIET_MS = 30_000;
/**
 * How long an accepted poll counts, in milliseconds: an idle worker polls once a minute. Less: idle workers are down.
 * More: refused polls show later.
 */
const POLLED_MS = 90_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createTemporalState(now: () => number = () => performance.now()) {
  let state: 'up' | 'down' | 'unknown' = 'unknown';
  let reached = false;
  let failedAt = Number.NEGATIVE_INFINITY;
  let polledAt = Number.NEGATIVE_INFINITY;

  function set(to: 'up' | 'down'): void {
    state = to;
    if (to === 'down') failedAt = now();
    else {
      // Its first poll is still on its way.
      if (!reached) polledAt = now();
      reached = true;
    }
  }

  return {
    get: () => (state === 'up' && now() - polledAt > POLLED_MS ? 'down' : state),
    /** Whether it has ever been up. */
    hasReached: () => reached,
    set,
    /** A question was answered. Otherwise a process whose failed work others did stays down until its next call. */
    questionAnswered() {
      if (now() - failedAt > QUIET_MS) set('up');
    },
    /** Temporal has accepted a poll of this process. */
    polled() {
      polledAt = now();
    },
    /** A worker has failed: nothing is up before a poll of the next one was accepted. */
    workerFailed() {
      polledAt = Number.NEGATIVE_INFINITY;
    },
  };
}
