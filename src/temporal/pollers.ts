/** Who polls Temporal for work, by its own account. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { stepsQueue } from '../../workflows/delivery-types.ts';
import { READ_DEADLINE_MS } from './deadlines.ts';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

/** The kinds of work that every worker polls for: workflow tasks, the attempts of deliveries, and other steps. */
export const polledKinds = ['workflows', 'attempts', 'steps'] as const;
export type PolledKind = (typeof polledKinds)[number];

/** The task queue of each kind, and the type of its tasks. */
function queueOf(taskQueue: string, kind: PolledKind) {
  return kind === 'workflows'
    ? { name: taskQueue, type: TASK_QUEUE_TYPE_WORKFLOW }
    : { name: kind === 'attempts' ? taskQueue : stepsQueue(taskQueue), type: TASK_QUEUE_TYPE_ACTIVITY };
}

/**
 * The workers that poll for each kind, by process and machine (`4711@host`), and when each last did, by Temporal's
 * clock. Temporal lists them for five minutes after their last poll.
 */
async function readPollers(client: Client, taskQueue: string) {
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

/**
 * Whether Temporal accepts the polls of this process.
 * @param identity of the workers, by which Temporal lists them
 * @returns a function that resolves to the kinds of which Temporal has accepted a poll since it was last called; to
 * all kinds if Temporal does not answer, since the question may be forbidden although polls are allowed
 */
export function ownPolls(client: Client, taskQueue: string, identity: string) {
  const last = new Map<PolledKind, string>();
  return async () => {
    const pollers = await readPollers(client, taskQueue).catch(() => null);
    if (pollers === null) return polledKinds;
    return polledKinds.filter((kind) => {
      const entry = pollers[kind].find((each) => each.identity === identity);
      if (entry === undefined) return false;
      // This is Temporal's clock, which may differ from ours.
      const polledAt = `${entry.seconds}.${entry.nanos}`;
      if (polledAt === last.get(kind)) return false;
      last.set(kind, polledAt);
      return true;
    });
  };
}

/**
 * A worker is alive if it has polled within this time, in milliseconds: a poll lasts a minute. Temporal lists workers
 * for five minutes after their end.
 */
const ASKED_WITHIN_MS = 90_000;

/** The living workers of an installation. */
export async function workersSeen(client: Client, taskQueue: string) {
  const pollers = await readPollers(client, taskQueue);
  const since = Date.now() - ASKED_WITHIN_MS;
  const living = (kind: PolledKind) => pollers[kind].filter(({ seconds }) => seconds * 1_000 >= since);
  return {
    /** By their identities, process and machine: `4711@host`. */
    workers: [...new Set(polledKinds.flatMap(living).map(({ identity }) => identity))].sort(),
    /** The kinds that none of them polls for. */
    unpolled: polledKinds.filter((kind) => living(kind).length === 0),
  };
}
