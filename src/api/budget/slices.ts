/**
 * Work in slices, so that imports and lists never block the process: after a few milliseconds everything else has
 * its turn, then the waiting work, by e-shop.
 */
import { createTurns } from '../../concurrency/turns.ts';

/** How long work continues before other work may run, in milliseconds. */
export const SLICE_MS = 10;

/** @param now in milliseconds, on a clock that never goes back */
export function createSlices(now: () => number = () => performance.now()) {
  const turns = createTurns({ total: 1 });
  let began = Number.NEGATIVE_INFINITY;
  return {
    /**
     * Call before each small piece of work.
     * @param key of the owner of the work
     * @returns undefined while the slice lasts; else a promise of the next one
     */
    next(key: number): Promise<void> | undefined {
      if (now() - began < SLICE_MS) return undefined;
      return new Promise((resolve) => {
        // One per round of the event loop: the resolved work runs before the next one has its turn.
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
