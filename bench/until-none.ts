/** Waits for deliveries of a benchmark. */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 500;

/**
 * Waits until none are left.
 * @param what the name of what is left, for the error
 * @param left counts those left
 * @throws Error if some are left when the patience is over, and any error of `left`
 */
export async function untilNone(
  what: string,
  patienceMs: number,
  left: () => Promise<number>,
): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(POLL_MS)) {
    if ((await left()) === 0) return;
  }
  throw new Error(`Still left when the patience was over: ${what}.`);
}
