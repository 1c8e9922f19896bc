/** The workers that poll Temporal for work. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { READ_DEADLINE_MS } from './deadlines.ts';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
/**
 * A living worker has polled within this time, in milliseconds: a poll lasts a minute. Temporal lists workers for
 * five minutes after their end.
 */
const ASKED_WITHIN_MS = 90_000;

/** The living workers of a task queue, by their identities (process and machine). */
export async function workersSeen(client: Client, taskQueue: string): Promise<string[]> {
  const { namespace } = client.options;
  const described = await client.withDeadline(Date.now() + READ_DEADLINE_MS, () =>
    Promise.all(
      [TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY].map((taskQueueType) =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: taskQueue },
          taskQueueType,
        }),
      ),
    ),
  );
  const pollers = described.flatMap((answer) => answer.pollers);
  const since = Date.now() - ASKED_WITHIN_MS;
  const living = pollers.filter(
    ({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1_000 >= since,
  );
  return [...new Set(living.map(({ identity }) => identity ?? 'unknown'))].sort();
}
