/** Patience with an end. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits for something no longer than this; a timer that is left keeps no process running.
 * @param ms in milliseconds
 * @returns what it resolved to; undefined where it took longer
 * @throws what it threw until then
 */
export async function atMost<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
