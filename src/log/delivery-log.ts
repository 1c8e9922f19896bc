/**
 * The log of deliveries: each failed or interrupted attempt, each deactivation and each alarm. Successes are counted,
 * not logged.
 */
import type { Logger } from 'pino';
import type { DeliveryWatch } from '../attempt/watch.ts';
import { firstOfEachSecond } from '../lib/first-of-each-second.ts';

const alarmTexts = {
  windowLost: 'a delivery expired because of a failure of Waybill itself',
  cannotBePrepared: 'a delivery cannot be prepared',
  lastAttemptBlocked: 'the last attempt of a delivery keeps being interrupted by a failure of Waybill itself',
};

export function logDeliveries(log: Logger): DeliveryWatch {
  const isLoggedFailure = firstOfEachSecond((count) =>
    log.info({ count }, 'more attempts failed in the same second'),
  );
  const isLoggedInterruption = firstOfEachSecond((count) =>
    log.warn({ count }, 'more attempts were interrupted in the same second'),
  );
  return {
    attempted({ delivery, number, outcome, status, error, nextAttemptAt }) {
      if (outcome === 'success' || !isLoggedFailure()) return;
      const { id: deliveryId, eshopId, webhookId, eventType } = delivery;
      const result = { attempt: number, httpStatus: status, reason: error, nextAttemptAt };
      log.info({ deliveryId, eshopId, webhookId, eventType, ...result }, 'attempt failed');
    },
    interrupted({ deliveryId, error }) {
      if (isLoggedInterruption())
        log.warn({ deliveryId, err: error }, 'attempt interrupted by a failure of Waybill itself');
    },
    ended() {},
    deactivated({ reason: why, lastError: reason, ...which }) {
      log.warn({ ...which, why, reason }, 'webhook deactivated');
    },
    alarmed({ alarm, error, ...which }) {
      log.error({ ...which, alarm, err: error }, alarmTexts[alarm]);
    },
  };
}
