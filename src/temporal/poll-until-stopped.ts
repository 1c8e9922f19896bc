/** Repeats a check as long as a session lasts: Temporal may refuse a setting now, or lose it later. */
import type { Logger } from 'pino';
import { reasonOf } from '../lib/user-error.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';

/** The time between two checks, in milliseconds: a start that Temporal refuses is tried again after half a minute. */
const LOOK_MS = 15_000;

export type Polling = Awaited<ReturnType<typeof pollUntilStopped>>;

/**
 * Checks now, and again at intervals until `look` says that it is done.
 * @param failure logged when a check fails, in one line for each reason, as it may go on failing
 * @param intervalMs between two checks
 * @returns after the first check
 */
export async function pollUntilStopped(
  look: () => Promise<'again' | 'done'>,
  log: Logger,
  failure: string,
  intervalMs = LOOK_MS,
) {
  const stopping = new AbortController();
  let lastReport = '';
  async function pollOnce(): Promise<'again' | 'done'> {
    try {
      const next = await look();
      lastReport = '';
      return next;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== lastReport && !stopping.signal.aborted) log.warn({ err: error }, failure);
      lastReport = reason;
      return 'again';
    }
  }
  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      await waitOrStop(intervalMs, stopping.signal);
      if (!stopping.signal.aborted && (await pollOnce()) === 'done') return;
    }
  }
  const looking = (await pollOnce()) === 'done' ? Promise.resolve() : repeat();
  return {
    /** Ends it; resolves after a check under way. */
    async stop() {
      stopping.abort();
      await looking;
    },
  };
}
