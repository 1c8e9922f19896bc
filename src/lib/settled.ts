/** Waiting by polling. */
import { waitOrStop } from './wait-or-stop.ts';

/** Waits. @throws the signal's reason as soon as it is aborted; Node's own timer wraps it in an error of its own */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await waitOrStop(ms, signal);
  signal.throwIfAborted();
}

interface Looks {
  readonly signal: AbortSignal;
  /** The time between two looks, in milliseconds. */
  readonly everyMs: number;
  /** How long the value may stay the same, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * Looks again and again until `enough` is true, or until the value has not changed for too long.
 * @returns the last value
 * @throws the error of `look`; the signal's reason when it is aborted
 */
export async function settled<T>(
  look: () => T | Promise<T>,
  enough: (seen: T) => boolean,
  { signal, everyMs, patienceMs }: Looks,
): Promise<T> {
  let last: T | undefined;
  for (let since = performance.now(); ; await pause(everyMs, signal)) {
    const seen = await look();
    if (seen !== last) [last, since] = [seen, performance.now()];
    if (enough(seen) || performance.now() - since > patienceMs) return seen;
  }
}
