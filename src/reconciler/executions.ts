/**
 * Temporal's knowledge of workflows. The description of a workflow is strongly consistent, so it decides. The list of
 * workflows lags behind, so it only hints.
 */
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import proto from '@temporalio/proto';
import { type DeliveryActivities, webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { recoveryChangedSignal } from '../../workflows/recovery-types.ts';
import { releaseChangedSignal } from '../../workflows/release-types.ts';
import { UserError } from '../lib/user-error.ts';
import { READ_DEADLINE_MS } from '../temporal/deadlines.ts';
import { pauseIn } from '../temporal/paused.ts';
import { causeOf } from '../temporal/rejection.ts';
import type { WorkflowFound } from './verdict.ts';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;
const { PENDING_ACTIVITY_STATE_SCHEDULED } = proto.temporal.api.enums.v1.PendingActivityState;
const { PENDING_WORKFLOW_TASK_STATE_STARTED } = proto.temporal.api.enums.v1.PendingWorkflowTaskState;

export type Executions = ReturnType<typeof createExecutions>;

/**
 * Temporal's list of workflows is unavailable, or was refused. The list has its own store: other calls may be
 * answered.
 */
export class ListUnreadable extends UserError {
  override readonly name = 'ListUnreadable';
}

/** How many of the latest events of a workflow are read: its reaction to the last signal is among them. */
const LATEST_EVENTS = 20;
/** Workflows per page of the list: the most that Temporal returns. */
const PAGE = 1_000;
/** By this attempt a failing workflow task has been replayed from the whole history, not from a worker's cache. */
const FAILING_ATTEMPTS = 3;
const CHANGES: readonly string[] = [webhookChangedSignal, releaseChangedSignal, recoveryChangedSignal];
/** The identities of the server when it ends a workflow by itself, such as at the maximum length of a history. */
const SERVER_IDENTITIES = ['history-service', 'history-resetter', 'worker-service'];

/** @param taskQueue the task queue of the listed workflows: others in the namespace are not Waybill's */
export function createExecutions(client: Client, taskQueue: string) {
  const { workflowService } = client;
  const { namespace } = client.options;
  const queue = taskQueue.replaceAll("'", "''");
  const bounded = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + READ_DEADLINE_MS, call);

  /**
   * The workflows that meet a condition, page by page, and when each ended; the beginning of 1970 while it runs.
   * @throws ListUnreadable
   */
  async function* list(condition: string) {
    const query = `WorkflowType IN ('deliverEvent', 'recoverWebhook') AND TaskQueue = '${queue}' AND ${condition}`;
    let nextPageToken: Uint8Array = new Uint8Array();
    do {
      const page = await bounded(() =>
        workflowService.listWorkflowExecutions({ namespace, query, pageSize: PAGE, nextPageToken }),
      ).catch((error: unknown) => {
        throw new ListUnreadable(`Temporal's list of workflows cannot be read: ${causeOf(error)}`);
      });
      yield (page.executions ?? []).map(({ execution, closeTime }) => ({
        workflowId: execution?.workflowId ?? '',
        closedAt: new Date(Number(closeTime?.seconds ?? 0) * 1_000),
      }));
      nextPageToken = page.nextPageToken ?? new Uint8Array();
    } while (nextPageToken.length > 0);
  }

  async function termination(workflowId: string, runId: string): Promise<WorkflowFound> {
    const { history } = await bounded(() =>
      workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: { workflowId, runId },
        historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
      }),
    );
    const event = history?.events?.at(-1)?.workflowExecutionTerminatedEventAttributes;
    const by = event?.identity ?? '';
    if (SERVER_IDENTITIES.includes(by)) return { as: 'ended' };
    return { as: 'terminated', by, comment: event?.reason ?? '' };
  }

  /** The latest events of a workflow, the latest first. */
  async function latestEvents(workflowId: string) {
    const { history } = await bounded(() =>
      workflowService.getWorkflowExecutionHistoryReverse({
        namespace,
        execution: { workflowId },
        maximumPageSize: LATEST_EVENTS,
      }),
    );
    return history?.events ?? [];
  }

  return {
    /** The id of the namespace; it changes if the namespace, or the whole server, was recreated. */
    async namespaceId(): Promise<string> {
      const { namespaceInfo } = await bounded(() => workflowService.describeNamespace({ namespace }));
      return namespaceInfo?.id ?? '';
    },

    /** The latest run under a workflow id. */
    async find(workflowId: string): Promise<WorkflowFound> {
      try {
        const { status, runId, raw } = await bounded(() => client.workflow.getHandle(workflowId).describe());
        switch (status.name) {
          case 'COMPLETED':
          case 'FAILED':
          case 'TIMED_OUT':
            return { as: 'ended' };
          case 'CANCELLED':
            return { as: 'canceled', by: '', comment: '' };
          case 'TERMINATED':
            return await termination(workflowId, runId);
          default: {
            const pause = pauseIn(workflowId, raw);
            if (pause !== null) return { as: 'running', asleep: false, failing: false, atWork: false, pause };
            return {
              as: 'running',
              asleep: status.name === 'RUNNING' && isAsleep(raw),
              failing: (raw.pendingWorkflowTask?.attempt ?? 0) >= FAILING_ATTEMPTS,
              atWork: raw.pendingWorkflowTask?.state === PENDING_WORKFLOW_TASK_STATE_STARTED,
            };
          }
        }
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return { as: 'missing' };
        throw error;
      }
    },

    /** The event of the last task that a worker has completed; empty if it is not among the latest events. */
    async lastCompletedTask(workflowId: string): Promise<string> {
      const events = await latestEvents(workflowId);
      const completed = events.find((event) => event.workflowTaskCompletedEventAttributes);
      return completed?.eventId?.toString() ?? '';
    },

    /**
     * Whether a running workflow got the signal of a change, handled it and did nothing. Then Temporal was set back,
     * and the worker takes new events for events that it knows.
     */
    async isUnresponsive(workflowId: string): Promise<boolean> {
      let handled = false;
      for (const event of await latestEvents(workflowId)) {
        if (event.activityTaskScheduledEventAttributes || event.activityTaskCancelRequestedEventAttributes)
          return false;
        if (event.workflowTaskCompletedEventAttributes) handled = true;
        const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
        if (signal !== null && signal !== undefined && CHANGES.includes(signal)) return handled;
      }
      return false;
    },

    /**
     * The workflows of deliveries and recoveries that were terminated or canceled since a time, by the list.
     */
    endedExternally: (since: Date) =>
      list(`ExecutionStatus IN ('Terminated', 'Canceled') AND CloseTime >= '${since.toISOString()}'`),
    /** The running workflows of deliveries and recoveries, by the list. */
    running: () => list(`ExecutionStatus = 'Running'`),
  };
}

type Description = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['describe']>>['raw'];

/** The activity that mails: between its tries it waits for the mail server, and no signal ends that wait. */
const MAILS: keyof DeliveryActivities = 'mailDeactivation';

/**
 * Whether a workflow does nothing before a future time or a signal. A workflow that mails is not asleep. Nor is a
 * workflow asleep if an operator has paused one of its activities.
 */
function isAsleep({ pendingActivities, pendingWorkflowTask }: Description): boolean {
  if (pendingWorkflowTask !== null && pendingWorkflowTask !== undefined) return false;
  return (pendingActivities ?? []).every(
    ({ activityType, state, paused, nextAttemptScheduleTime: next }) =>
      activityType?.name !== MAILS &&
      state === PENDING_ACTIVITY_STATE_SCHEDULED &&
      paused !== true &&
      next !== null &&
      next !== undefined &&
      Number(next.seconds ?? 0) * 1_000 > Date.now(),
  );
}
