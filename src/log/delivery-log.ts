/**
 * The log of deliveries: each failed attempt, each deactivation and each alarm. Successes are counted, not logged.
 */
import type { Logger } from 'pino';
import type { DeliveryWatch } from '../attempt/watch.ts';

/** The most lines per second: enough to report a receiver that is down while thousands of deliveries wait. */
const FAILURES_PER_SECOND = 20;
const SECOND_MS = 1_000;

const alarmTexts = {
  windowLost: 'a delivery expired because of a failure of Waybill itself',
  cannotBePrepared: 'a delivery cannot be prepared',
  lastAttemptBlocked: 'the last attempt of a delivery keeps being interrupted by a failure of Waybill itself',
};

export function logDeliveries(log: Logger): DeliveryWatch {
  /** In this second. */
  let failures = 0;
  function endSecond(): void {
    const count = failures - FAILURES_PER_SECOND;
    if (count > 0) log.info({ count }, 'more attempts failed in the same second');
    failures = 0;
  }
  return {
    attempted({ delivery, number, outcome, status, error, nextAttemptAt }) {
      if (outcome === 'success') return;
      if (failures === 0) setTimeout(endSecond, SECOND_MS).unref();
      failures += 1;
      if (failures > FAILURES_PER_SECOND) return;
      const { id: deliveryId, eshopId, webhookId, eventType } = delivery;
      const result = { attempt: number, httpStatus: status, reason: error, nextAttemptAt };
      log.info({ deliveryId, eshopId, webhookId, eventType, ...result }, 'attempt failed');
    },
    // The code that interrupts logs the reason.
    interrupted() {},
    ended() {},
    deactivated({ reason: why, lastError: reason, ...which }) {
      log.warn({ ...which, why, reason }, 'webhook deactivated');
    },
    alarmed({ alarm, error, ...which }) {
      log.error({ ...which, alarm, err: error }, alarmTexts[alarm]);
    },
  };
}
