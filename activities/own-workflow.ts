import { Context } from '@temporalio/activity';

/** The id of the workflow that the present activity is a part of. */
export function ownWorkflowId(): string {
  const { workflowExecution } = Context.current().info;
  if (workflowExecution === undefined) throw new Error('This activity is made for a workflow.');
  return workflowExecution.workflowId;
}
