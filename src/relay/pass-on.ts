/** Calls to Temporal for many claimed rows. */
import pLimit from 'p-limit';
import { whileLeased } from '../db/outbox/lease.ts';
import { isRejection, sourceOf } from '../temporal/rejection.ts';
import type { RelayDeps } from './deps.ts';
import type { Next } from './loop.ts';

/** How Temporal is called. */
interface Calls<Item> {
  readonly call: (item: Item) => Promise<void>;
  /** The purpose of the call, such as "a signal to a delivery", and the ids of its item: for the log. */
  readonly what: string;
  readonly ids: (item: Item) => Readonly<Record<string, unknown>>;
  /** Postpones an item that is left out; default: the item keeps its lease. */
  readonly postpone?: (item: Item) => Promise<void>;
}

type CallDeps = Pick<RelayDeps, 'stopping' | 'onAnswered' | 'suspects' | 'log'>;

/**
 * Calls Temporal for each item. Once a call gets no answer, no further call begins: it would only run into the same
 * deadline. Two sorts of items are left out: items that Temporal refuses, and items whose calls keep failing while
 * other calls are answered.
 * @returns the items left for another try, and the error of the call without an answer, if any
 */
export async function callEach<Item>(
  { stopping, onAnswered, suspects, log }: CallDeps,
  items: readonly Item[],
  concurrency: number,
  { call, what, ids, postpone }: Calls<Item>,
) {
  const remaining = new Set(items);
  let failure: { readonly error: unknown } | undefined;
  await pLimit(concurrency).map(items, async (item) => {
    if (failure !== undefined || stopping.aborted) return;
    const key = `${what} ${JSON.stringify(ids(item))}`;
    try {
      await call(item);
      suspects.succeeded(key);
    } catch (error) {
      const refused = isRejection(error);
      if (!refused && !suspects.failed(key)) {
        failure ??= { error };
        return;
      }
      const of = sourceOf(error);
      log.error(
        { ...ids(item), err: error, of },
        refused ? `Temporal rejected ${what}` : `${what} keeps failing`,
      );
      await postpone?.(item);
      remaining.delete(item);
      if (refused) onAnswered();
      return;
    }
    onAnswered();
    remaining.delete(item);
  });
  return { left: [...remaining], failure };
}

interface Changes<Change> extends Calls<Change> {
  /** Claims up to `limit` changes, under a lease. A change that Temporal refuses is tried again after the lease. */
  readonly claim: (limit: number) => Promise<readonly Change[]>;
  /** Renews the lease; absent if the lease is longer than any page takes. */
  readonly renew?: (claimed: readonly Change[]) => Promise<void>;
  /** Gives claimed changes back. */
  readonly giveBack: (claimed: readonly Change[]) => Promise<void>;
}

/**
 * Passes on one small page of changes by background calls: thousands of changes may come at once.
 * @throws the error of Temporal or the database when it is unavailable; the rest is given back
 */
export async function passOn<Change>(
  deps: CallDeps & Pick<RelayDeps, 'options'>,
  { claim, renew, giveBack, ...calls }: Changes<Change>,
): Promise<Next> {
  const { backgroundPerTick, backgroundConcurrency, tickMs } = deps.options;
  const items = await claim(backgroundPerTick);
  if (items.length === 0) return 'idle';
  const { left, failure } = await whileLeased(
    async () => renew?.(items),
    () => callEach(deps, items, backgroundConcurrency, calls),
  );
  await giveBack(left);
  if (failure !== undefined) throw failure.error;
  return tickMs;
}
