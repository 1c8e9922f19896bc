/**
 * Listeners to the results of attempts and deliveries: metrics and log lines. Nothing depends on them, and callers
 * do not wait for them.
 */
import type { AttemptRecord, DeliveryForAttempt } from '../db/webhooks/attempts.ts';
import type { FinalState } from '../domain/delivery-state.ts';
import type { EventType } from '../domain/event-types.ts';
import type { Deactivation } from '../domain/mailed.ts';
import type { ToFirstByte } from './phases.ts';

/** An attempt whose result has been recorded. */
export interface WatchedAttempt
  extends Pick<AttemptRecord, 'number' | 'outcome' | 'status' | 'durationMs' | 'error' | 'nextAttemptAt'> {
  readonly delivery: Pick<DeliveryForAttempt, 'id' | 'eshopId' | 'webhookId' | 'eventType'>;
  /**
   * From the event's transaction to the first byte of its first request. null for any other attempt, for deliveries
   * of a recovery, which wait on purpose, and where no connection was made.
   */
  readonly toFirstByte: ToFirstByte | null;
}

/** A webhook deactivated because its retries were spent, or because its receiver is gone. */
interface WatchedDeactivation
  extends Pick<Deactivation, 'webhookId' | 'deliveryId' | 'reason' | 'lastError'> {
  readonly eshopId: number;
}

/** Failures of Waybill itself that an operator has to look at: each is counted, logged, and raises an alert. */
export const alarms = ['windowLost', 'cannotBePrepared', 'lastAttemptBlocked'] as const;
interface WatchedAlarm {
  readonly alarm: (typeof alarms)[number];
  readonly deliveryId: string;
  readonly error?: unknown;
  /** How often the last attempt was tried. */
  readonly tries?: number;
}

/** A listener. */
export interface DeliveryWatch {
  attempted(attempt: WatchedAttempt): void;
  /** An internal failure: the attempt does not count and is made again. */
  interrupted(): void;
  ended(eventType: EventType, as: FinalState): void;
  deactivated(deactivation: WatchedDeactivation): void;
  alarmed(alarm: WatchedAlarm): void;
}

/** Passes everything to both. */
export function watchBoth(one: DeliveryWatch, other: DeliveryWatch): DeliveryWatch {
  function both(report: (watch: DeliveryWatch) => void): void {
    report(one);
    report(other);
  }
  return {
    attempted: (attempt) => both((watch) => watch.attempted(attempt)),
    interrupted: () => both((watch) => watch.interrupted()),
    ended: (eventType, as) => both((watch) => watch.ended(eventType, as)),
    deactivated: (deactivation) => both((watch) => watch.deactivated(deactivation)),
    alarmed: (alarm) => both((watch) => watch.alarmed(alarm)),
  };
}

/** Ignores everything. */
export const unwatched: DeliveryWatch = {
  attempted() {},
  interrupted() {},
  ended() {},
  deactivated() {},
  alarmed() {},
};
