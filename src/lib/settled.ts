/** Waiting for what nobody tells. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so many milliseconds. @throws the signal's reason as soon as it is aborted, which Node's own timer hides in an error of its own */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}

/** How something is looked at. */
interface Looks {
  readonly signal: AbortSignal;
  /** Between two looks, in milliseconds. */
  readonly everyMs: number;
  /** How long what is seen may stay the same, in milliseconds. */
  readonly patienceMs: number;
}

/**
 * Looks again and again until it is so, or until what it sees has not changed for too long.
 * @returns what it saw last
 * @throws what `look` throws; the signal's reason when it is aborted
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
