/** The calls that start and tell workflows, each with a deadline: one to an unreachable server would be retried for long. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowSignalWithStartOptions,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { WithWorkflowArgs, Workflow } from '@temporalio/common';
import { CALL_DEADLINE_MS, WORKFLOW_TASK_TIMEOUT_MS } from './deadlines.ts';

interface Signal {
  readonly name: string;
  readonly args?: unknown[];
  /** Left out: that of a call that must not be lost. */
  readonly deadlineMs?: number;
}

/** @returns false where one of this id is in the way */
export async function startWorkflow<W extends Workflow>(
  client: Client,
  type: string,
  options: WorkflowStartOptions<W>,
): Promise<boolean> {
  const timed = { ...options, workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS };
  try {
    await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () => client.workflow.start<W>(type, timed));
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return false;
  }
}

/** Tells a workflow, which is started where it does not run. */
export async function startOrSignalWorkflow<W extends Workflow>(
  client: Client,
  type: string,
  options: WithWorkflowArgs<W, WorkflowSignalWithStartOptions>,
): Promise<void> {
  const timed = { ...options, workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS };
  await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
    client.workflow.signalWithStart<W>(type, timed),
  );
}

/** Tells a workflow; one that has ended, or that the server forgot, needs no telling. */
export async function signalWorkflow(
  client: Client,
  workflowId: string,
  { name, args = [], deadlineMs = CALL_DEADLINE_MS }: Signal,
): Promise<void> {
  try {
    await client.withDeadline(Date.now() + deadlineMs, () =>
      client.workflow.getHandle(workflowId).signal(name, ...args),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
