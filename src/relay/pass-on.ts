/** A page of changes of which Temporal has to be told: each is noted once Temporal has taken it. */
import { whileLeased } from '../db/outbox/lease.ts';
import { eachLimited } from '../lib/each-limited.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { Next } from './loop.ts';

/** The most per page, and calls to Temporal under way at once. */
const PAGE = 100;
const CONCURRENCY = 16;

/** What is passed on, and how. */
export interface Changes<Change extends { readonly id: string }> {
  readonly stopping: AbortSignal;
  /** The most per page; {@link PAGE} when left out. */
  readonly limit?: number;
  /** Between two pages, in milliseconds; left out: the next one follows a full one at once. */
  readonly pauseMs?: number;
  /** Claims up to so many of them, under a lease. */
  readonly claim: (limit: number) => Promise<readonly Change[]>;
  /** Renews the lease; absent where it is longer than any page takes. */
  readonly renew?: (ids: readonly string[]) => Promise<void>;
  /** Gives claimed ones back at once. */
  readonly release: (ids: readonly string[]) => Promise<void>;
  /** Tells Temporal. */
  readonly tell: (change: Change) => Promise<void>;
  /** Notes that Temporal has been told; absent where what was started notes it itself. */
  readonly note?: (change: Change) => Promise<void>;
  /** Hears of one that Temporal refuses, which stops none of the others: it is tried again when its lease has run out. */
  readonly refused: (change: Change, error: unknown) => void;
}

/**
 * Passes on one page.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function passOn<Change extends { readonly id: string }>(
  changes: Changes<Change>,
): Promise<Next> {
  const { stopping, tell, note, refused, pauseMs, limit = PAGE } = changes;
  const claimed = await changes.claim(limit);
  if (claimed.length === 0) return 'idle';
  const left = new Set(claimed.map(({ id }) => id));
  let failed = false;
  async function pass(change: Change): Promise<void> {
    // Once Temporal has not answered, the rest of the page need not wait for its deadline as well.
    if (failed || stopping.aborted) return;
    try {
      await tell(change);
    } catch (error) {
      if (isRefusal(error)) {
        refused(change, error);
        left.delete(change.id);
        return;
      }
      failed = true;
      throw error;
    }
    await note?.(change);
    left.delete(change.id);
  }
  try {
    await whileLeased(
      async () => changes.renew?.([...left]),
      () => eachLimited(claimed, CONCURRENCY, pass),
    );
  } finally {
    await changes.release([...left]);
  }
  return pauseMs ?? (claimed.length === limit ? 'more' : 'idle');
}
