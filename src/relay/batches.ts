/**
 * The rush lane of the relay: deliveries handed over by the hundred, each batch to one workflow. As many are claimed as
 * there are free slots for requests, and for each receiver as many as it takes within a moment, so that a slow one holds up
 * nobody else.
 */
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { BATCH_SLOTS, PER_SLOT, type Slots } from '../attempt/slots.ts';
import type { InFlightLimits } from '../db/outbox/claim.ts';
import { claimDeliveries } from '../db/outbox/claim-deliveries.ts';
import { type QueuedDelivery, releaseDeliveries } from '../db/outbox/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { handBackAll } from '../db/webhooks/batch-returns.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { BatchStarter, BatchUrgency } from '../temporal/start-batch.ts';
import type { Imports } from './imports.ts';
import type { Lane } from './lane.ts';
import { LEAST_SLOTS } from './limits.ts';
import type { Next } from './loop.ts';
import type { Precedence } from './precedence.ts';

/** What batches take. */
export interface BatchesDeps {
  readonly sql: Pool;
  readonly log: Logger;
  /** Told when Temporal took something. */
  readonly onTaken: () => void;
  readonly starter: Pick<BatchStarter, 'startBatch'>;
  /** Looks after a batch that was started before: an operator may have ended it, or Temporal lost it. */
  readonly checkBatch: (batchId: string) => Promise<void>;
  readonly slots: Pick<Slots, 'unclaimed' | 'forNewcomers' | 'busyEshops' | 'batchSize' | 'promise'>;
  /** What batches may hold of each receiver, as this worker knows it. */
  readonly batchLimits: () => InFlightLimits;
  /** Which e-shops import, and what their deliveries may take meanwhile. */
  readonly imports: Pick<Imports, 'bounded' | 'claimed'>;
}

/** An e-shop with more in a batch, or so many in flight, is no newcomer. */
const NEWCOMER_MOST = 8;
/** While slots are free, so many in flight count as one turn taken. */
const MOST_PER_TURN = 32;
/** Before slots are looked at again, in milliseconds. */
const BUSY_MS = 20;
/** Until receivers that had as much as they take are looked at again, in milliseconds. */
const KEPT_MS = 50;
/** A batch that was not full waits this long for more, in milliseconds. */
const LINGER_MS = 100;

/**
 * Claims one batch, and starts it. Deliveries that belong to a batch already, since whoever claimed them died, start that
 * one again.
 * @throws what Temporal or the database threw when it is away; what was claimed is released, and stays in its batch
 */
export async function dispatchBatch(
  deps: BatchesDeps,
  lane: Lane,
  precedence: Pick<Precedence, 'claimed'>,
): Promise<Next> {
  const { sql, slots } = deps;
  const free = slots.unclaimed();
  if (free < LEAST_SLOTS) {
    // Nobody has looked: something fresh may wait.
    precedence.claimed(true);
    await dispatchNewcomers(deps);
    return BUSY_MS;
  }
  const limit = Math.min(slots.batchSize(), PER_SLOT * free);
  const { inFlight, gaveWay } = deps.imports.bounded(deps.batchLimits());
  const perTurn = inFlightPerTurn(free);
  const claim = await claimDeliveries(sql, { limit, batchId: uuidv7(), inFlight, perTurn });
  const { deliveries, kept, keptMs } = claim;
  deps.imports.claimed(deliveries);
  // What gives way to an import waits all the same: the rush goes on, and recoveries stay behind it.
  const heldBack = kept && gaveWay;
  if (!heldBack) lane.batched(deliveries.length, keptMs);
  precedence.claimed(claim.more || heldBack);
  await startBatches(deps, deliveries, 'fresh');
  if (deliveries.length === limit) return 'more';
  // More will be possible before long.
  if (kept && deliveries.length > 0) return KEPT_MS;
  // Whoever imports wakes the relay with every transaction.
  if (kept) return heldBack ? LINGER_MS : 'soon';
  return deliveries.length === 0 && lane.now() === 'batch' ? 'idle' : LINGER_MS;
}

/** Claims a small batch of e-shops that have hardly anything in a batch, where it is time for one. */
async function dispatchNewcomers(deps: BatchesDeps): Promise<void> {
  const { sql, slots } = deps;
  const limit = slots.forNewcomers();
  if (limit === 0) return;
  const { inFlight } = deps.imports.bounded(deps.batchLimits());
  const few = (most: number) => Math.min(most, NEWCOMER_MOST);
  const eshops = new Map([...inFlight.eshops].map(([id, most]) => [id, few(most)]));
  for (const id of slots.busyEshops()) eshops.set(id, 0);
  const bounded = { ...inFlight, eshop: few(inFlight.eshop), eshops };
  const { deliveries } = await claimDeliveries(sql, { limit, batchId: uuidv7(), inFlight: bounded });
  deps.imports.claimed(deliveries);
  await startBatches(deps, deliveries, 'fresh');
}

/**
 * So many in flight count as one turn taken. In a batch most attempts end at once, and what stays in flight waits for its
 * receiver: while slots are free it costs nothing, and receivers that take seconds are not put last. The fewer slots are
 * free, the more each counts, so that slow receivers share them and leave some to the others.
 */
function inFlightPerTurn(free: number): number {
  const share = (free - LEAST_SLOTS) / (BATCH_SLOTS / 2);
  return Math.max(1, Math.floor(MOST_PER_TURN * Math.min(1, share)));
}

/** E-shops that have much among these deliveries. */
function busyIn(deliveries: readonly QueuedDelivery[]): number[] {
  const counts = new Map<number, number>();
  for (const { eshopId } of deliveries) counts.set(eshopId, (counts.get(eshopId) ?? 0) + 1);
  return [...counts].flatMap(([eshopId, count]) => (count > NEWCOMER_MOST ? [eshopId] : []));
}

/** Starts the batches that these deliveries belong to. */
export async function startBatches(
  { sql, log, starter, checkBatch, slots, onTaken }: BatchesDeps,
  deliveries: readonly QueuedDelivery[],
  urgency: BatchUrgency,
): Promise<void> {
  const batchIds = new Set(deliveries.flatMap(({ batchId }) => (batchId === null ? [] : [batchId])));
  for (const batchId of batchIds) {
    const claimed = deliveries.filter((delivery) => delivery.batchId === batchId);
    slots.promise(batchId, claimed.length, busyIn(claimed));
    try {
      if (!(await starter.startBatch(batchId, claimed, urgency))) await checkBatch(batchId);
    } catch (error) {
      if (isRefusal(error)) {
        log.error(
          { batchId, err: error },
          'Temporal refused to start a batch: each delivery gets its own workflow',
        );
        await handBackAll(sql, batchId);
        continue;
      }
      // Perhaps it was started all the same: the deliveries stay in their batch.
      await releaseDeliveries(
        sql,
        deliveries.map(({ id }) => id),
      );
      throw error;
    }
    onTaken();
  }
}
