/** Waiting with a time limit. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for something, no longer than this; its timer does not keep the process running.
 * @param ms in milliseconds
 * @returns its result; undefined if it took longer
 * @throws its error, if it fails in time
 */
export async function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  // A result that has arrived comes first: this process may have been busy with something else.
  const timeout = sleep(ms, undefined, { signal: timer.signal, ref: false })
    .then(() => nextTurn(undefined))
    .catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    timer.abort();
  }
}
