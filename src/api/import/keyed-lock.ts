/**
 * Work that runs side by side and still comes out as if each piece had waited for the one before it.
 * @module
 */

/** What a piece of work locks: a key, shared with others or exclusively. */
export interface LockedKey {
  readonly key: string;
  readonly mode: 'shared' | 'exclusive';
}

/** Locks a key against everybody else. */
export const exclusive = (key: string): LockedKey => ({ key, mode: 'exclusive' });
/** Locks a key against those that lock it exclusively. */
export const shared = (key: string): LockedKey => ({ key, mode: 'shared' });

interface Holders {
  /** The last work that held the key exclusively, and those that share it since. */
  exclusive: Promise<void>;
  shared: Set<Promise<void>>;
  /** Pieces that have not ended. */
  open: number;
}

/**
 * Makes the lock. Work begins when everything that was given earlier and locks one of its keys has ended, except
 * where both share the key. So none waits for a later one, and there is no deadlock.
 */
export function createKeyedLock(): <T>(keys: readonly LockedKey[], work: () => Promise<T>) => Promise<T> {
  const holdersOf = new Map<string, Holders>();

  function acquire({ key, mode }: LockedKey, done: Promise<void>): Promise<unknown> {
    const holders = holdersOf.get(key) ?? { exclusive: Promise.resolve(), shared: new Set(), open: 0 };
    holdersOf.set(key, holders);
    holders.open += 1;
    if (mode === 'shared') {
      holders.shared.add(done);
      return holders.exclusive;
    }
    const before = [holders.exclusive, ...holders.shared];
    Object.assign(holders, { exclusive: done, shared: new Set() });
    return Promise.all(before);
  }

  function release({ key }: LockedKey, done: Promise<void>): void {
    const holders = holdersOf.get(key);
    if (holders === undefined) return;
    holders.shared.delete(done);
    holders.open -= 1;
    if (holders.open === 0) holdersOf.delete(key);
  }

  return async (keys, work) => {
    let end = () => {};
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    await Promise.all(keys.map((locked) => acquire(locked, done)));
    try {
      return await work();
    } finally {
      end();
      for (const locked of keys) release(locked, done);
    }
  };
}
