import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { CALL_DEADLINE_MS } from './deadlines.ts';

interface Signal {
  readonly name: string;
  readonly args?: unknown[];
  /** Left out: that of a call that must not be lost. */
  readonly deadlineMs?: number;
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
