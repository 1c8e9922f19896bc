/** Handled deliveries, so that a repeat is dropped and an attempt after a crash is not. */

/**
 * The result of `claim`.
 * - `claimed`: it was not handled, and nobody else is handling it; from now on the caller is
 * - `busy`: somebody else is handling it, and that claim has not expired
 * - `done`: it was handled
 */
export type Claim = 'claimed' | 'busy' | 'done';

/**
 * Remembers deliveries by their id. One store may serve any number of processes; each method must be atomic. If a
 * process dies between `claim` and `done`, its claim expires, and the next attempt may claim the delivery.
 *
 * In Redis: `claim` is `SET <id> <claimant> NX PX <leaseMs>` (and `GET` if that fails: `done` or a claimant's
 * name), `done` is `SET <id> done EX 2592000`, `release` deletes the key if it still holds the claimant's name (a
 * script of two lines). In SQL: one table, see the README.
 */
export interface Store {
  /**
   * @param id of the delivery
   * @param claimant a new name for each call
   * @param leaseMs how long the claim holds, in milliseconds
   */
  claim(id: string, claimant: string, leaseMs: number): Promise<Claim>;
  /** Called if it was handled. Remember it for at least 30 days, or as far back as `reconcile` looks. */
  done(id: string): Promise<void>;
  /** Called if it was not: the next attempt may claim it at once. Does nothing if another claimant has the claim. */
  release(id: string, claimant: string): Promise<void>;
  /** Which of these were handled. Only `reconcile` calls it, with a hundred at a time. */
  handledOf(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** @throws TypeError naming the missing method: not every caller uses TypeScript */
export function checkStore(store: Store | undefined): void {
  if (store === undefined || store === null)
    throw new TypeError('store is missing: give the receiver memoryStore(), or one of your own.');
  for (const method of ['claim', 'done', 'release', 'handledOf'] as const)
    if (typeof store[method] !== 'function') throw new TypeError(`The store has no method ${method}.`);
}

const DAY_MS = 86_400_000;

/** Options of a store in memory. */
export interface MemoryStoreOptions {
  /** How long handled deliveries are remembered, in milliseconds (default: 30 days). */
  readonly keepMs?: number;
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/** A store for tests, and for receivers that may handle everything twice after a restart. */
export function memoryStore({ keepMs = 30 * DAY_MS, now = Date.now }: MemoryStoreOptions = {}): Store {
  const claims = new Map<string, { readonly claimant: string; readonly until: number }>();
  /** When each was handled, oldest first. */
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
