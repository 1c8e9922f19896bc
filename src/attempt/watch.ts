/**
 * Who hears what becomes of attempts and deliveries: metrics and log lines are made of it. Nothing depends on it, and whoever
 * tells does not wait.
 */
import type { DeliveryForAttempt } from '../db/webhooks/attempts.ts';
import type { StoredState } from '../domain/delivery-state.ts';
import type { EventType } from '../domain/event-types.ts';
import type { ToFirstByte } from './stretches.ts';

/** An attempt whose result has been recorded. */
export interface WatchedAttempt {
  readonly delivery: Pick<DeliveryForAttempt, 'id' | 'eshopId' | 'webhookId' | 'eventType'>;
  readonly number: number;
  readonly outcome: 'success' | 'failure' | 'gone';
  /** null when no answer arrived. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Host and outcome, never a path; null after a success. */
  readonly error: string | null;
  /** null after a success, or when no attempt is left. */
  readonly nextAttemptAt: Date | null;
  /**
   * From the event's transaction to the first byte of its first request. null for any other attempt, for what a recovery
   * created, which waits on purpose, and where no connection came about.
   */
  readonly toFirstByte: ToFirstByte | null;
}

/** How a delivery ended. */
export type Ending = Exclude<StoredState, 'pending' | 'retrying'>;

/** A webhook that was deactivated since its retries were spent, or since its receiver is gone. */
export interface WatchedDeactivation {
  readonly eshopId: number;
  readonly webhookId: number;
  readonly deliveryId: string;
  readonly reason: 'retriesExhausted' | 'gone';
  readonly lastError: string | null;
}

/** Hears it. */
export interface DeliveryWatch {
  attempted(attempt: WatchedAttempt): void;
  /** A failure of Waybill itself: the attempt does not count, and is made again. */
  interrupted(): void;
  /** @param count of deliveries that ended alike (default 1) */
  ended(kind: EventType, as: Ending, count?: number): void;
  deactivated(deactivation: WatchedDeactivation): void;
}

/** Both hear everything. */
export function watchBoth(one: DeliveryWatch, other: DeliveryWatch): DeliveryWatch {
  return {
    attempted(attempt) {
      one.attempted(attempt);
      other.attempted(attempt);
    },
    interrupted() {
      one.interrupted();
      other.interrupted();
    },
    ended(kind, as, count) {
      one.ended(kind, as, count);
      other.ended(kind, as, count);
    },
    deactivated(deactivation) {
      one.deactivated(deactivation);
      other.deactivated(deactivation);
    },
  };
}

/** Hears nothing. */
export const unwatched: DeliveryWatch = {
  attempted() {},
  interrupted() {},
  ended() {},
  deactivated() {},
};
