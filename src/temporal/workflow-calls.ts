/** Calls that start and signal workflows, each with a deadline, which ends retries to an unreachable server. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowSignalWithStartOptions,
  type WorkflowStartOptions,
} from '@temporalio/client';
import {
  type WithWorkflowArgs,
  type Workflow,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/common';
import { CALL_DEADLINE_MS, WORKFLOW_TASK_TIMEOUT_MS } from './deadlines.ts';

interface Signal {
  readonly name: string;
  readonly args?: unknown[];
  /** Default: the deadline of a call that must not be lost. */
  readonly deadlineMs?: number;
}

/** Temporal's workflow under an id: none, one that has ended, or a running one that must be replaced. */
export type Former = 'missing' | 'ended' | 'running';

/** The options for starting a workflow again; they take effect only if Temporal's state is still as it was found. */
export const startAfterActions = {
  missing: { workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE },
  ended: { workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE },
  running: {
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
  },
} as const satisfies Record<Former, object>;

/** @returns false if a workflow with this id prevents the start */
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

/** Signals a workflow, and starts it if it does not run. */
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

/** Signals a workflow; does nothing if it has ended or the server has forgotten it. */
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
