/** Which deliveries have a workflow in Temporal. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import pLimit from 'p-limit';
import { deliveryWorkflowId, type NamedDelivery } from '../workflows/delivery-id.ts';

/** Calls of Temporal under way at once. */
const CONCURRENCY = 8;

/** @returns the ids of those that have one, whether it runs or has ended */
export async function withWorkflow(
  { workflow }: Client,
  deliveries: readonly NamedDelivery[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await pLimit(CONCURRENCY).map(deliveries, async (delivery) => {
    try {
      await workflow.getHandle(deliveryWorkflowId(delivery)).describe();
      found.add(delivery.id);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  });
  return found;
}
