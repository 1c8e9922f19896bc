/**
 * Starts the workflows of batches.
 * @module
 */
import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowOptions } from '@temporalio/client';
import { TypedSearchAttributes, WorkflowIdReusePolicy } from '@temporalio/common';
import { batchWorkflowId, type DeliverBatchInput } from '../../workflows/batch-types.ts';
import { batchDetails, batchTitle } from '../../workflows/batch-view.ts';
import type { deliverBatch } from '../../workflows/deliver-batch.ts';
import { batchPriority } from '../../workflows/priorities.ts';
import { entityIdsKey } from '../../workflows/search-attributes.ts';
import type { ClaimedDelivery } from '../db/outbox/outbox.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import { CALL_DEADLINE_MS, WORKFLOW_TASK_TIMEOUT_MS } from './deadlines.ts';

/** Starts batches. */
export interface BatchStarter {
  /**
   * Starts a batch, also one that has run before: what it holds by now is left of it, or was claimed again.
   * @param deliveries those known to belong to it, for the operator's view; the database knows all
   * @returns false where it runs already
   */
  startBatch(batchId: string, deliveries: readonly ClaimedDelivery[]): Promise<boolean>;
}

/** Webhooks that the operator's view names; the others are counted. */
const SHOWN_WEBHOOKS = 20;

/** What Temporal accepts of a search attribute, in bytes, and of each value on SQL, in characters. */
const SEARCH_BYTES = 2_000;
const SEARCH_CHARACTERS = 255;

/** @param client on the worker's own connection, so that a batch's first task runs here without a detour */
export function createBatchStarter(
  client: Client,
  { taskQueue, policy }: { readonly taskQueue: string; readonly policy: RetryPolicy },
): BatchStarter {
  return {
    async startBatch(batchId, deliveries) {
      const input = batchInput(batchId, policy, deliveries);
      try {
        await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
          client.workflow.start<typeof deliverBatch>('deliverBatch', {
            workflowId: batchWorkflowId(batchId),
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
            taskQueue,
            workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
            requestEagerStart: true,
            args: [input],
            priority: batchPriority,
            staticSummary: batchTitle(input),
            staticDetails: batchDetails(input),
            ...searchAttributes(deliveries),
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    },
  };
}

/** The entities of a batch, where there is room for all of them: part of them would be found by chance. */
function searchAttributes(
  deliveries: readonly ClaimedDelivery[],
): Pick<WorkflowOptions, 'typedSearchAttributes'> {
  const entityIds = [...new Set(deliveries.map(({ entityId }) => entityId))];
  const fits =
    Buffer.byteLength(JSON.stringify(entityIds)) <= SEARCH_BYTES &&
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
