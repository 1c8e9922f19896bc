/** Watches work that continues by itself. */
import { delay } from '../lib/poll-until.ts';
import { untilInterrupted } from '../lib/shutdown.ts';
import { UserError } from '../lib/user-error.ts';

/** How long checks may fail, in milliseconds. Too low: a failover ends the watch. Too high: outages show late. */
const PATIENCE_MS = 60_000;

/**
 * Checks until the work has ended, even if the database or Temporal is unavailable for a short time.
 * @param goesOn how to follow the work further, shown on Ctrl-C
 * @param look returns undefined while the work goes on; its UserError ends the watch, as does any first error
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
