/** Starts the workflows of queued deliveries. A start is idempotent by workflow id, so a relay may die at any point. */
import { groupedWrites } from '../db/grouped.ts';
import type { QueuedDelivery } from '../db/outbox/outbox.ts';
import { markDispatched, postponeRefused } from '../db/outbox/release.ts';
import type { QueueAttempt } from '../temporal/dispatcher.ts';
import { isRefusal } from '../temporal/refusal.ts';
import type { RelayDeps } from './deps.ts';

export interface WorkflowStarts {
  /**
   * Starts the workflow, and marks the delivery as dispatched; one that Temporal refuses is postponed.
   * @param last the attempt just made; left out: the row tells all
   * @throws the error of Temporal or the database when it is away
   */
  start(delivery: QueuedDelivery, last?: QueueAttempt): Promise<void>;
}

/** The most deliveries that are marked in one statement. */
const MARKED_TOGETHER = 100;

export function createWorkflowStarts({
  sql,
  log,
  starts,
  dispatcher,
  onAnswered,
}: Pick<RelayDeps, 'sql' | 'log' | 'starts' | 'dispatcher' | 'onAnswered'>): WorkflowStarts {
  const mark = groupedWrites<string>(MARKED_TOGETHER, (ids) => markDispatched(sql, ids));
  return {
    async start(delivery, last) {
      try {
        await starts.start(() => dispatcher.startDelivery(delivery, last));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        onAnswered();
        log.error({ deliveryId: delivery.id, err: error }, 'Temporal refused to start a delivery');
        return await postponeRefused(sql, [delivery]);
      }
      onAnswered();
      await mark(delivery.id);
    },
  };
}
