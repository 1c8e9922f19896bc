/**
 * A loop of the relay: step after step, until it is told to stop. What fails in one loop is no other's concern.
 */
import type { Logger } from 'pino';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import { createBackoff } from '../lib/backoff.ts';

/**
 * What comes after a step: `more`: the next one at once; `idle`: nothing is left to do, until woken; a number: so many
 * milliseconds later, whoever wakes it, for nothing can be done before.
 */
export type Next = 'more' | 'idle' | number;

/** What came of a step: `more`: the next one follows at once; `later`: there is more, for later; `idle`: nothing is left. */
export const rounds = ['more', 'later', 'idle', 'failed'] as const;
/** What came of a step. */
export type Round = (typeof rounds)[number];

function roundOf(next: Next): Round {
  return next === 'more' || next === 'idle' ? next : 'later';
}

interface LoopOptions {
  /** What it passes on, for the log. */
  readonly what: string;
  /** @throws what Temporal or the database threw when it is away; the loop tries again, ever more seldom */
  readonly step: () => Promise<Next>;
  readonly onFailure: (error: unknown) => void;
  /** Told of every step. */
  readonly onRound: (round: Round) => void;
  readonly log: Logger;
  readonly options: Pick<SchedulerOptions, 'pollMs'>;
}

/** A running loop. */
interface Loop {
  /** There may be something to do. */
  wake(): void;
  /** No further step; waits for the one under way. */
  stop(): Promise<void>;
}

/** Starts at once. */
export function startLoop({ what, step, onFailure, onRound, log, options }: LoopOptions): Loop {
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
        onRound(roundOf(next));
        if (next === 'idle') await pause(pollMs, true);
        else if (next !== 'more') await pause(next, false);
      } catch (error) {
        onRound('failed');
        onFailure(error);
        const retryInMs = backoff.next();
        log.warn({ err: error, what, retryInMs }, 'the relay could not pass on what it claimed');
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
