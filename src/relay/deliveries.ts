/**
 * Hands deliveries over to Temporal. Starts are made outside any transaction and are idempotent by workflow id, so that a
 * relay may die anywhere.
 * @module
 */
import type { Logger } from 'pino';
import {
  type ClaimedDelivery,
  claimDeliveries,
  markDispatched,
  releaseDeliveries,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import type { Pool } from '../db/pool.ts';
import { eachLimited } from '../each-limited.ts';
import { type Dispatcher, isRefusal } from '../temporal/dispatcher.ts';
import { whileLeased } from './lease.ts';
import { BATCH, CONCURRENCY } from './limits.ts';

/** What passing on takes. */
export interface PassOnDeps {
  readonly sql: Pool;
  readonly dispatcher: Dispatcher;
  readonly log: Logger;
}

/** What came of a batch. */
export interface Batch {
  /** Temporal took something. */
  readonly taken: boolean;
  /** There may be more. */
  readonly more: boolean;
}

/**
 * Starts one batch of deliveries.
 * @throws what Temporal or the database threw when it is away; what was claimed is released
 */
export async function dispatchDeliveries({ sql, dispatcher, log }: PassOnDeps): Promise<Batch> {
  const claimed = await claimDeliveries(sql, BATCH);
  if (claimed.length === 0) return { taken: false, more: false };
  const ids = claimed.map(({ id }) => id);
  const started: string[] = [];
  const failed: string[] = [];
  const refused: string[] = [];
  let failure: unknown;
  async function start(delivery: ClaimedDelivery): Promise<void> {
    // Once Temporal has not answered, the rest of the batch need not wait for its deadline as well.
    if (failure !== undefined) return void failed.push(delivery.id);
    try {
      await dispatcher.startDelivery(delivery);
      started.push(delivery.id);
    } catch (error) {
      if (isRefusal(error)) {
        log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to start a delivery');
        return void refused.push(delivery.id);
      }
      failure = error;
      failed.push(delivery.id);
    }
  }
  await whileLeased(
    () => renewDeliveries(sql, ids),
    () => eachLimited(claimed, CONCURRENCY, start),
  );
  await markDispatched(sql, started);
  await setAsideDeliveries(sql, refused);
  if (failure !== undefined) {
    await releaseDeliveries(sql, failed);
    throw failure;
  }
  return { taken: true, more: claimed.length === BATCH };
}
