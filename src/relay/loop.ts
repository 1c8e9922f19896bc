/**
 * A loop of the relay: step after step, until stopped. A failure in one loop does not affect the others.
 */
import type { Logger } from 'pino';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import { createBackoff } from '../lib/backoff.ts';
import { waitOrStop } from '../lib/wait-or-stop.ts';
import { sourceOf } from '../temporal/rejection.ts';

/**
 * When the next step follows. `more`: at once. `idle`: when the loop is woken, or at the next poll. `full`: likewise,
 * but soon, since a receiver may have room for more. A number: after this many milliseconds, even if the loop is
 * woken earlier, since nothing can be done until then.
 */
export type Next = 'more' | 'idle' | 'full' | number;

/**
 * How a pass of a loop ends: the next step follows at once (`more`) or after a pause (`later`), nothing is left to do
 * (`idle`), or the step failed.
 */
export const passResults = ['more', 'later', 'idle', 'failed'] as const;
export type PassResult = (typeof passResults)[number];

interface LoopOptions {
  /** The name of its work, for the log. */
  readonly what: string;
  /** @throws the error of Temporal or the database when it is unavailable; the loop retries at growing intervals */
  readonly step: () => Promise<Next>;
  readonly onFailure: (error: unknown) => void;
  /** Called after every step. */
  readonly onPass: (result: PassResult) => void;
  readonly log: Logger;
  readonly options: Pick<SchedulerOptions, 'pollMs' | 'roomPollMs'>;
}

/** The longest rest after a long step, in ms. Too low: more load. Too high: `WaybillOrderingStuck` fires. */
const MAX_REST_MS = 30_000;

/**
 * The rest after a search that every worker makes, in milliseconds, so that a long search takes a fifth of the time.
 * Among 200,000 records with waiting deliveries it takes seconds.
 */
export function restAfter(tookMs: number, leastMs: number): number {
  return Math.max(leastMs, Math.min(MAX_REST_MS, 4 * tookMs));
}

/** Starts at once. */
export function startLoop({ what, step, onFailure, onPass, log, options }: LoopOptions) {
  const { pollMs, roomPollMs } = options;
  const stopping = new AbortController();
  /** Aborted when there may be work that the step under way has not seen. */
  let woken = new AbortController();
  const backoff = createBackoff(pollMs / 4, 5 * pollMs);

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = new AbortController();
      try {
        const next = await step();
        backoff.reset();
        onPass(next === 'more' || next === 'idle' ? next : 'later');
        if (next === 'idle' || next === 'full')
          await waitOrStop(next === 'idle' ? pollMs : roomPollMs, woken.signal);
        else if (next !== 'more') await waitOrStop(next, stopping.signal);
      } catch (error) {
        onPass('failed');
        onFailure(error);
        const retryInMs = backoff.next();
        log.warn({ err: error, what, of: sourceOf(error), retryInMs }, 'a step of the relay failed');
        await waitOrStop(retryInMs, stopping.signal);
      }
    }
  }

  const running = run();
  return {
    /** Tells the loop that there may be work. */
    wake: () => woken.abort(),
    /** No further step begins; waits for the one under way. */
    async stop(): Promise<void> {
      stopping.abort();
      woken.abort();
      await running;
    },
  };
}
