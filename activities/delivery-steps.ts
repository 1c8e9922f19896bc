/**
 * The steps of a delivery on our own database.
 * @module
 */
import type { Logger } from 'pino';
import * as deliveries from '../src/db/deliveries.ts';
import type { Pool } from '../src/db/pool.ts';
import { isOpen, type StoredState } from '../src/domain/delivery-state.ts';
import type {
  CompensationResult,
  DeliveryActivities,
  DeliverySituation,
  FinalState,
  SpentReason,
} from '../workflows/delivery-types.ts';

/** What the steps receive. */
export interface DeliveryStepsDeps {
  readonly sql: Pool;
  readonly log: Logger;
  /** Wakes the relay after a COMMIT that wrote an outbox row. */
  readonly notifyOutbox: () => void;
}

type Steps = Pick<DeliveryActivities, 'readDelivery' | 'holdDelivery' | 'compensate' | 'closeDelivery'>;

/** Makes the steps. */
export function createDeliverySteps(deps: DeliveryStepsDeps): Steps {
  async function readDelivery(input: { deliveryId: string; windowMs: number }): Promise<DeliverySituation> {
    const { deliveryId, windowMs } = input;
    const delivery = await deliveries.loadForAttempt(deps.sql, deliveryId);
    if (delivery === undefined) return { open: false, state: 'canceled' };
    if (!isOpen(delivery.state)) return { open: false, state: finalState(delivery.state) };
    const windowEndsAt =
      delivery.windowStartedAt === null ? null : delivery.windowStartedAt.getTime() + windowMs;
    return {
      open: true,
      readAt: Date.now(),
      webhook: delivery.deletedAt !== null ? 'deleted' : delivery.active ? 'active' : 'inactive',
      generationChanged: delivery.attemptsMade > 0 && delivery.generation !== delivery.lastGeneration,
      attemptsMade: delivery.attemptsMade,
      spent: spentReason(delivery, windowEndsAt),
      windowEndsAt,
      nextAttemptAt: delivery.nextAttemptAt?.getTime() ?? null,
      lastError: delivery.lastError,
    };
  }

  return {
    readDelivery,
    async holdDelivery(input) {
      await deliveries.startWindow(deps.sql, input.deliveryId, new Date());
      return await readDelivery(input);
    },
    async compensate(deliveryId): Promise<CompensationResult> {
      const done = await deliveries.compensate(deps.sql, deliveryId, new Date());
      if (done.deactivatedGeneration !== null) deps.notifyOutbox();
      return { ...done, state: finalState(done.state) };
    },
    async closeDelivery({ deliveryId, state, alarm }) {
      const closed = await deliveries.closeDelivery(deps.sql, deliveryId, state, new Date());
      if (alarm && closed === 'expired') {
        deps.log.error({ deliveryId, alarm: 'windowLost' }, 'a delivery expired by an outage of ours');
      }
      return finalState(closed);
    },
  };
}

/** Read from our own records: Temporal's failures do not tell whose fault it was. */
function spentReason(
  delivery: deliveries.DeliveryForAttempt,
  windowEndsAt: number | null,
): SpentReason | null {
  if (delivery.attemptsMade === 0 || delivery.nextAttemptAt !== null) return null;
  if (delivery.lastOutcome === 'gone') return 'gone';
  const late =
    windowEndsAt !== null &&
    delivery.lastStartedAt !== null &&
    delivery.lastStartedAt.getTime() > windowEndsAt;
  return late ? 'windowLost' : 'retriesExhausted';
}

function finalState(state: StoredState): FinalState {
  if (state === 'pending' || state === 'retrying')
    throw new Error(`a delivery in state ${state} has not ended`);
  return state;
}
