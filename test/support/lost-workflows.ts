/**
 * Workflows that Temporal loses: what a reconciler must put right.
 * @module
 */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { until } from './until.ts';

/** Deletes a workflow with all its runs, and waits until Temporal knows none. */
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

/** The ids of the runs that Temporal knows under a workflow id, as far as its list does. */
export async function runsOf(client: Client, workflowId: string): Promise<string[]> {
  const runs: string[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` }))
    runs.push(runId);
  return runs;
}
