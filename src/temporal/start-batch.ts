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
import { type Former, HOW_AFTER, startWorkflow } from './workflow-calls.ts';

export interface BatchStarter {
  /**
   * Starts a batch.
   * @param deliveries those known to belong to it, for the operator's view; the database knows all
   * @param urgency `recovery`: any worker may take it, behind everything else
   * @returns false if it was started before, even if it has ended since
   */
  startBatch(batchId: string, deliveries: readonly ClaimedDelivery[], urgency: Urgency): Promise<boolean>;
  /**
   * Starts a batch again that still holds deliveries.
   * @returns false if another worker was first
   */
  restartBatch(batchId: string, deliveries: readonly ClaimedDelivery[], former: Former): Promise<boolean>;
}

/** The maximum number of webhooks named in the operator's view; the others are counted. */
const SHOWN_WEBHOOKS = 20;

/**
 * The size of a search attribute that Temporal accepts, in bytes: its limit for all together on a server with Waybill's settings
 * (`src/embedded/dynamic-config.ts`), less elsewhere. And the length of each value in a SQL store, in characters.
 */
const SEARCH_BYTES = 40_000;
const DEFAULT_SEARCH_BYTES = 2_000;
const SEARCH_CHARACTERS = 255;

/** @param client on the worker's own connection, so that a batch's first task runs here directly */
export function createBatchStarter(
  client: Client,
  { taskQueue, policy }: { readonly taskQueue: string; readonly policy: RetryPolicy },
): BatchStarter {
  let searchBytes = SEARCH_BYTES;

  async function start(
    batchId: string,
    deliveries: readonly ClaimedDelivery[],
    urgency: Urgency,
    how: Pick<WorkflowOptions, 'workflowIdReusePolicy' | 'workflowIdConflictPolicy' | 'requestEagerStart'>,
  ): Promise<boolean> {
    const input = batchInput(batchId, policy, deliveries);
    const startWith = (attributes: SearchAttributes) =>
      startWorkflow<typeof deliverBatch>(client, 'deliverBatch', {
        ...how,
        workflowId: batchWorkflowId(batchId),
        taskQueue,
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
      // The size was the cause: this server has the default limit.
      searchBytes = DEFAULT_SEARCH_BYTES;
      return started;
    }
  }

  return {
    startBatch: (batchId, deliveries, urgency) =>
      start(batchId, deliveries, urgency, {
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
        // Also for retries, unlike their own workflows: the deliveries of a batch are due by now, and share one task.
        requestEagerStart: urgency !== 'recovery',
      }),
    restartBatch: (batchId, deliveries, former) =>
      start(batchId, deliveries, 'fresh', { ...HOW_AFTER[former], requestEagerStart: false }),
  };
}

type SearchAttributes = Pick<WorkflowOptions, 'typedSearchAttributes'>;

/** The entities of a batch, if there is room for all: with only some of them, finding one would be a matter of chance. */
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
