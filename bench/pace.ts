/** Work at a fixed pace. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Does something at a fixed pace, whatever each takes.
 * @param more asked before each, with how many have begun
 * @returns what they came to, once all are done
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
    // Looked at below; until then a failure has to wait.
    one.catch(() => {});
    begun.push(one);
  }
  return await Promise.all(begun);
}
