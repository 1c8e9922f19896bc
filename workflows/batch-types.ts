/**
 * What the workflow of a batch and its activities exchange. Identifiers and numbers only: which deliveries it is
 * about is in the database.
 */
import type { BatchResult } from '../src/domain/batch-result.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

export interface DeliverBatchInput {
  readonly batchId: string;
  /** As it was when the batch was claimed. */
  readonly policy: RetryPolicy;
  /** Deliveries claimed, for the operator's view. */
  readonly claimed: number;
  /** Their webhooks with the most of them, most first, for the operator's view. */
  readonly webhooks: readonly BatchShare[];
  /** How many webhooks there are in all. */
  readonly webhookCount: number;
}

/** How much of a batch is for one webhook. */
interface BatchShare {
  readonly webhookId: number;
  readonly deliveries: number;
}

/** Activities of a batch; made by `createBatchActivities`. */
export interface BatchActivities {
  /** Makes what is left of the attempts. Something is left where the worker is being stopped. */
  attemptBatch(input: Pick<DeliverBatchInput, 'batchId' | 'policy'>): Promise<BatchResult>;
  /** Requeues what is left, without attempting it. */
  requeueBatch(batchId: string): Promise<BatchResult>;
}

/** `batch/<batch id>` */
export function batchWorkflowId(batchId: string): string {
  return `batch/${batchId}`;
}
