/**
 * Waits for deliveries as long as they arrive: a backlog takes time, without a worker nothing ever comes, and a
 * failing receiver is neither case.
 */
import type { EventType } from '../src/domain/event-types.ts';
import { delay } from '../src/lib/poll-until.ts';

/** Deliveries that are open. */
export interface Open {
  /** Not attempted yet. */
  readonly waiting: number;
  /** The error of the latest attempt of one of the others; null if there is none. */
  readonly lastError: string | null;
}

/** How long nothing may arrive, in milliseconds. */
export interface Patience {
  /** Before the first delivery: is there a worker at all? */
  readonly firstMs: number;
  /** After the last one, while some wait for their first attempt: there is a backlog. */
  readonly nextMs: number;
}

/** The result of the waiting. */
export interface Waited {
  readonly delivered: Map<EventType, number>;
  /** Null if everything arrived. */
  readonly open: Open | null;
}

/**
 * Waits until everything that was fired has been delivered, however long that takes while deliveries arrive. It
 * ends early if nothing has arrived for too long: after `firstMs`, or after `nextMs` if others have arrived and
 * some have not been attempted yet.
 * @param onCount called with the number delivered so far
 * @throws the signal's reason when it is aborted
 */
export async function untilDelivered(
  fired: ReadonlyMap<EventType, number>,
  count: () => Promise<Map<EventType, number>>,
  options: {
    readonly open: () => Promise<Open>;
    readonly patience: Patience;
    /** The time between two counts, in milliseconds. */
    readonly everyMs: number;
    readonly signal: AbortSignal;
    readonly onCount: (count: number, waiting: number) => void;
  },
): Promise<Waited> {
  const { patience, signal, everyMs, onCount } = options;
  let most = 0;
  let waiting = 0;
  for (let since = Date.now(); ; await delay(everyMs, signal)) {
    const delivered = await count();
    const total = [...delivered.values()].reduce((sum, each) => sum + each, 0);
    if ([...fired].every(([kind, wanted]) => (delivered.get(kind) ?? 0) >= wanted)) {
      onCount(total, 0);
      return { delivered, open: null };
    }
    if (total > most) [most, since, waiting] = [total, Date.now(), 0];
    onCount(total, waiting);
    const silentMs = Date.now() - since;
    if (silentMs <= patience.firstMs) continue;
    const open = await options.open();
    const backlog = most > 0 && open.waiting > 0;
    if (!backlog || silentMs > patience.nextMs) return { delivered, open };
    waiting = open.waiting;
  }
}

/**
 * Why deliveries have not come, as a sentence.
 * @param missing how many have not come
 * @param came how many have
 */
export function whyMissing(
  { waiting, lastError }: Open,
  {
    missing,
    came,
    patience,
  }: { readonly missing: number; readonly came: number; readonly patience: Patience },
): string {
  const text = missing === 1 ? '1 delivery has not arrived' : `${missing} deliveries have not arrived`;
  if (lastError !== null) return `${text}: ${lastError}.`;
  if (waiting === 0) return `${text}: the delivery log gives no reason.`;
  if (came === 0) return `${text}, and none was attempted: is a worker running?`;
  const wait = missing === 1 ? 'it waits for its first attempt' : `${waiting} wait for their first attempt`;
  return `${text}: ${wait}, and none has come for ${patience.nextMs / 1_000} s. Has the worker stopped?`;
}
