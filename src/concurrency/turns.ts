/**
 * Fair turns: the work of many keys (e-shops, addresses) shares places, and a key with much work delays only its own.
 * Pure.
 */
import { createCounts } from './counts.ts';

/** The owner of the work: an e-shop's number, or an address. */
export type TurnKey = number | string;

/** Gives places in turn: the waiting keys are served one after another, and the work of a key in order of arrival. */
export type Turns = ReturnType<typeof createTurns>;

/** How much work runs at the same time. */
export interface TurnLimits {
  readonly total: number;
  /** For one key, by the number of places that other keys leave it; left out: `total` alone is the limit. */
  readonly perKey?: number | ((key: TurnKey, free: number) => number);
}

export function createTurns({ total, perKey = total }: TurnLimits) {
  /** The waiting work by key; the order of the map is the order of the turns. */
  const waiting = new Map<TurnKey, (() => void)[]>();
  const running = createCounts<TurnKey>();

  /** How many places a key may have now. */
  function limitOf(key: TurnKey): number {
    const free = total - running.all() + running.of(key);
    return Math.max(1, Math.floor(Math.min(free, typeof perKey === 'number' ? perKey : perKey(key, free))));
  }

  function startNext(): void {
    for (const [key, queue] of waiting) {
      if (running.all() >= total) return;
      if (running.of(key) >= limitOf(key)) continue;
      const next = queue.shift();
      // The key goes to the back. Iterating over a map also reaches entries that are added in the meantime, so this
      // loop comes to the key's next turn.
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue);
      if (next === undefined) continue;
      running.change(key, 1);
      next();
    }
  }

  /**
   * Waits for a place; give it back with `leave`.
   * @returns false if `signal` aborts first: no place is held then
   */
  async function enter(key: TurnKey, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted === true) return false;
    return await new Promise((resolve) => {
      function start() {
        signal?.removeEventListener('abort', giveUp);
        resolve(true);
      }
      function giveUp() {
        const queue = waiting.get(key)?.filter((other) => other !== start) ?? [];
        if (queue.length > 0) waiting.set(key, queue);
        else waiting.delete(key);
        resolve(false);
      }
      signal?.addEventListener('abort', giveUp, { once: true });
      const queue = waiting.get(key);
      if (queue === undefined) waiting.set(key, [start]);
      else queue.push(start);
      startNext();
    });
  }

  function leave(key: TurnKey): void {
    running.change(key, -1);
    startNext();
  }

  return {
    enter,
    leave,
    limitOf,
    /** Runs work in its own place. */
    async run<T>(key: TurnKey, work: () => Promise<T>): Promise<T> {
      await enter(key);
      try {
        return await work();
      } finally {
        leave(key);
      }
    },
  };
}
