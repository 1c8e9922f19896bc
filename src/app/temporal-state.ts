/** Whether this process can use Temporal, judged by the answers to its calls. Pure. */

/**
 * How long no call of the relay may have failed before the answer to a question counts as well, in milliseconds. Temporal may answer
 * questions while it cannot start workflows. Less: up between two failed calls. More: down for longer after another worker has done the
 * failed work.
 */
const QUIET_MS = 30_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createTemporalState(now: () => number = () => performance.now()) {
  let state: 'up' | 'down' | 'unknown' = 'unknown';
  let reached = false;
  let failedAt = Number.NEGATIVE_INFINITY;

  function set(to: 'up' | 'down'): void {
    state = to;
    if (to === 'up') reached = true;
    else failedAt = now();
  }

  return {
    get: () => state,
    /** Whether it has ever been up. */
    hasReached: () => reached,
    set,
    /** A question was answered. Without it, a process whose failed work was done by others would stay down until its next call. */
    questionAnswered() {
      if (now() - failedAt > QUIET_MS) set('up');
    },
  };
}
