/** Workflow tasks that timed out: each is a step that was delayed by seconds. */
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import pLimit from 'p-limit';

/** The number of newest histories to read: reading many thousands would take longer than the trial. */
const MOST = 2_000;
const AT_ONCE = 8;
const TIMED_OUT = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT;

/** @returns the number in the newest histories of this server */
export async function countTaskTimeouts(address: string): Promise<number> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const found: { readonly workflowId: string; readonly runId: string }[] = [];
    for await (const { workflowId, runId } of client.workflow.list()) {
      found.push({ workflowId, runId });
      if (found.length >= MOST) break;
    }
    let count = 0;
    await pLimit(AT_ONCE).map(found, async ({ workflowId, runId }) => {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      count += (events ?? []).filter(({ eventType }) => eventType === TIMED_OUT).length;
    });
    return count;
  } finally {
    await connection.close();
  }
}
