/**
 * The steps of a delivery on our own database.
 * @module
 */
import type { Logger } from 'pino';
import type { Pool } from '../src/db/pool.ts';
import { compensate } from '../src/db/webhooks/compensation.ts';
import * as deliveries from '../src/db/webhooks/deliveries.ts';
import { isOpen, type StoredState } from '../src/domain/delivery-state.ts';
import type {
  CompensationResult,
  DeliveryActivities,
  DeliverySituation,
  FinalState,
  ReadDeliveryInput,
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
  async function readDelivery(input: ReadDeliveryInput): Promise<DeliverySituation> {
    const { deliveryId, windowMs } = input;
    const delivery = await deliveries.loadForAttempt(deps.sql, deliveryId);
    if (delivery === undefined) return { open: false, state: 'canceled' };
    if (!isOpen(delivery.state)) return { open: false, state: finalState(delivery.state) };
    const windowEndsAt =
      delivery.windowStartedAt === null ? null : delivery.windowStartedAt.getTime() + windowMs;
    return {
      open: true,
      clock: 'database',
      readAt: delivery.now.getTime(),
      webhook: delivery.deletedAt !== null ? 'deleted' : delivery.active ? 'active' : 'inactive',
      attemptsMade: delivery.attemptsMade,
      spent: spentReason(delivery, windowEndsAt),
      windowEndsAt,
      ...nextAttemptOf(delivery, input.firstWaitMs),
      lastError: delivery.lastError,
    };
  }

  return {
    readDelivery,
    async holdDelivery(input) {
      await deliveries.startWindow(deps.sql, input.deliveryId);
      return await readDelivery(input);
    },
    async compensate(deliveryId): Promise<CompensationResult> {
      const done = await compensate(deps.sql, deliveryId);
      if (done.deactivatedGeneration !== null) deps.notifyOutbox();
      return { ...done, state: finalState(done.state) };
    },
    async closeDelivery({ deliveryId, state, alarm }) {
      const { state: after, closed } = await deliveries.closeDelivery(deps.sql, deliveryId, state);
      if (alarm && closed) {
        deps.log.error(
          { deliveryId, alarm: 'windowLost' },
          'a delivery expired because of an outage of ours',
        );
      }
      return finalState(after);
    },
  };
}

/**
 * When the next attempt is due. A change of the webhook leads to one at once, but not sooner than the policy's first
 * wait after the last one: a webhook switched on and off again and again must not spend the retries.
 */
function nextAttemptOf(
  delivery: deliveries.DeliveryForAttempt,
  firstWaitMs = 0,
): { generationChanged: boolean; nextAttemptAt: number | null } {
  const planned = delivery.nextAttemptAt?.getTime() ?? null;
  const changed = delivery.attemptsMade > 0 && delivery.generation !== delivery.lastGeneration;
  const earliest = (delivery.lastAttemptAt?.getTime() ?? 0) + firstWaitMs;
  if (!changed || earliest <= delivery.now.getTime()) {
    return { generationChanged: changed, nextAttemptAt: planned };
  }
  return {
    generationChanged: false,
    nextAttemptAt: planned === null ? earliest : Math.min(planned, earliest),
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
  return late || delivery.windowLost ? 'windowLost' : 'retriesExhausted';
}

function finalState(state: StoredState): FinalState {
  if (state === 'pending' || state === 'retrying')
    throw new Error(`a delivery in state ${state} has not ended`);
  return state;
}
