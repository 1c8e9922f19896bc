import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Logger } from 'pino';
import { type RetentionInput, retentionId } from '../../workflows/retention-types.ts';
import { CALL_DEADLINE_MS } from './deadlines.ts';

/**
 * Makes the schedule unless it is there, so that an operator's change (paused, say) stays. Waybill goes on without
 * it: the next start of a worker tries again.
 */
export async function scheduleRetention(client: Client, taskQueue: string, log: Logger): Promise<void> {
  const input: RetentionInput = { dryRun: false };
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
          args: [input],
          staticSummary: 'retention of events and deliveries',
        },
        // One missed while Temporal was away is made up for by the next.
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
        state: { triggerImmediately: true },
      }),
    );
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    log.warn({ err: error }, 'the retention could not be scheduled: `waybill retention` runs it once');
  }
}
