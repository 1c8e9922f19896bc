/** Calls to Temporal for many claimed rows, and pages of changes to pass on to it. */
import type { SchedulerOptions } from '../concurrency/settings.ts';
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
  /** Called for an item that Temporal refuses; the others go on. Left out: none is refused. */
  readonly refused?: (item: Item, error: unknown) => void;
  /** Called whenever Temporal has answered, even if it refused. */
  readonly onAnswered?: () => void;
}

/**
 * Calls Temporal for each. After a call without an answer no further one begins: each would only wait for the deadline too.
 * @returns the items left for another try; `throwFailure` throws its error if it was away
 */
export async function callEach<Item>({
  items,
  concurrency,
  stopping,
  call,
  refused,
  onAnswered,
}: Calls<Item>) {
  const left = new Set(items);
  let failure: { readonly error: unknown } | undefined;
  await eachLimited(items, concurrency, async (item) => {
    if (failure !== undefined || stopping.aborted) return;
    try {
      await call(item);
    } catch (error) {
      if (!isRefusal(error)) {
        failure ??= { error };
        return;
      }
      refused?.(item, error);
    }
    onAnswered?.();
    left.delete(item);
  });
  function throwFailure(): void {
    if (failure !== undefined) throw failure.error;
  }
  return { left: [...left], throwFailure };
}

/** The changes to pass on, and how. */
interface Changes<Change extends { readonly id: string }>
  extends Pick<Calls<Change>, 'stopping' | 'call' | 'refused' | 'onAnswered'> {
  readonly options: Pick<SchedulerOptions, 'backgroundPerTick' | 'backgroundConcurrency' | 'tickMs'>;
  /** Claims up to `limit` of them, under a lease. One that Temporal refuses is tried again after the lease. */
  readonly claim: (limit: number) => Promise<readonly Change[]>;
  /** Renews the lease; absent if the lease is longer than any page takes. */
  readonly renew?: (ids: readonly string[]) => Promise<void>;
  /** Gives claimed ones back. */
  readonly giveBack: (ids: readonly string[]) => Promise<void>;
  /** Notes that one has been passed on; absent where the started workflow notes it. */
  readonly note?: (change: Change) => Promise<void>;
}

/**
 * Passes on one small page, as background calls: thousands may come at once.
 * @throws the error of Temporal or the database when it is away; the rest is given back
 */
export async function passOn<Change extends { readonly id: string }>({
  options,
  claim,
  renew,
  giveBack,
  call,
  note,
  ...how
}: Changes<Change>): Promise<Next> {
  const items = await claim(options.backgroundPerTick);
  if (items.length === 0) return 'idle';
  const ids = items.map(({ id }) => id);
  const { left, throwFailure } = await whileLeased(
    async () => renew?.(ids),
    () =>
      callEach({
        ...how,
        items,
        concurrency: options.backgroundConcurrency,
        async call(change) {
          await call(change);
          await note?.(change);
        },
      }),
  );
  await giveBack(left.map(({ id }) => id));
  throwFailure();
  return options.tickMs;
}
