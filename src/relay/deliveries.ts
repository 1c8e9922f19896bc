/**
 * From the queue to Temporal: the classes of deliveries that wait, each claimed in a loop of its own by the same statement. A
 * delivery gets its own workflow, or in a burst hundreds share one, a batch.
 */
import { v7 as uuidv7 } from 'uuid';
import { claimDeliveries } from '../db/outbox/claim.ts';
import { QUEUE, type Queue } from '../db/outbox/outbox.ts';
import type { Dispatcher, Urgency } from '../temporal/dispatcher.ts';
import type { BackgroundWork } from './budget.ts';
import type { RelayDeps } from './deps.ts';
import type { Next } from './loop.ts';
import { createMode, type FirstAttempts } from './mode.ts';
import { type StartDeps, startAll, startBatches } from './start.ts';

export interface DeliveriesDeps
  extends StartDeps,
    Pick<RelayDeps, 'options' | 'firstAttempts' | 'limits' | 'budget'> {
  readonly dispatcher: Pick<Dispatcher, 'startDelivery'>;
}

/** A class of deliveries that wait. */
export interface DeliveryClass {
  readonly queue: Queue;
  /** Served first; a class of a higher rank is claimed only when nothing of a lower one is left, or once in a while. */
  readonly rank: number;
  /** Where batches are allowed at all; left out: as deliveries are attempted first. */
  readonly mode?: FirstAttempts;
  /** What its own workflows are counted as; null: nobody waits longer for them than for the window. */
  readonly background: BackgroundWork | null;
  /** Temporal's priority. */
  readonly urgency: Urgency;
  /** How long before it is due its own workflow is started, in milliseconds: more than passes between two looks. */
  readonly aheadMs?: number;
}

const retry = { rank: 0, background: 'retries', urgency: 'retry' } as const;
/** The classes, each the name of a loop. */
export const deliveryClasses = {
  deliveries: { queue: QUEUE.fresh, rank: 0, background: null, urgency: 'fresh' },
  retries: { ...retry, queue: QUEUE.retry, mode: 'auto', aheadMs: 2_000 },
  workflows: { ...retry, queue: QUEUE.workflow, mode: 'each' },
  bulk: { queue: QUEUE.bulk, rank: 1, background: null, urgency: 'fresh' },
  recovered: { queue: QUEUE.recovered, rank: 2, mode: 'batch', background: 'recovered', urgency: 'recovery' },
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
export function dispatchOf(deps: DeliveriesDeps, of: DeliveryClass, ranks: Ranks): () => Promise<Next> {
  const { sql, dispatcher, limits, load, budget, options, firstAttempts } = deps;
  const { background, queue, rank, urgency } = of;
  const mode = createMode(firstAttempts === 'each' ? 'each' : (of.mode ?? firstAttempts), options);
  const ranked = background !== 'retries';
  let lastBatch = '';

  /** One batch at a time is on its way; what is open in the worker is bounded, but for a few of others. */
  function batchLimit(): number {
    if (load.waits(lastBatch)) return 0;
    return Math.min(options.batchSize, Math.max(options.window, 2 * options.batchSize - limits.open()));
  }
  const ownLimit = () =>
    background === null ? options.window - load.waiting() : budget.available(background);

  return async () => {
    if (!ranks.mayClaim(rank)) return options.tickMs;
    const batches = mode.batches();
    const limit = batches ? batchLimit() : ownLimit();
    if (limit < 1) {
      if (background !== null && !batches) return options.tickMs;
      // Nobody has looked: something may wait.
      if (ranked) ranks.claimed(rank, true);
      return AGAIN_MS;
    }
    const batchId = uuidv7();
    const { deliveries, more, waitedMs } = await claimDeliveries(sql, {
      queue,
      limit,
      // Half is left to what is fresh.
      quotas: limits.quotas(urgency === 'recovery' ? 0.5 : 1),
      ...(batches ? { batchId } : { aheadMs: of.aheadMs ?? 0 }),
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
      concurrency: background === null ? options.window : options.backgroundConcurrency,
      startOne: (delivery) => dispatcher.startDelivery(delivery, urgency),
      measured: background === null,
    });
    if (deliveries.length === 0) return 'idle';
    if (batches || background !== null) return options.tickMs;
    return more ? 'more' : 'idle';
  };
}
