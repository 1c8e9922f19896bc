/**
 * Work in slices, so that an import never blocks the process: everything else gets its turn after a few milliseconds,
 * and then the waiting imports of each e-shop.
 */
import { createTurns } from '../../concurrency/turns.ts';

/** How long work continues before something else may run, in milliseconds. */
export const SLICE_MS = 10;

interface Slices {
  /**
   * To be asked before each small piece of work.
   * @param key whose work it is
   * @returns undefined while the slice lasts; else a promise of a later one
   */
  next(key: number): Promise<void> | undefined;
}

/** @param now milliseconds of a clock that never goes back */
export function createSlices(now: () => number = () => performance.now()): Slices {
  const turns = createTurns({ total: 1 });
  let began = Number.NEGATIVE_INFINITY;
  return {
    next(key) {
      if (now() - began < SLICE_MS) return undefined;
      return new Promise((resolve) => {
        // One per round of the event loop: what is resolved here runs before the next one gets its turn.
        void turns.run(key, async () => {
          await new Promise((round) => setImmediate(round));
          began = now();
          resolve();
          await new Promise((round) => setImmediate(round));
        });
      });
    },
  };
}
