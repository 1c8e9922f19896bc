/** What has been handled, so that a repeat is dropped and a crash is not forgotten. */

/**
 * What `claim` found.
 * - `claimed`: nobody has handled it, and nobody else is at it; the caller is, from now on
 * - `busy`: somebody else is at it, whose time has not run out
 * - `done`: it was handled
 */
export type Claim = 'claimed' | 'busy' | 'done';

/**
 * Remembers deliveries by their id. One store may serve any number of processes; each method must be atomic. Where a
 * process dies between `claim` and `done`, its claim runs out, and the next attempt may claim the delivery.
 *
 * In Redis: `claim` is `SET <id> <claimant> NX PX <leaseMs>` (and `GET` where that fails: `done` or somebody's name),
 * `done` is `SET <id> done EX 2592000`, `release` deletes the key if it still holds the claimant's name (a script of
 * two lines). In SQL: one table, see the README.
 */
export interface Store {
  /**
   * @param id of the delivery
   * @param claimant a new name for each call
   * @param leaseMs how long the claim holds, in milliseconds
   */
  claim(id: string, claimant: string, leaseMs: number): Promise<Claim>;
  /** It was handled. Kept for 30 days at least, or however far back `reconcile` looks. */
  done(id: string): Promise<void>;
  /** It was not: the next attempt may claim it at once. Nothing happens where the claim is no longer the claimant's. */
  release(id: string, claimant: string): Promise<void>;
  /** Which of these were handled. Only `reconcile` asks, for a hundred at a time. */
  handledOf(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** @throws TypeError naming what is missing: not every caller is TypeScript */
export function checkStore(store: Store | undefined): void {
  if (store === undefined || store === null)
    throw new TypeError('store is missing: give the receiver memoryStore(), or one of your own.');
  for (const method of ['claim', 'done', 'release', 'handledOf'] as const)
    if (typeof store[method] !== 'function') throw new TypeError(`The store has no method ${method}.`);
}

const DAY_MS = 86_400_000;

/** How a store in memory is set up. */
export interface MemoryStoreOptions {
  /** How long what was handled is remembered, in milliseconds (default: 30 days). */
  readonly keepMs?: number;
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/** A store for tests, and for receivers that may handle everything twice after a restart. */
export function memoryStore({ keepMs = 30 * DAY_MS, now = Date.now }: MemoryStoreOptions = {}): Store {
  const claims = new Map<string, { readonly claimant: string; readonly until: number }>();
  /** When each was handled, the oldest first. */
  const handled = new Map<string, number>();

  function forget(): void {
    for (const [id, at] of handled) {
      if (at > now() - keepMs) return;
      handled.delete(id);
    }
  }

  return {
    async claim(id, claimant, leaseMs) {
      forget();
      if (handled.has(id)) return 'done';
      const held = claims.get(id);
      if (held !== undefined && held.until > now()) return 'busy';
      claims.set(id, { claimant, until: now() + leaseMs });
      return 'claimed';
    },
    async done(id) {
      claims.delete(id);
      handled.delete(id);
      handled.set(id, now());
    },
    async release(id, claimant) {
      if (claims.get(id)?.claimant === claimant) claims.delete(id);
    },
    async handledOf(ids) {
      forget();
      return new Set(ids.filter((id) => handled.has(id)));
    },
  };
}
