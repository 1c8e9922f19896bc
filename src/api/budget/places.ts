/** Places for work that waits for others: taken by turns, and not waited for without end. */

import { createCounts } from '../../concurrency/counts.ts';
import { createTurns, type TurnKey, type TurnLimits } from '../../concurrency/turns.ts';
import { tooManyRequests } from '../../domain/problem.ts';

/** Until whoever got no place is asked to come again, in milliseconds. */
const COME_AGAIN_MS = 1_000;
/** Work that waits takes memory: so much of one key and of all together, and any more is refused at once. */
const MOST_WAITING_OF_KEY = 100;
const MOST_WAITING = 1_000;

/** Runs work once there is a place for it. */
export interface Places {
  /**
   * @param key whose work it is
   * @throws Problem 429 where there was none in time, or too much waits for one already
   */
  run<T>(key: TurnKey, work: () => Promise<T>): Promise<T>;
}

/**
 * Makes places.
 * @param patienceMs how long to wait for one
 * @param message what is said to whoever has waited in vain
 */
export function createPlaces(limits: TurnLimits, patienceMs: number, message: string): Places {
  const turns = createTurns(limits);
  const waiting = createCounts<TurnKey>();
  return {
    run: (key, work) =>
      new Promise((resolve, reject) => {
        const refuse = () => reject(tooManyRequests(message, COME_AGAIN_MS));
        if (waiting.all() >= MOST_WAITING || waiting.of(key) >= MOST_WAITING_OF_KEY) return refuse();
        waiting.change(key, 1);
        let late = false;
        const patience = setTimeout(() => {
          late = true;
          refuse();
        }, patienceMs);
        void turns.run(key, async () => {
          // What is late waits until here: only its turn takes it out of the queue.
          waiting.change(key, -1);
          clearTimeout(patience);
          if (!late) await work().then(resolve, reject);
        });
      }),
  };
}
