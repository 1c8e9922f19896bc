/**
 * Starts workflows of claimed deliveries whose first attempts are not made here: one for each, or one for a batch. Starts are made
 * outside any transaction and are idempotent by workflow id, so a relay may die at any point.
 */
import { whileLeased } from '../db/outbox/lease.ts';
import {
  giveBackDeliveries,
  markDispatched,
  type QueuedDelivery,
  renewDeliveries,
  setAsideDeliveries,
} from '../db/outbox/outbox.ts';
import { disband, requeueAll } from '../db/webhooks/batch-returns.ts';
import type { Dispatcher, Urgency } from '../temporal/dispatcher.ts';
import type { RelayDeps } from './deps.ts';
import { callEach } from './pass-on.ts';

export interface StartDeps
  extends Pick<
    RelayDeps,
    'sql' | 'log' | 'options' | 'stopping' | 'onAnswered' | 'starts' | 'starter' | 'checkBatch'
  > {
  readonly dispatcher: Pick<Dispatcher, 'startDelivery'>;
}

const idsOf = (deliveries: readonly QueuedDelivery[]) => deliveries.map(({ id }) => id);

/**
 * Starts the workflows of the claimed deliveries and records the result of each. Deliveries in a started batch are left to it: it may
 * already have begun and requeued some.
 * @throws the error of Temporal when it is away; deliveries not started are given back, and leave their batch
 */
export async function startClaimed(
  deps: StartDeps,
  claimed: readonly QueuedDelivery[],
  urgency: Urgency,
): Promise<void> {
  if (claimed.length === 0) return;
  const { sql } = deps;
  const [own, batches] = await whileLeased(
    () => renewDeliveries(sql, idsOf(claimed)),
    () => Promise.all([startOwn(deps, claimed, urgency), startBatches(deps, claimed, urgency)]),
  );
  await markDispatched(sql, idsOf(own.taken));
  await setAsideDeliveries(sql, idsOf(own.refused));
  for (const batchId of batches.refused) await requeueAll(sql, batchId);
  await giveBackDeliveries(sql, idsOf(own.left));
  // Without Temporal no batch is made: the next claim decides anew.
  for (const batchId of batches.left) await disband(sql, batchId);
  own.throwFailure();
  batches.throwFailure();
}

/** A workflow for each delivery in no batch. */
async function startOwn(
  { dispatcher, log, stopping, onAnswered, options }: StartDeps,
  claimed: readonly QueuedDelivery[],
  urgency: Urgency,
) {
  const refused: QueuedDelivery[] = [];
  const called = await callEach({
    items: claimed.filter(({ batchId }) => batchId === null),
    concurrency: options.backgroundConcurrency,
    stopping,
    onAnswered,
    call: (delivery) => dispatcher.startDelivery(delivery, urgency),
    refused(delivery, err) {
      log.error({ deliveryId: delivery.id, err }, 'Temporal refused to start a delivery');
      refused.push(delivery);
    },
  });
  return { ...called, refused };
}

/** The batches of the others. */
async function startBatches(
  { log, stopping, onAnswered, starts, starter, checkBatch }: StartDeps,
  claimed: readonly QueuedDelivery[],
  urgency: Urgency,
) {
  const refused: string[] = [];
  const called = await callEach({
    items: [...new Set(claimed.flatMap(({ batchId }) => (batchId === null ? [] : [batchId])))],
    concurrency: 1,
    stopping,
    onAnswered,
    async call(batchId) {
      starts.starting(batchId);
      try {
        const deliveries = claimed.filter((delivery) => delivery.batchId === batchId);
        const isNew = await starts.ask(() => starter.startBatch(batchId, deliveries, urgency));
        if (!isNew) await checkBatch(batchId);
      } catch (error) {
        starts.failed(batchId);
        throw error;
      }
    },
    refused(batchId, err) {
      log.error({ batchId, err }, 'Temporal refused to start a batch: each delivery gets its own workflow');
      refused.push(batchId);
    },
  });
  return { ...called, refused };
}
