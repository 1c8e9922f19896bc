/** Who polls Temporal for work, by its own account. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { stepsQueue } from '../../workflows/delivery-types.ts';
import { READ_DEADLINE_MS } from './deadlines.ts';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

/** What every worker polls for: workflow tasks, the attempts of deliveries, and Waybill's other steps. */
export const polledKinds = ['workflows', 'attempts', 'steps'] as const;
export type PolledKind = (typeof polledKinds)[number];

/** A worker, and when it last polled, by Temporal's clock. */
export interface Poller {
  /** Process and machine: `4711@host`. */
  readonly identity: string;
  readonly seconds: number;
  readonly nanos: number;
}

/** The task queue of each kind, and the type of its tasks. */
function queueOf(taskQueue: string, kind: PolledKind) {
  return kind === 'workflows'
    ? { name: taskQueue, type: TASK_QUEUE_TYPE_WORKFLOW }
    : { name: kind === 'attempts' ? taskQueue : stepsQueue(taskQueue), type: TASK_QUEUE_TYPE_ACTIVITY };
}

/** The pollers of each kind: Temporal lists them for five minutes after their last poll. */
export async function readPollers(
  client: Client,
  taskQueue: string,
): Promise<Readonly<Record<PolledKind, readonly Poller[]>>> {
  const { namespace } = client.options;
  const of = async (kind: PolledKind) => {
    const { name, type: taskQueueType } = queueOf(taskQueue, kind);
    const queue = { namespace, taskQueue: { name }, taskQueueType };
    const { pollers } = await client.workflowService.describeTaskQueue(queue);
    return pollers.map(({ identity, lastAccessTime }) => ({
      identity: identity ?? 'unknown',
      seconds: Number(lastAccessTime?.seconds ?? 0),
      nanos: lastAccessTime?.nanos ?? 0,
    }));
  };
  return await client.withDeadline(Date.now() + READ_DEADLINE_MS, async () => {
    const [workflows, attempts, steps] = await Promise.all([of('workflows'), of('attempts'), of('steps')]);
    return { workflows, attempts, steps };
  });
}
