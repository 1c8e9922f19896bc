/**
 * Starts workflows of claimed deliveries, whoever claimed them: one of each, or one of a batch. Starts are made outside any
 * transaction and are idempotent by workflow id, so that a relay may die anywhere.
 */
import { whileLeased } from '../db/outbox/lease.ts';
import {
  type ClaimedDelivery,
  markDispatched,
  type QueuedDelivery,
  releaseDeliveries,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import { requeueAll } from '../db/webhooks/batch-returns.ts';
import type { Urgency } from '../temporal/dispatcher.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { RelayDeps } from './deps.ts';
import { callEach } from './pass-on.ts';

export type StartDeps = Pick<
  RelayDeps,
  'sql' | 'log' | 'stopping' | 'onTaken' | 'load' | 'starter' | 'checkBatch'
>;

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
  { sql, log, stopping, load, onTaken }: Omit<StartDeps, 'starter' | 'checkBatch'>,
  claimed: readonly D[],
  { concurrency, startOne, measured }: Starting<D>,
): Promise<void> {
  if (claimed.length === 0) return;
  const idsOf = (deliveries: readonly D[]) => deliveries.map(({ id }) => id);
  const refused: D[] = [];
  const { taken, left, throwFailure } = await whileLeased(
    () => renewDeliveries(sql, idsOf(claimed)),
    () =>
      callEach({
        items: claimed,
        concurrency,
        stopping,
        async call(delivery) {
          if (measured) load.starting(delivery.id);
          try {
            await startOne(delivery);
          } catch (error) {
            load.failed(delivery.id);
            throw error;
          }
        },
        refused(delivery, err) {
          log.error({ deliveryId: delivery.id, err }, 'Temporal refused to start a delivery');
          refused.push(delivery);
        },
      }),
  );
  await markDispatched(sql, idsOf(taken));
  await setAsideDeliveries(sql, idsOf(refused));
  await releaseDeliveries(sql, idsOf(left));
  throwFailure();
  onTaken();
}

/** Starts the batches that these deliveries belong to. @throws likewise; what was claimed is released, and stays in its batch */
export async function startBatches(
  { sql, log, starter, checkBatch, onTaken, load }: StartDeps,
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
