/** Places for work that waits for others: taken by turns, and not waited for without end. */

import { createCounts } from '../../concurrency/counts.ts';
import { createTurns, type TurnKey, type TurnLimits } from '../../concurrency/turns.ts';
import { tooManyRequests } from '../../domain/problem.ts';

/** Until whoever got no place is asked to come again, in milliseconds. */
const RETRY_AFTER_MS = 1_000;
/** Work that waits takes memory: so much of one key and of all together, and any more is refused at once. */
const MAX_QUEUED_PER_KEY = 100;
const MAX_QUEUED = 1_000;

interface Places {
  /** @throws Problem 429 where there was none in time, or too much waits already */
  run<T>(key: TurnKey, work: () => Promise<T>): Promise<T>;
}

/**
 * @param timeoutMs how long to wait for one
 * @param message what is said after waiting in vain
 */
export function createPlaces(limits: TurnLimits, timeoutMs: number, message: string): Places {
  const turns = createTurns(limits);
  const waiting = createCounts<TurnKey>();
  return {
    run: (key, work) =>
      new Promise((resolve, reject) => {
        const refuse = () => reject(tooManyRequests(message, RETRY_AFTER_MS));
        if (waiting.all() >= MAX_QUEUED || waiting.of(key) >= MAX_QUEUED_PER_KEY) return refuse();
        waiting.change(key, 1);
        let late = false;
        const patience = setTimeout(() => {
          late = true;
          refuse();
        }, timeoutMs);
        void turns.run(key, async () => {
          // What is late waits until here: only its turn takes it out of the queue.
          waiting.change(key, -1);
          clearTimeout(patience);
          if (!late) await work().then(resolve, reject);
        });
      }),
  };
}
