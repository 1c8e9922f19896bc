/** Pauses a workflow as an operator does in Temporal. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

/** How Temporal names the operator, and the reason. */
export const PAUSED_BY = { identity: 'temporal-cli:anna@laptop', reason: 'a look at it' };

/** @returns how to unpause it */
export async function pauseWorkflow(client: Client, workflowId: string): Promise<() => Promise<void>> {
  const asked = { namespace: client.options.namespace, workflowId, ...PAUSED_BY };
  await client.workflowService.pauseWorkflowExecution({ ...asked, requestId: randomUUID() });
  return async () => {
    await client.workflowService.unpauseWorkflowExecution({ ...asked, requestId: randomUUID() });
  };
}
