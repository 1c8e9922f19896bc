/** The part of deliveries and attempts that an e-shop may see, without those of deleted webhooks. */
import type { CanceledBy, DeliveryState, RecordedOutcome } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { OperatorAction, OperatorStop } from '../../domain/operator-action.ts';
import type { Origin } from '../../domain/origin.ts';
import { firstRow, type Sql } from '../connection/pool.ts';
import { waitsFor } from '../outbox/ordering.ts';
import type { DeliveryIdentity } from '../outbox/outbox.ts';
import { makesAttempts } from '../pauses.ts';
import { isOpen } from '../predicates.ts';

/** The reason why a delivery waits; times as Postgres writes them in JSON. */
export interface WaitsFor {
  readonly reason: 'order' | 'limit' | 'pause';
  /** The delivery ahead of it. */
  readonly deliveryId?: string;
  readonly since: string;
  readonly nextAttemptAt?: string | null;
}

/** A delivery as shown: `held` is derived from its webhook and from operator actions. */
export interface DeliveryLogRow {
  readonly id: string;
  readonly webhookId: number;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly entityId: string;
  /** The position of the event among all events of the record, from 1. */
  readonly sequence: number;
  /** Who made the change; null if the event is no longer kept. */
  readonly origin: Origin | null;
  /** The fields that the write changed, joined by commas; null if the event is no update. */
  readonly changed: string | null;
  readonly state: DeliveryState;
  readonly attemptsMade: number;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  /** Null while no attempt is planned: held, being attempted, or ended. */
  readonly nextAttemptAt: Date | null;
  readonly finishedAt: Date | null;
  /** Null unless it was canceled. */
  readonly canceledBy: CanceledBy | null;
  /** The delivery of a newer event; null unless it was superseded. */
  readonly supersededBy: string | null;
  /** Why its first attempt has not been made yet; null if nothing delays it. */
  readonly waitsFor: WaitsFor | null;
  /**
   * The operator stop in effect, and all operator actions, oldest first: the last one of that kind is in effect.
   * Null if there is none.
   */
  readonly operatorStop: OperatorStop | null;
  readonly operatorActions: readonly OperatorAction[] | null;
}

export interface AttemptLogRow {
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number | null;
  readonly outcome: RecordedOutcome | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly responseExcerpt: string | null;
  readonly nextAttemptAt: Date | null;
}

/** The state to show for a delivery `d` of a webhook `w`, as SQL. */
export function shownState(sql: Sql) {
  const isHeld = sql`(not ${makesAttempts(sql, 'w')} or d.operator_stop = 'hold')`;
  return sql`case when ${isOpen(sql)} and ${isHeld} then 'held' else d.state end`;
}

/** All columns of {@link DeliveryLogRow}, of deliveries `d` and their webhooks `w`, as SQL. */
export function selectDeliveries(sql: Sql) {
  return sql`
    select d.id, d.webhook_id, d.event_id, d.event_type, d.entity_id, d.sequence::float8 as sequence, e.origin, e.changed,
           ${shownState(sql)} as state, d.attempts_made,
           d.created_at, d.last_attempt_at, d.last_status, d.last_error,
           case when ${isOpen(sql)} and ${makesAttempts(sql, 'w')} and d.operator_stop is null then d.next_attempt_at end
             as next_attempt_at,
           d.finished_at, d.canceled_by, d.superseded_by, ${waitsFor(sql)} as waits_for, d.operator_stop, d.operator_actions
    from deliveries d join webhooks w on w.id = d.webhook_id
    -- One by one: each reads the partition of its event alone.
    left join lateral (select origin, changed from events where id = d.event_id offset 0) e on true`;
}

/** The e-shop of a delivery, and its workflow's name. */
export interface DeliveryTarget extends Omit<DeliveryIdentity, 'receiverHost'> {
  /** Its workflow has not reached Temporal yet, so the database decides about it. */
  readonly queued: boolean;
}

export async function deliveryTarget(sql: Sql, id: string): Promise<DeliveryTarget | null> {
  return await firstRow(sql<DeliveryTarget[]>`
    select d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.dispatched_at is null as queued
    from deliveries d where d.id = ${id}`);
}

/** A delivery with its attempts in order, or null. */
export async function findDelivery(sql: Sql, eshopId: number, id: string) {
  const [[delivery], attempts] = await Promise.all([
    sql<DeliveryLogRow[]>`
      ${selectDeliveries(sql)} where d.id = ${id} and d.eshop_id = ${eshopId} and w.deleted_at is null`,
    sql<AttemptLogRow[]>`
      select number, started_at, duration_ms, outcome, status, error, response_excerpt, next_attempt_at
      from attempts where delivery_id = ${id} order by number`,
  ]);
  return delivery === undefined ? null : { delivery, attempts };
}
