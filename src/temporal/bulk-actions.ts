/**
 * Bulk actions: a batch operation of Temporal signals each workflow that a query finds. It runs in the server,
 * even if no client watches it.
 */
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import {
  deliveryStateKey,
  entityIdKey,
  eshopIdKey,
  webhookIdKey,
  webhookTypeKey,
} from '../../workflows/search-attributes.ts';
import type { OpenFilter } from '../db/deliveries/open-in-temporal.ts';
import type { ActionInput, ActionName } from '../domain/operator-action.ts';
import { CALL_DEADLINE_MS } from './deadlines.ts';
import { grpcStatusOf, NOT_FOUND } from './rejection.ts';

/**
 * The query for workflows of open deliveries in a namespace. Their start time stands for the delivery's creation.
 * @param filter by at least one condition; its `entityId` has no quotation marks or backslashes
 */
export function bulkQuery(taskQueue: string, filter: OpenFilter): string {
  const { eshopId, webhookIds, webhookType, entityId, state, since, until } = filter;
  const conditions = [
    'WorkflowType = "deliverEvent"',
    'ExecutionStatus = "Running"',
    `TaskQueue = ${JSON.stringify(taskQueue)}`,
    ...(eshopId === undefined ? [] : [`${eshopIdKey.name} = ${eshopId}`]),
    ...(webhookIds === undefined ? [] : [`${webhookIdKey.name} IN (${webhookIds.join(', ')})`]),
    ...(webhookType === undefined ? [] : [`${webhookTypeKey.name} = "${webhookType}"`]),
    ...(entityId === undefined ? [] : [`${entityIdKey.name} = "${entityId}"`]),
    ...(state === undefined ? [] : [`${deliveryStateKey.name} = "${state}"`]),
    ...(since === undefined ? [] : [`StartTime >= "${since.toISOString()}"`]),
    ...(until === undefined ? [] : [`StartTime < "${until.toISOString()}"`]),
  ];
  return conditions.join(' AND ');
}

export interface BulkStatus {
  readonly jobId: string;
  readonly state: 'running' | 'completed' | 'failed';
  /** The reason of its start, or of its stop. */
  readonly reason: string;
  readonly query: string;
  readonly total: number;
  readonly done: number;
  /** Those that could not be signaled because they had ended. */
  readonly failed: number;
}

interface BulkCommand {
  readonly jobId: string;
  readonly query: string;
  readonly action: ActionName;
  readonly input: ActionInput;
}

export type BulkActions = ReturnType<typeof createBulkActions>;

const { BatchOperationState } = proto.temporal.api.enums.v1;
const FAILED_PRECONDITION = 9;

export function createBulkActions(client: Client, identity: string) {
  const { workflowService: service } = client;
  const { namespace } = client.options;
  const bounded = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + CALL_DEADLINE_MS, call);

  return {
    count: async (query: string): Promise<number> =>
      (await bounded(() => client.workflow.count(query))).count,
    async start({ jobId, query, action, input }: BulkCommand): Promise<void> {
      await bounded(() =>
        service.startBatchOperation({
          namespace,
          jobId,
          visibilityQuery: query,
          reason: `${action} by ${input.by}${input.reason === '' ? '' : `: ${input.reason}`}`,
          signalOperation: {
            signal: action,
            input: { payloads: [defaultPayloadConverter.toPayload(input)] },
            identity,
          },
        }),
      );
    },
    /** Null if there is none with that id. */
    async read(jobId: string): Promise<BulkStatus | null> {
      const found = await orNull(
        bounded(() => service.describeBatchOperation({ namespace, jobId })),
        [NOT_FOUND],
      );
      if (found === null) return null;
      const { state, reason, query } = found;
      return {
        jobId,
        state:
          state === BatchOperationState.BATCH_OPERATION_STATE_RUNNING
            ? 'running'
            : state === BatchOperationState.BATCH_OPERATION_STATE_COMPLETED
              ? 'completed'
              : 'failed',
        reason,
        query,
        total: Number(found.totalOperationCount),
        done: Number(found.completeOperationCount),
        failed: Number(found.failureOperationCount),
      };
    },
    /** Signals already sent stay. @returns false if there is none with that id, or it has ended */
    async stop(jobId: string, reason: string): Promise<boolean> {
      const stopped = bounded(() => service.stopBatchOperation({ namespace, jobId, reason, identity }));
      return (await orNull(stopped, [NOT_FOUND, FAILED_PRECONDITION])) !== null;
    },
  };
}

/** @returns null if the server answers with one of these codes */
async function orNull<T>(asked: Promise<T>, codes: readonly number[]): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (!codes.includes(grpcStatusOf(error) ?? Number.NaN)) throw error;
    return null;
  }
}
