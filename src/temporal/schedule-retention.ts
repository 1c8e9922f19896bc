import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Logger } from 'pino';
import { RETENTION_RUN_MS, retentionId } from '../../workflows/retention-types.ts';
import { CALL_DEADLINE_MS } from './deadlines.ts';
import { pollUntilStopped } from './poll-until-stopped.ts';

/**
 * Creates the schedule only if it is missing, so that an operator's change (such as a pause) stays. Waybill goes on
 * without it: if Temporal refuses, Waybill asks again until the schedule exists.
 * @param intervalMs between two tries
 * @returns after the first try
 */
export async function scheduleRetention(client: Client, taskQueue: string, log: Logger, intervalMs?: number) {
  return await pollUntilStopped(
    async () => {
      await create(client, taskQueue);
      return 'done';
    },
    log,
    'the retention could not be scheduled: `waybill retention` runs it once',
    intervalMs,
  );
}

async function create(client: Client, taskQueue: string): Promise<void> {
  try {
    await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
      client.schedule.create({
        scheduleId: retentionId(taskQueue),
        spec: { intervals: [{ every: '1 hour' }], jitter: '5 minutes' },
        action: {
          type: 'startWorkflow',
          workflowType: 'retention',
          workflowId: retentionId(taskQueue),
          taskQueue,
          workflowRunTimeout: RETENTION_RUN_MS,
          staticSummary: 'retention of events and deliveries',
        },
        // The next run makes up for one missed while Temporal was unavailable.
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
        state: { triggerImmediately: true },
      }),
    );
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
