/**
 * Places for work that waits for others: taken by turns, and not waited for without end.
 * @module
 */
import { tooManyRequests } from '../../domain/problem.ts';
import { createTurns, type TurnLimits } from './turns.ts';

/** Until whoever got no place is asked to come again, in milliseconds. */
const COME_AGAIN_MS = 1_000;

/** Runs work once there is a place for it. */
export interface Places {
  /**
   * @param key whose work it is
   * @throws Problem 429 where there was none in time
   */
  run<T>(key: number, work: () => Promise<T>): Promise<T>;
}

/**
 * Makes places.
 * @param patienceMs how long to wait for one
 * @param message what is said to whoever has waited in vain
 */
export function createPlaces(limits: TurnLimits, patienceMs: number, message: string): Places {
  const turns = createTurns(limits);
  return {
    run: (key, work) =>
      new Promise((resolve, reject) => {
        let late = false;
        const patience = setTimeout(() => {
          late = true;
          reject(tooManyRequests(message, COME_AGAIN_MS));
        }, patienceMs);
        void turns.run(key, async () => {
          clearTimeout(patience);
          if (!late) await work().then(resolve, reject);
        });
      }),
  };
}
