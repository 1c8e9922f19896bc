/**
 * A loop of the relay: step after step, until stopped. A failure in one loop does not affect the others.
 */
import type { Logger } from 'pino';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import { createBackoff } from '../lib/backoff.ts';
import { sourceOf } from '../temporal/rejection.ts';

/**
 * When the next step follows: `more`: at once; `idle`: when woken or at the next poll; a number: after this many
 * milliseconds, even if woken, since nothing can be done before.
 */
export type Next = 'more' | 'idle' | number;

/**
 * How a pass of a loop ends: the next step follows at once (`more`) or after a pause (`later`), nothing is left, or
 * it failed.
 */
export const passResults = ['more', 'later', 'idle', 'failed'] as const;
export type PassResult = (typeof passResults)[number];

interface LoopOptions {
  /** The name of its work, for the log. */
  readonly what: string;
  /** @throws the error of Temporal or the database when it is away; the loop retries at growing intervals */
  readonly step: () => Promise<Next>;
  readonly onFailure: (error: unknown) => void;
  /** Called after every step. */
  readonly onPass: (result: PassResult) => void;
  readonly log: Logger;
  readonly options: Pick<SchedulerOptions, 'pollMs'>;
}

/** A running loop. */
interface Loop {
  /** Tells it that there may be work. */
  wake(): void;
  /** No further step begins; waits for the one under way. */
  stop(): Promise<void>;
}

/** Starts at once. */
export function startLoop({ what, step, onFailure, onPass, log, options }: LoopOptions): Loop {
  const { pollMs } = options;
  let stopping = false;
  let woken = false;
  let endPause: (why: 'woken' | 'stopped') => void = () => {};
  const backoff = createBackoff(pollMs / 4, 5 * pollMs);

  async function pause(ms: number, wakeable: boolean): Promise<void> {
    if (stopping || (wakeable && woken)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      endPause = (why) => {
        if (why === 'woken' && !wakeable) return;
        clearTimeout(timer);
        resolve();
      };
    });
    endPause = () => {};
  }

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false;
      try {
        const next = await step();
        backoff.reset();
        onPass(next === 'more' || next === 'idle' ? next : 'later');
        if (next === 'idle') await pause(pollMs, true);
        else if (next !== 'more') await pause(next, false);
      } catch (error) {
        onPass('failed');
        onFailure(error);
        const retryInMs = backoff.next();
        log.warn({ err: error, what, of: sourceOf(error), retryInMs }, 'a step of the relay failed');
        await pause(retryInMs, false);
      }
    }
  }

  const running = run();
  return {
    wake() {
      woken = true;
      endPause('woken');
    },
    async stop() {
      stopping = true;
      endPause('stopped');
      await running;
    },
  };
}
