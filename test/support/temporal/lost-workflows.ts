/** Workflows that Temporal loses, for the reconciler to repair. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { until } from '../until.ts';
import type { DeliveryStack } from './delivery-stack.ts';

/** Deletes a workflow with all its runs, and waits until Temporal has none. */
export async function loseWorkflow(client: Client, workflowId: string): Promise<void> {
  await until(`${workflowId} to be gone`, async () => {
    try {
      const { namespace } = client.options;
      await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
      await client.workflow.getHandle(workflowId).describe();
      return false;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || isNotFound(error)) return true;
      throw error;
    }
  });
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 5;
}

/** The ids of the runs that Temporal lists under a workflow id. */
export async function runsOf(client: Client, workflowId: string): Promise<string[]> {
  const runs: string[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    runs.push(runId);
  return runs;
}

/** Inserts a pre-order into the database only, so that Temporal does not know of it. */
export async function insertPreOrder(
  stack: Pick<DeliveryStack, 'sql' | 'eshopId'>,
  eshopOrderId: string,
  releaseAt: Date,
): Promise<void> {
  await stack.sql`
    insert into orders (
      eshop_id, eshop_order_id, status, release_at, order_type, paid, invoice_print, pick_from_quality,
      tracking_numbers, sanction, priority, disable_shipping_reorder, order_files, status_history, created_at, updated_at)
    values (${stack.eshopId}, ${eshopOrderId}, 'preOrder', ${releaseAt}, 'b2c', true, false, false,
      '{}', false, 0, false, '[]', '[]', now(), now())`;
}
