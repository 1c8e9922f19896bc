/** Waiting by polling. */
import { waitOrStop } from './wait-or-stop.ts';

/** Waits. @throws the signal's reason as soon as it is aborted; Node's own timer wraps it in an error of its own */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  await waitOrStop(ms, signal);
  signal.throwIfAborted();
}

interface Polling {
  readonly signal: AbortSignal;
  /** The time between two reads, in milliseconds. */
  readonly everyMs: number;
  /** How long the value may stay the same, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * Reads again and again until `enough` is true, or until the value has not changed for too long.
 * @returns the last value
 * @throws the error of `read`; the signal's reason when it is aborted
 */
export async function pollUntil<T>(
  read: () => T | Promise<T>,
  enough: (value: T) => boolean,
  { signal, everyMs, patienceMs }: Polling,
): Promise<T> {
  let last: T | undefined;
  for (let since = performance.now(); ; await delay(everyMs, signal)) {
    const value = await read();
    if (value !== last) [last, since] = [value, performance.now()];
    if (enough(value) || performance.now() - since > patienceMs) return value;
  }
}
