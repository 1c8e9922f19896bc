/** Work at a fixed pace. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs an action at a fixed pace, however long each takes.
 * @param more called before each, with the number begun so far: whether to go on
 * @returns the results, once all are done
 */
export async function atPace<T>(
  perSecond: number,
  more: (begun: number) => boolean,
  act: () => Promise<T>,
): Promise<T[]> {
  const start = performance.now();
  const begun: Promise<T>[] = [];
  while (more(begun.length)) {
    await sleep(Math.max(0, start + (begun.length * 1000) / perSecond - performance.now()));
    const one = act();
    // Awaited below; until then a failure must not count as unhandled.
    one.catch(() => {});
    begun.push(one);
  }
  return await Promise.all(begun);
}
