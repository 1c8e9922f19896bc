/** Starts the workflows of batches. */
import type { Client, WorkflowOptions } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdReusePolicy } from '@temporalio/common';
import { batchWorkflowId, type DeliverBatchInput } from '../../workflows/batch-types.ts';
import { batchDetails, batchTitle } from '../../workflows/batch-view.ts';
import type { deliverBatch } from '../../workflows/deliver-batch.ts';
import { batchPriority, type Urgency } from '../../workflows/priorities.ts';
import { entityIdsKey } from '../../workflows/search-attributes.ts';
import type { ClaimedDelivery } from '../db/outbox/outbox.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { isRefusal } from './refusal.ts';
import { startWorkflow } from './workflow-calls.ts';

export interface BatchStarter {
  /**
   * Starts a batch.
   * @param deliveries those known to belong to it, for the operator's view; the database knows all
   * @param urgency `recovery`: any worker may take it, behind everything else
   * @returns false where it was started before, also where it has ended since
   */
  startBatch(batchId: string, deliveries: readonly ClaimedDelivery[], urgency: Urgency): Promise<boolean>;
  /**
   * Starts a batch again that has ended by itself and holds something all the same.
   * @returns false where it runs already
   */
  restartBatch(batchId: string, deliveries: readonly ClaimedDelivery[]): Promise<boolean>;
}

/** Webhooks that the operator's view names; the others are counted. */
const SHOWN_WEBHOOKS = 20;

/**
 * What Temporal accepts of a search attribute, in bytes: as much as it takes of all together where it is set as Waybill
 * sets it (`src/embedded/dynamic-config.ts`), less elsewhere. And of each value on SQL, in characters.
 */
const SEARCH_BYTES = 40_000;
const DEFAULT_SEARCH_BYTES = 2_000;
const SEARCH_CHARACTERS = 255;

/** @param client on the worker's own connection, so that a batch's first task runs here without a detour */
export function createBatchStarter(
  client: Client,
  { taskQueue, policy }: { readonly taskQueue: string; readonly policy: RetryPolicy },
): BatchStarter {
  let searchBytes = SEARCH_BYTES;

  async function start(
    batchId: string,
    deliveries: readonly ClaimedDelivery[],
    workflowIdReusePolicy: WorkflowIdReusePolicy,
    urgency: Urgency,
  ): Promise<boolean> {
    const input = batchInput(batchId, policy, deliveries);
    const startWith = (attributes: SearchAttributes) =>
      startWorkflow<typeof deliverBatch>(client, 'deliverBatch', {
        workflowId: batchWorkflowId(batchId),
        workflowIdReusePolicy,
        taskQueue,
        // Of retries too, unlike workflows of their own: what a batch claims is due by now, and it is one task for all of it.
        requestEagerStart: urgency !== 'recovery',
        args: [input],
        priority: batchPriority(urgency),
        staticSummary: batchTitle(input),
        staticDetails: batchDetails(input),
        ...attributes,
      });
    try {
      return await startWith(searchAttributes(deliveries, searchBytes));
    } catch (error) {
      if (searchBytes === DEFAULT_SEARCH_BYTES || !isRefusal(error)) throw error;
      const started = await startWith(searchAttributes(deliveries, DEFAULT_SEARCH_BYTES));
      // It was for their size: this server takes no more than any.
      searchBytes = DEFAULT_SEARCH_BYTES;
      return started;
    }
  }

  return {
    startBatch: (batchId, deliveries, urgency) =>
      start(batchId, deliveries, WorkflowIdReusePolicy.REJECT_DUPLICATE, urgency),
    restartBatch: (batchId, deliveries) =>
      start(batchId, deliveries, WorkflowIdReusePolicy.ALLOW_DUPLICATE, 'fresh'),
  };
}

type SearchAttributes = Pick<WorkflowOptions, 'typedSearchAttributes'>;

/** The entities of a batch, where there is room for all of them: part of them would be found by chance. */
function searchAttributes(deliveries: readonly ClaimedDelivery[], bytes: number): SearchAttributes {
  const entityIds = [...new Set(deliveries.map(({ entityId }) => entityId))];
  const fits =
    Buffer.byteLength(JSON.stringify(entityIds)) <= bytes &&
    entityIds.every((id) => id.length <= SEARCH_CHARACTERS);
  return fits
    ? { typedSearchAttributes: new TypedSearchAttributes([{ key: entityIdsKey, value: entityIds }]) }
    : {};
}

function batchInput(
  batchId: string,
  policy: RetryPolicy,
  deliveries: readonly ClaimedDelivery[],
): DeliverBatchInput {
  const shares = new Map<number, number>();
  for (const { webhookId } of deliveries) shares.set(webhookId, (shares.get(webhookId) ?? 0) + 1);
  const webhooks = [...shares]
    .map(([webhookId, count]) => ({ webhookId, deliveries: count }))
    .sort((a, b) => b.deliveries - a.deliveries || a.webhookId - b.webhookId);
  return {
    batchId,
    policy,
    claimed: deliveries.length,
    webhooks: webhooks.slice(0, SHOWN_WEBHOOKS),
    webhookCount: webhooks.length,
  };
}
