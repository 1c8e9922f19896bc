/** Calls to Temporal about many claimed rows, and pages of changes of which it has to be told. */
import { whileLeased } from '../db/outbox/lease.ts';
import { eachLimited } from '../lib/each-limited.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { Next } from './loop.ts';

/** How Temporal is called. */
interface Calls<Item> {
  readonly items: readonly Item[];
  readonly concurrency: number;
  /** Aborted when the relay is being stopped: no further call begins. */
  readonly stopping: AbortSignal;
  readonly call: (item: Item) => Promise<void>;
  /** Hears of one that Temporal refuses, which stops none of the others. */
  readonly refused: (item: Item, error: unknown) => void;
}

/**
 * Calls Temporal for each. Once it has not answered, the rest need not wait for its deadline as well.
 * @returns those that it took, and those that it was not asked about; `throwFailure` throws what it threw while it was away
 */
export async function callEach<Item>({ items, concurrency, stopping, call, refused }: Calls<Item>) {
  const taken: Item[] = [];
  const left = new Set(items);
  let failure: { readonly error: unknown } | undefined;
  await eachLimited(items, concurrency, async (item) => {
    if (failure !== undefined || stopping.aborted) return;
    try {
      await call(item);
      taken.push(item);
    } catch (error) {
      if (!isRefusal(error)) {
        failure ??= { error };
        return;
      }
      refused(item, error);
    }
    left.delete(item);
  });
  function throwFailure(): void {
    if (failure !== undefined) throw failure.error;
  }
  return { taken, left: [...left], throwFailure };
}

/** The most per page, and calls to Temporal under way at once. */
const PAGE = 100;
const CONCURRENCY = 16;

/** What is passed on, and how. */
interface Changes<Change extends { readonly id: string }>
  extends Pick<Calls<Change>, 'stopping' | 'call' | 'refused'> {
  /** The most per page; {@link PAGE} when left out. */
  readonly limit?: number;
  /** Between two pages, in milliseconds; left out: the next one follows a full one at once. */
  readonly pauseMs?: number;
  /** Claims up to so many of them, under a lease. One that Temporal refuses is tried again when it has run out. */
  readonly claim: (limit: number) => Promise<readonly Change[]>;
  /** Renews the lease; absent where it is longer than any page takes. */
  readonly renew?: (ids: readonly string[]) => Promise<void>;
  /** Gives claimed ones back at once. */
  readonly release: (ids: readonly string[]) => Promise<void>;
  /** Notes that Temporal has been told of one; absent where what was started notes it itself. */
  readonly note?: (change: Change) => Promise<void>;
}

/**
 * Passes on one page.
 * @throws what Temporal or the database threw when it is away; what is left is released
 */
export async function passOn<Change extends { readonly id: string }>(
  changes: Changes<Change>,
): Promise<Next> {
  const { stopping, call, note, refused, pauseMs, limit = PAGE } = changes;
  const items = await changes.claim(limit);
  if (items.length === 0) return 'idle';
  const ids = items.map(({ id }) => id);
  const { left, throwFailure } = await whileLeased(
    async () => changes.renew?.(ids),
    () =>
      callEach({
        items,
        concurrency: CONCURRENCY,
        stopping,
        refused,
        async call(change) {
          await call(change);
          await note?.(change);
        },
      }),
  );
  await changes.release(left.map(({ id }) => id));
  throwFailure();
  return pauseMs ?? (items.length === limit ? 'more' : 'idle');
}
