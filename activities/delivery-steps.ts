/** The steps of a delivery on our own database. */
import type { Logger } from 'pino';
import { type DeliverySituation, finalState, situationOf } from '../src/attempt/situation.ts';
import type { DeliveryWatch } from '../src/attempt/watch.ts';
import type { Pool } from '../src/db/pool.ts';
import { loadForAttempt } from '../src/db/webhooks/attempts.ts';
import { compensate } from '../src/db/webhooks/compensation.ts';
import * as deliveries from '../src/db/webhooks/deliveries.ts';
import { steerDelivery } from '../src/db/webhooks/operator-actions.ts';
import type {
  CompensationResult,
  DeliveryActivities,
  ReadDeliveryInput,
} from '../workflows/delivery-types.ts';

/** What the steps receive. */
export interface DeliveryStepsDeps {
  readonly sql: Pool;
  readonly log: Logger;
  readonly watch: DeliveryWatch;
}

type Steps = Pick<
  DeliveryActivities,
  'readDelivery' | 'holdDelivery' | 'compensate' | 'closeDelivery' | 'steerDelivery'
>;

/** Makes the steps. */
export function createDeliverySteps(deps: DeliveryStepsDeps): Steps {
  async function readDelivery(input: ReadDeliveryInput): Promise<DeliverySituation> {
    const { deliveryId, windowMs, firstWaitMs = 0, maxAttempts = 0 } = input;
    const delivery = await loadForAttempt(deps.sql, deliveryId);
    return situationOf(delivery, { windowMs, firstWaitMs, maxAttempts });
  }

  return {
    readDelivery,
    async holdDelivery(input) {
      await deliveries.startWindow(deps.sql, input.deliveryId);
      return await readDelivery(input);
    },
    async compensate(deliveryId): Promise<CompensationResult> {
      const { news, ...done } = await compensate(deps.sql, deliveryId);
      if (news !== null) {
        const { eventType, deactivated: reason, ...webhook } = news;
        deps.watch.ended(eventType, 'failed');
        if (reason !== null) {
          deps.watch.deactivated({ ...webhook, deliveryId, reason, lastError: done.lastError });
        }
      }
      return { ...done, state: finalState(done.state) };
    },
    async closeDelivery({ deliveryId, state, alarm }) {
      const { state: after, closed } = await deliveries.closeDelivery(deps.sql, deliveryId, state);
      if (closed !== null) deps.watch.ended(closed, state);
      if (alarm && closed !== null) {
        deps.log.error(
          { deliveryId, alarm: 'windowLost' },
          'a delivery expired because of a failure of Waybill itself',
        );
      }
      return finalState(after);
    },
    async steerDelivery({ deliveryId, asked, policy }) {
      const steered = await steerDelivery(deps.sql, deliveryId, asked, policy);
      if (steered === null) {
        return {
          accepted: false,
          sentence: 'There is no such delivery any more.',
          at: new Date().toISOString(),
        };
      }
      const { accepted, sentence } = steered;
      deps.log.info({ deliveryId, ...asked, accepted, sentence }, 'an operator steers a delivery');
      return steered;
    },
  };
}
