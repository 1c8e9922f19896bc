/** The workflows of a delivery stack: what they show, when they end, and the buttons of Temporal's UI. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { StoredState } from '../../../src/domain/delivery-state.ts';
import { until } from '../until.ts';
import type { DeliveryRow, StackRecords } from './stack-records.ts';

const { RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL } = proto.temporal.api.enums.v1.ResetReapplyExcludeType;

/** The workflows of deliveries. */
export function createStackWorkflows(client: Client, records: StackRecords) {
  const handleOf = async (id: string) => client.workflow.getHandle(await records.anyWorkflowId(id));

  const workflows = {
    /** Waits until the workflow tells the operator that its delivery is held. */
    untilHeld: (id: string): Promise<boolean> =>
      until('the workflow to say held', async () => {
        const attributes = (await workflows.describe(id))?.typedSearchAttributes.getAll() ?? [];
        return attributes.some((pair) => pair.value === 'held');
      }),

    untilState: (id: string, state: StoredState, timeoutMs?: number): Promise<DeliveryRow> =>
      until(
        `delivery ${state}`,
        async () => {
          const row = await records.delivery(id);
          // Its workflow is started with the result of its attempt.
          if (state === 'retrying' && row.dispatchedAt === null) return false;
          return row.state === state && row;
        },
        timeoutMs,
      ),

    /** Waits until a workflow has ended; answers its status. */
    untilEnded: (workflowId: string): Promise<string> =>
      until(`${workflowId} to end`, async () => {
        const { status } = await client.workflow.getHandle(workflowId).describe();
        return status.name !== 'RUNNING' && status.name;
      }),

    /** Waits for the end of the delivery's workflow; returns COMPLETED (also without one), FAILED or CANCELLED. */
    untilClosed: (id: string, timeoutMs?: number): Promise<string> =>
      until(
        'the workflow to end',
        async () => {
          const description = await workflows.describe(id);
          if (description === undefined) {
            const { state, dispatchedAt } = await records.delivery(id);
            return state === 'delivered' && dispatchedAt !== null && 'COMPLETED';
          }
          return description.status.name !== 'RUNNING' && description.status.name;
        },
        timeoutMs,
      ),

    /** Waits for its workflow, which is started once its first attempt has its result. */
    untilBegun: (id: string): Promise<boolean> =>
      until('its workflow', async () => (await workflows.describe(id)) !== undefined),

    /** Waits until its first attempt has failed and its workflow, the first task done, waits for the next. */
    async untilWaiting(id: string): Promise<void> {
      await workflows.untilState(id, 'retrying');
      await workflows.untilBegun(id);
      await until('its workflow to wait', async () => {
        const { events } = await (await handleOf(id)).fetchHistory();
        return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) === true;
      });
    },

    /** undefined before the workflow has been started. */
    async describe(id: string) {
      try {
        return await (await handleOf(id)).describe();
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return undefined;
        throw error;
      }
    },

    workflow: (id: string) => client.workflow.getHandle(records.workflowId(id)),

    /** Waits for its workflow, which is started once its first attempt has its result, and sends it a signal. */
    async signal(id: string, name: string, ...args: readonly unknown[]): Promise<void> {
      await workflows.untilBegun(id);
      await workflows.workflow(id).signal(name, ...args);
    },

    /** Resets a workflow to its first task, as the UI's button does. */
    /** @param signals whether the new run gets the signals again */
    async resetWorkflow(id: string, { signals = true } = {}): Promise<void> {
      const { events } = await workflows.workflow(id).fetchHistory();
      const task = events?.find((event) => event.workflowTaskCompletedEventAttributes);
      await client.workflowService.resetWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: records.workflowId(id) },
        reason: 'tried again by an operator',
        workflowTaskFinishEventId: task?.eventId ?? null,
        requestId: `${id}-reset`,
        resetReapplyExcludeTypes: signals ? [] : [RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL],
      });
    },
  };
  return workflows;
}
