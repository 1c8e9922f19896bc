/**
 * A loop of the relay: step after step, until it is told to stop. What fails in one loop is no other's concern.
 */
import type { Logger } from 'pino';
import { createBackoff } from '../lib/backoff.ts';

/**
 * What comes after a step: `more`: the next one at once; `soon`: something will be possible in a
 * moment, or when woken; `idle`: nothing is left to do, until woken; a number: so many
 * milliseconds later, whoever wakes it, for nothing can be done before.
 */
export type Next = 'more' | 'soon' | 'idle' | number;

/** What came of a step: `more`: the next one follows at once; `later`: there is more, for later; `idle`: nothing is left. */
export const rounds = ['more', 'later', 'idle', 'failed'] as const;
/** What came of a step. */
export type Round = (typeof rounds)[number];

function roundOf(next: Next): Round {
  return next === 'more' || next === 'idle' ? next : 'later';
}

/** What a loop receives. */
export interface LoopOptions {
  /** What it passes on, for the log. */
  readonly what: string;
  /** @throws what Temporal or the database threw when it is away; the loop tries again, ever more seldom */
  readonly step: () => Promise<Next>;
  readonly onFailure: () => void;
  /** Told of every step. */
  readonly onRound: (round: Round) => void;
  readonly log: Logger;
}

/** A running loop. */
export interface Loop {
  /** There may be something to do. */
  wake(): void;
  /** No further step; waits for the one under way. */
  stop(): Promise<void>;
}

/** The net under LISTEN, in milliseconds. */
const POLL_INTERVAL_MS = 1_000;
/** Until what is kept back for now is looked at again, in milliseconds. */
const SOON_MS = 250;
/** Waits between steps while Temporal or the database is away, in milliseconds. */
const FIRST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;

/** Starts at once. */
export function startLoop({ what, step, onFailure, onRound, log }: LoopOptions): Loop {
  let stopping = false;
  let woken = false;
  let endPause: (why: 'woken' | 'stopped') => void = () => {};
  const backoff = createBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS);

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
        if (next === 'idle') await pause(POLL_INTERVAL_MS, true);
        else if (next === 'soon') await pause(SOON_MS, true);
        else if (next !== 'more') await pause(next, false);
      } catch (error) {
        onRound('failed');
        onFailure();
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
