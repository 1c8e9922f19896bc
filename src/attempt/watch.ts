/**
 * Listeners to the results of attempts and deliveries, for metrics and log lines. No result depends on them, and
 * nothing waits for them.
 */
import type { DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import type { AttemptRecord } from '../db/deliveries/results.ts';
import type { FinalState } from '../domain/delivery-state.ts';
import type { EventType } from '../domain/event-types.ts';
import type { Deactivation } from '../domain/mailed.ts';
import type { ToFirstByte } from './phases.ts';

/** An attempt that has its result, even if that was not recorded because another owner has the attempt by now. */
export interface WatchedAttempt
  extends Pick<AttemptRecord, 'number' | 'outcome' | 'status' | 'durationMs' | 'error' | 'nextAttemptAt'> {
  readonly delivery: Pick<DeliveryForAttempt, 'id' | 'eshopId' | 'webhookId' | 'eventType'>;
  /**
   * The time from the event's transaction to the first byte of the first request. Null for any later attempt, for a
   * delivery of a recovery, which waits on purpose, and if no connection was made.
   */
  readonly toFirstByte: ToFirstByte | null;
}

/** A webhook that was deactivated because a delivery's retries were used up, or because its receiver is gone. */
interface WatchedDeactivation
  extends Pick<Deactivation, 'webhookId' | 'deliveryId' | 'reason' | 'lastError'> {
  readonly eshopId: number;
}

/** Failures of Waybill itself that an operator has to look at: each is counted and logged, and raises an alert. */
export const alarms = ['windowLost', 'cannotBePrepared', 'lastAttemptBlocked'] as const;
interface WatchedAlarm {
  readonly alarm: (typeof alarms)[number];
  readonly deliveryId: string;
  readonly error?: unknown;
  /** How often the delivery's last attempt was tried. */
  readonly tries?: number;
}

/** A listener to attempts and deliveries. */
export interface DeliveryWatch {
  attempted(attempt: WatchedAttempt): void;
  /** An internal failure ended an attempt: it does not count, and is made again. */
  interrupted(interruption: { readonly deliveryId: string; readonly error: unknown }): void;
  ended(eventType: EventType, as: FinalState): void;
  deactivated(deactivation: WatchedDeactivation): void;
  alarmed(alarm: WatchedAlarm): void;
}

/** Passes every report to both listeners. */
export function watchBoth(one: DeliveryWatch, other: DeliveryWatch): DeliveryWatch {
  function reportToBoth(report: (watch: DeliveryWatch) => void): void {
    report(one);
    report(other);
  }
  return {
    attempted: (attempt) => reportToBoth((watch) => watch.attempted(attempt)),
    interrupted: (interruption) => reportToBoth((watch) => watch.interrupted(interruption)),
    ended: (eventType, as) => reportToBoth((watch) => watch.ended(eventType, as)),
    deactivated: (deactivation) => reportToBoth((watch) => watch.deactivated(deactivation)),
    alarmed: (alarm) => reportToBoth((watch) => watch.alarmed(alarm)),
  };
}
