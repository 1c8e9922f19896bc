/**
 * Batch mode: an attempt of each of many deliveries in one workflow. Delivered ones are done; all others are requeued in the statement
 * that records them.
 *
 * This code is replayed: any change to its commands needs `patched()` and a history recorded before the change.
 */
import {
  CancellationScope,
  CancelledFailure,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { BatchResult } from '../src/domain/batch-result.ts';
import type { BatchActivities, DeliverBatchInput } from './batch-types.ts';
import { batchDetails, batchOutcome } from './batch-view.ts';
import { batchOptions } from './delivery-options.ts';
import { ownSteps } from './own-steps.ts';

/** Makes the attempts of a batch, however often its worker is stopped or killed. */
export async function deliverBatch(input: DeliverBatchInput): Promise<BatchResult> {
  const { batchId, policy } = input;
  const { attemptBatch } = proxyActivities<BatchActivities>(batchOptions(input));
  const own = ownSteps<BatchActivities>();
  const show = (sentence: string) => setCurrentDetails(`${batchDetails(input)}\n\n${sentence}`);
  try {
    for (;;) {
      const result = await attemptBatch({ batchId, policy });
      show(batchOutcome(result));
      if (result.left === 0) return result;
    }
  } catch (error) {
    // A cancellation while a worker dies ends as a time-out.
    if (!isCancellation(error) && !CancellationScope.current().consideredCancelled) throw error;
    // Canceled by an operator: no accepted change may be lost, so each delivery can be canceled in its own workflow.
    await CancellationScope.nonCancellable(async () => {
      show(`Canceled by an operator. ${batchOutcome(await own.requeueBatch(batchId))}`);
    });
    throw isCancellation(error) ? error : new CancelledFailure('canceled by an operator');
  }
}
