/**
 * From the queue to Temporal: the classes of deliveries that wait, each claimed in a loop of its own by the same statement. A
 * delivery gets its own workflow, or in a rush hundreds share one, a batch.
 */
import { v7 as uuidv7 } from 'uuid';
import type { ClaimRoom, Limits } from '../concurrency/limits.ts';
import type { Load } from '../concurrency/load.ts';
import type { SchedulerOptions } from '../concurrency/settings.ts';
import { claimDeliveries } from '../db/outbox/claim.ts';
import { QUEUE, type Queue } from '../db/outbox/outbox.ts';
import type { Dispatcher, Urgency } from '../temporal/dispatcher.ts';
import type { BackgroundWork, Budget } from './budget.ts';
import type { Next } from './loop.ts';
import type { Mode } from './mode.ts';
import { type BatchesDeps, startAll, startBatches } from './start.ts';

/** What dispatching deliveries takes. */
export interface DeliveriesDeps extends BatchesDeps {
  readonly dispatcher: Pick<Dispatcher, 'startDelivery'>;
  readonly options: SchedulerOptions;
  readonly limits: Limits;
  readonly load: Load;
  readonly budget: Budget;
}

/** A class of deliveries that wait. */
export interface DeliveryClass {
  readonly queue: Queue;
  /** Served first; a class of a higher rank is claimed only when nothing of a lower one is left, or once in a while. */
  readonly rank: number;
  /** What its own workflows are counted as; null: nobody waits longer for them than for the window. */
  readonly background: BackgroundWork | null;
  /** Temporal's priority. */
  readonly urgency: Urgency;
  /** How long before it is due its own workflow is started, in milliseconds: more than passes between two looks. */
  readonly aheadMs: number;
}

/** The classes, each the name of a loop. */
export const deliveryClasses = {
  deliveries: { queue: QUEUE.fresh, rank: 0, background: null, urgency: 'fresh', aheadMs: 0 },
  retries: { queue: QUEUE.retry, rank: 0, background: 'retries', urgency: 'retry', aheadMs: 2_000 },
  workflows: { queue: QUEUE.workflow, rank: 0, background: 'retries', urgency: 'retry', aheadMs: 0 },
  imports: { queue: QUEUE.bulk, rank: 1, background: null, urgency: 'fresh', aheadMs: 0 },
  recovered: { queue: QUEUE.recovered, rank: 2, background: 'recovered', urgency: 'recovery', aheadMs: 0 },
} as const satisfies Record<string, DeliveryClass>;

/** Which ranks have something left that could be claimed. */
export interface Ranks {
  /** After a claim. */
  claimed(rank: number, more: boolean): void;
  /** Whether a class of this rank may be claimed: nothing of a lower rank is left, or it has waited long enough. */
  mayClaim(rank: number): boolean;
}

/** @param now in milliseconds, on a clock that does not jump */
export function createRanks(patienceMs: number, now: () => number = () => performance.now()): Ranks {
  /** Before the first claim nobody knows what waits. */
  const left = new Map([[0, true]]);
  const servedAt = new Map<number, number>();
  return {
    claimed(rank, more) {
      left.set(rank, more);
      servedAt.set(rank, now());
    },
    mayClaim(rank) {
      const blocked = [...left].some(([other, more]) => other < rank && more);
      if (!servedAt.has(rank)) servedAt.set(rank, now());
      return !blocked || now() - (servedAt.get(rank) ?? 0) > patienceMs;
    },
  };
}

/** Before it is looked again whether a place is free, in milliseconds. */
const AGAIN_MS = 20;

/**
 * Makes a loop's step: it claims deliveries of a class and starts what attempts them. What belongs to a batch already, since
 * whoever claimed it died, starts that batch again.
 * @returns a step that throws what Temporal or the database threw when it is away; what was claimed is released
 */
export function dispatchOf(deps: DeliveriesDeps, of: DeliveryClass, mode: Mode, ranks: Ranks) {
  const { sql, dispatcher, limits, load, budget, options } = deps;
  const { background, queue, rank, urgency } = of;
  const ranked = background !== 'retries';
  let lastBatch = '';

  /** One batch at a time is on its way; what is open in the worker is bounded, but for a few of others. */
  function batchLimit(): number {
    if (load.waits(lastBatch)) return 0;
    const most = rank > 0 && load.overloaded() ? options.modestBatchSize : options.batchSize;
    return Math.min(most, Math.max(options.window, options.openInBatches - limits.open()));
  }
  const ownLimit = () =>
    background === null ? options.window - load.waiting() : budget.available(background);

  return async (): Promise<Next> => {
    if (!ranks.mayClaim(rank)) return options.tickMs;
    const batches = queue !== QUEUE.workflow && mode.batches();
    const limit = batches ? batchLimit() : ownLimit();
    if (limit < 1) {
      if (background !== null && !batches) return options.backgroundMs;
      // Nobody has looked: something may wait.
      if (ranked) ranks.claimed(rank, true);
      return AGAIN_MS;
    }
    const room = limits.room();
    const batchId = uuidv7();
    const { deliveries, more, waitedMs } = await claimDeliveries(sql, {
      queue,
      limit,
      room: urgency === 'recovery' ? halved(room) : room,
      ...(batches ? { batchId } : { aheadMs: of.aheadMs }),
    });
    if (ranked) ranks.claimed(rank, more);
    mode.claimed({ deliveries: deliveries.length, more, waitedMs });
    if (batches) lastBatch = batchId;
    const own = deliveries.filter((delivery) => delivery.batchId === null);
    if (background !== null) budget.spend(background, own.length);
    await startBatches(
      deps,
      deliveries.filter((delivery) => delivery.batchId !== null),
      urgency,
    );
    await startAll(deps, own, {
      concurrency: background === null ? options.concurrency : options.backgroundConcurrency,
      startOne: (delivery) => dispatcher.startDelivery(delivery, urgency),
      measured: background === null,
    });
    if (deliveries.length === 0) return 'idle';
    if (batches) return options.tickMs;
    if (background !== null) return options.backgroundMs;
    return more ? 'more' : 'idle';
  };
}

/** Half of the room is left to what is fresh. */
function halved({ eshop, webhook, eshops, webhooks }: ClaimRoom): ClaimRoom {
  const half = (room: number) => Math.ceil(room / 2);
  const halves = (known: ReadonlyMap<number, number>) =>
    new Map([...known].map(([key, room]) => [key, half(room)]));
  return { eshop: half(eshop), webhook: half(webhook), eshops: halves(eshops), webhooks: halves(webhooks) };
}
