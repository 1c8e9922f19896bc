/**
 * The data exchanged by the workflow of a batch and its activities. Identifiers and numbers only: the deliveries are in the database.
 */
import type { BatchResult } from '../src/domain/batch-result.ts';
import type { RetryPolicy } from '../src/domain/retry-policy.ts';

export interface DeliverBatchInput {
  readonly batchId: string;
  /** The policy at the time of the claim. */
  readonly policy: RetryPolicy;
  /** Deliveries claimed, for the operator's view. */
  readonly claimed: number;
  /** The webhooks with the most deliveries in the batch, most first, for the operator's view. */
  readonly webhooks: readonly BatchShare[];
  /** The number of webhooks in all. */
  readonly webhookCount: number;
}

/** The deliveries of a batch for one webhook. */
interface BatchShare {
  readonly webhookId: number;
  readonly deliveries: number;
}

/** Activities of a batch; made by `createBatchActivities`. */
export interface BatchActivities {
  /** Makes the remaining attempts. Some are left if the worker is being stopped. */
  attemptBatch(input: Pick<DeliverBatchInput, 'batchId' | 'policy'>): Promise<BatchResult>;
  /** Requeues the remaining deliveries without attempting them. */
  requeueBatch(batchId: string): Promise<BatchResult>;
}

/** `batch/<batch id>` */
export function batchWorkflowId(batchId: string): string {
  return `batch/${batchId}`;
}
