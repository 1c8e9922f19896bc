/** Workflows that an operator has paused in Temporal (server 1.30 and later): they do nothing until unpaused. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { deliveryWorkflowId, type NamedDelivery } from '../../workflows/delivery-id.ts';
import { eshopIdKey } from '../../workflows/search-attributes.ts';
import type { TemporalPause } from '../domain/operator-pause.ts';
import { READ_DEADLINE_MS } from './deadlines.ts';
import { isRejection } from './rejection.ts';

export interface PausedWorkflows {
  readonly count: number;
  /** One of them; null if there are none, or it is no longer paused. */
  readonly example: TemporalPause | null;
}

/** Null unless a workflow is paused now. */
export async function pauseOf(client: Client, workflowId: string): Promise<TemporalPause | null> {
  const { raw } = await client.withDeadline(Date.now() + READ_DEADLINE_MS, () =>
    client.workflow.getHandle(workflowId).describe(),
  );
  return pauseIn(workflowId, raw);
}

/** The same from a description of the workflow. */
export function pauseIn(workflowId: string, { workflowExtendedInfo }: WorkflowExecutionDescription['raw']) {
  const pause = workflowExtendedInfo?.pauseInfo;
  if (pause === null || pause === undefined) return null;
  const by = [pause.identity, pause.reason].filter(Boolean).join(': ');
  return { workflowId, by, since: new Date(Number(pause.pausedTime?.seconds ?? 0) * 1_000) };
}

/** The same for the workflow of a delivery. */
export function pauseOfDelivery(client: Client, delivery: NamedDelivery): Promise<TemporalPause | null> {
  return pauseOf(client, deliveryWorkflowId(delivery));
}

/**
 * The paused workflows of a task queue, as far as Temporal's list shows them; none on a server without pauses.
 * @param eshopId only those of this e-shop's deliveries and recoveries
 */
export async function pausedWorkflows(
  client: Client,
  taskQueue: string,
  eshopId?: number,
): Promise<PausedWorkflows> {
  const ofEshop = eshopId === undefined ? '' : ` AND ${eshopIdKey.name} = ${eshopId}`;
  const query = `ExecutionStatus = "Paused" AND TaskQueue = ${JSON.stringify(taskQueue)}${ofEshop}`;
  const bounded = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + READ_DEADLINE_MS, call);
  const { namespace } = client.options;
  try {
    const { count } = await bounded(() => client.workflow.count(query));
    const { executions } = await bounded(() =>
      client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 }),
    );
    const first = executions?.[0]?.execution?.workflowId ?? null;
    return { count, example: first === null ? null : await pauseOf(client, first).catch(() => null) };
  } catch (error) {
    // Older servers do not know the status.
    if (isRejection(error)) return { count: 0, example: null };
    throw error;
  }
}
