/**
 * Starts workflows of claimed deliveries, whoever claimed them: one of each, or one of a batch. Starts are made outside any
 * transaction and are idempotent by workflow id, so that a relay may die anywhere.
 */
import type { Logger } from 'pino';

import type { DeliveryWatch } from '../attempt/watch.ts';
import type { Load } from '../concurrency/load.ts';
import { whileLeased } from '../db/outbox/lease.ts';
import {
  type ClaimedDelivery,
  markDispatched,
  type QueuedDelivery,
  releaseDeliveries,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { requeueAll } from '../db/webhooks/batch-returns.ts';
import { eachLimited } from '../lib/each-limited.ts';
import type { Dispatcher, Urgency } from '../temporal/dispatcher.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { BatchStarter } from '../temporal/start-batch.ts';

/** What the loops of the relay take; each takes a part of it. */
export interface PassOnDeps {
  readonly sql: Pool;
  readonly dispatcher: Dispatcher;
  readonly log: Logger;
  /** Aborted when the relay is being stopped: what is not under way by then is given back. */
  readonly stopping: AbortSignal;
  /** Told when Temporal took something. */
  readonly onTaken: () => void;
  /** Told of deliveries that end without a workflow. */
  readonly watch: Pick<DeliveryWatch, 'ended'>;
}

/** What starting deliveries takes. */
export interface StartDeps extends Pick<PassOnDeps, 'sql' | 'log' | 'stopping' | 'onTaken'> {
  /** Told what is started, so that it knows how long it takes to begin. */
  readonly load: Pick<Load, 'starting' | 'failed'>;
}

/** What starting batches takes. */
export interface BatchesDeps extends StartDeps {
  readonly starter: Pick<BatchStarter, 'startBatch'>;
  /** Looks after a batch that was started before: an operator may have ended it, or Temporal lost it. */
  readonly checkBatch: (batchId: string) => Promise<void>;
}

/** How deliveries are started. */
interface Starting<D> {
  readonly concurrency: number;
  readonly startOne: (delivery: D) => Promise<void>;
  /** Nobody measures how long those take that are not urgent. */
  readonly measured: boolean;
}

/**
 * Starts claimed deliveries, and records what became of each.
 * @throws what Temporal threw when it is away; what was not started is released
 */
export async function startAll<D extends ClaimedDelivery>(
  deps: StartDeps,
  claimed: readonly D[],
  how: Starting<D>,
): Promise<void> {
  if (claimed.length === 0) return;
  const { sql, log, stopping } = deps;
  const ids = claimed.map(({ id }) => id);
  const started: string[] = [];
  const left: string[] = [];
  const refused: string[] = [];
  let failure: unknown;
  async function startOne(delivery: D): Promise<void> {
    // Once Temporal has not answered, the rest of the batch need not wait for its deadline as well.
    if (failure !== undefined || stopping.aborted) return void left.push(delivery.id);
    if (how.measured) deps.load.starting(delivery.id);
    try {
      await how.startOne(delivery);
      started.push(delivery.id);
    } catch (error) {
      deps.load.failed(delivery.id);
      if (isRefusal(error)) {
        log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to start a delivery');
        return void refused.push(delivery.id);
      }
      failure = error;
      left.push(delivery.id);
    }
  }
  await whileLeased(
    () => renewDeliveries(sql, ids),
    () => eachLimited(claimed, how.concurrency, startOne),
  );
  await markDispatched(sql, started);
  await setAsideDeliveries(sql, refused);
  await releaseDeliveries(sql, left);
  if (failure !== undefined) throw failure;
  deps.onTaken();
}

/** Starts the batches that these deliveries belong to. @throws likewise; what was claimed is released, and stays in its batch */
export async function startBatches(
  { sql, log, starter, checkBatch, onTaken, load }: BatchesDeps,
  deliveries: readonly QueuedDelivery[],
  urgency: Urgency,
): Promise<void> {
  const batchIds = new Set(deliveries.flatMap(({ batchId }) => (batchId === null ? [] : [batchId])));
  for (const batchId of batchIds) {
    const claimed = deliveries.filter((delivery) => delivery.batchId === batchId);
    load.starting(batchId);
    try {
      if (!(await starter.startBatch(batchId, claimed, urgency))) await checkBatch(batchId);
    } catch (error) {
      load.failed(batchId);
      if (isRefusal(error)) {
        log.error(
          { batchId, err: error },
          'Temporal refused to start a batch: each delivery gets its own workflow',
        );
        await requeueAll(sql, batchId);
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
