/** Whether Temporal accepts the polls of this process. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { READ_DEADLINE_MS } from './deadlines.ts';

const { TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/**
 * Workflow tasks alone are looked at: they take moments, while attempts may fill every place of their worker, which
 * then does not poll.
 * @param identity of the worker, by which Temporal lists it
 * @returns a function that resolves to whether Temporal has accepted a poll since it was last called; true if it
 * does not say, for the question may be forbidden where polls are not
 */
export function ownPolls(client: Client, taskQueue: string, identity: string): () => Promise<boolean> {
  const { namespace } = client.options;
  let last = '';
  return async () => {
    const queue = await client
      .withDeadline(Date.now() + READ_DEADLINE_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: taskQueue },
          taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
        }),
      )
      .catch(() => null);
    if (queue === null) return true;
    const own = queue.pollers.find((each) => each.identity === identity)?.lastAccessTime;
    if (own === null || own === undefined) return false;
    // By Temporal's clock, which may differ from this one.
    const polledAt = `${own.seconds}.${own.nanos}`;
    if (polledAt === last) return false;
    last = polledAt;
    return true;
  };
}
