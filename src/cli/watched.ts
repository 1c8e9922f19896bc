/** Watching work that goes on by itself. */
import { delay } from '../lib/poll-until.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';

/** How long looks may fail, in milliseconds. Less: a failover ends the watch. More: a watch of nothing ends late. */
const PATIENCE_MS = 60_000;

/**
 * Looks until the work has ended, over a short absence of the database or Temporal, too.
 * @param goesOn how to follow it, for Ctrl-C
 * @param look answers undefined while it has not ended; its UserError ends the watch, as the first failure does
 */
export async function watched<T>(
  goesOn: string,
  everyMs: number,
  look: () => Promise<T | undefined>,
): Promise<T> {
  return await untilInterrupted(goesOn, async (signal) => {
    for (let answeredAt = Number.NEGATIVE_INFINITY; ; await delay(everyMs, signal)) {
      try {
        const ended = await look();
        if (ended !== undefined) return ended;
        answeredAt = performance.now();
      } catch (error) {
        if (error instanceof UserError || performance.now() - answeredAt > PATIENCE_MS) throw error;
      }
    }
  });
}
