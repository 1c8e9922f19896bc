/** The steps of a delivery on our own database. */
import type { AttemptDeps } from '../src/attempt/begin-attempt.ts';
import { compensateAndReport } from '../src/attempt/compensate.ts';
import { type DeliverySituation, finalState, situationOf } from '../src/attempt/situation.ts';
import { leaveQueue, loadForAttempt } from '../src/db/deliveries/attempts.ts';
import * as deliveries from '../src/db/deliveries/deliveries.ts';
import { recordOperatorAction } from '../src/db/deliveries/operator-actions.ts';
import type {
  CompensationResult,
  DeliveryActivities,
  ReadDeliveryInput,
} from '../workflows/delivery-types.ts';

type Steps = Omit<DeliveryActivities, 'attemptDelivery' | 'mailDeactivation'>;

export interface DeliveryStepsDeps extends Pick<AttemptDeps, 'sql' | 'log' | 'watch'> {
  /** Checks whether the database's clock was set, and if so moves the windows. */
  readonly lookAtClock: () => Promise<void>;
}

export function createDeliverySteps(deps: DeliveryStepsDeps): Steps {
  async function readDelivery({ deliveryId, policy }: ReadDeliveryInput): Promise<DeliverySituation> {
    await leaveQueue(deps.sql, deliveryId);
    const situation = situationOf(await loadForAttempt(deps.sql, deliveryId), policy);
    if (!situation.open || situation.readAt < (situation.windowEndsAt ?? Number.POSITIVE_INFINITY))
      return situation;
    // The window may only seem to be over, because of a clock step that has not been noticed yet.
    await deps.lookAtClock();
    return situationOf(await loadForAttempt(deps.sql, deliveryId), policy);
  }

  return {
    readDelivery,
    async holdDelivery(input) {
      await deliveries.startWindow(deps.sql, input.deliveryId);
      return await readDelivery(input);
    },
    async compensate(deliveryId): Promise<CompensationResult> {
      const done = await compensateAndReport(deps.sql, deps.watch, deliveryId);
      return { ...done, state: finalState(done.state) };
    },
    async closeDelivery({ deliveryId, state, alarm }) {
      const { state: after, closed } = await deliveries.closeDelivery(
        deps.sql,
        deliveryId,
        state,
        alarm ? {} : null,
      );
      if (closed !== null) deps.watch.ended(closed, state);
      if (alarm && closed !== null) deps.watch.alarmed({ alarm: 'windowLost', deliveryId });
      return finalState(after);
    },
    async steerDelivery({ deliveryId, asked, policy }) {
      const result = await recordOperatorAction(deps.sql, deliveryId, asked, policy);
      if (result === null) {
        return {
          accepted: false,
          message: 'There is no such delivery any more.',
          at: new Date().toISOString(),
        };
      }
      const { accepted, message } = result;
      deps.log.info({ deliveryId, ...asked, accepted, message }, 'operator action');
      return result;
    },
  };
}
