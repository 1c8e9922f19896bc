/** Work that takes turns by e-shop: one with a lot to do makes only itself wait. */
import { createCounts } from './counts.ts';

/** Whose work it is: an e-shop's number, or an address. */
export type TurnKey = number | string;

export interface Turns {
  /** Those that wait are served by key in turn, and within a key in order. */
  run<T>(key: TurnKey, work: () => Promise<T>): Promise<T>;
}

export interface TurnLimits {
  readonly total: number;
  /** Of one key; none beyond `total` when left out. */
  readonly perKey?: number;
}

export function createTurns({ total, perKey = total }: TurnLimits): Turns {
  /** Those that wait, by key; the order of the keys is the order of their turns. */
  const waiting = new Map<TurnKey, (() => void)[]>();
  const running = createCounts<TurnKey>();

  function startNext(): void {
    for (const [key, queue] of waiting) {
      if (running.all() >= total) return;
      if (running.of(key) >= perKey) continue;
      const start = queue.shift();
      // To the back: iterating over a map also reaches entries added during it, and so the key's next turn.
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue);
      if (start === undefined) continue;
      running.change(key, 1);
      start();
    }
  }

  return {
    async run(key, work) {
      await new Promise<void>((resolve) => {
        const queue = waiting.get(key);
        if (queue === undefined) waiting.set(key, [resolve]);
        else queue.push(resolve);
        startNext();
      });
      try {
        return await work();
      } finally {
        running.change(key, -1);
        startNext();
      }
    },
  };
}
