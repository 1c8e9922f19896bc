/**
 * The steps of a delivery on our own database.
 * @module
 */
import type { Logger } from 'pino';
import { type DeliverySituation, finalState, situationOf } from '../src/attempt/situation.ts';
import type { Pool } from '../src/db/pool.ts';
import { loadForAttempt } from '../src/db/webhooks/attempts.ts';
import { compensate } from '../src/db/webhooks/compensation.ts';
import * as deliveries from '../src/db/webhooks/deliveries.ts';
import type {
  CompensationResult,
  DeliveryActivities,
  ReadDeliveryInput,
} from '../workflows/delivery-types.ts';

/** What the steps receive. */
export interface DeliveryStepsDeps {
  readonly sql: Pool;
  readonly log: Logger;
}

type Steps = Pick<DeliveryActivities, 'readDelivery' | 'holdDelivery' | 'compensate' | 'closeDelivery'>;

/** Makes the steps. */
export function createDeliverySteps(deps: DeliveryStepsDeps): Steps {
  async function readDelivery(input: ReadDeliveryInput): Promise<DeliverySituation> {
    const { deliveryId, windowMs, firstWaitMs = 0 } = input;
    return situationOf(await loadForAttempt(deps.sql, deliveryId), { windowMs, firstWaitMs });
  }

  return {
    readDelivery,
    async holdDelivery(input) {
      await deliveries.startWindow(deps.sql, input.deliveryId);
      return await readDelivery(input);
    },
    async compensate(deliveryId): Promise<CompensationResult> {
      const done = await compensate(deps.sql, deliveryId);
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
