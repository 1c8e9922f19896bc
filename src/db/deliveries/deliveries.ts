/** Changes to a delivery other than attempts. Each function that records is one durable step, and repeatable. */
import type { StoredState } from '../../domain/delivery-state.ts';
import type { EventType } from '../../domain/event-types.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import { settleOrdering } from '../outbox/keep-ordering.ts';
import { windowNotBegun } from '../outbox/outbox.ts';
import { ending, hasAttemptUnderWay, isGivenUp, isOpen, seconds } from '../predicates.ts';
import type { DeliveryForAttempt } from './attempts.ts';

/**
 * Records that no attempt follows; if outages made attempts late, they are the reason.
 * @param attemptsMade as read: an attempt recorded since then keeps its own plan
 */
export async function exhaustRetries(sql: Sql, deliveryId: string, attemptsMade: number): Promise<void> {
  await sql`
    update deliveries set next_attempt_at = null, window_lost = late_ms > 0
    where id = ${deliveryId} and attempts_made = ${attemptsMade} and ${isOpen(sql, 'deliveries')}`;
}

/**
 * Reschedules an attempt that cannot be made now.
 * @param delivery as read: an attempt recorded since then keeps its own plan
 * @param wait `lostMs`: the time that its window loses by an outage, or because others than its receiver take the
 * places, in milliseconds: the webhook must not be deactivated for that
 */
export async function deferAttempt(
  sql: Sql,
  delivery: Pick<DeliveryForAttempt, 'id' | 'attemptsMade' | 'generation'>,
  wait: { readonly ms: number; readonly lostMs: number },
) {
  const { id, attemptsMade, generation } = delivery;
  await sql`
    update deliveries d set deferred_generation = ${generation},
      next_attempt_at = clock_timestamp() + ${seconds(sql, wait.ms / 1_000)}, ${windowNotBegun(sql)},
      late_ms = d.late_ms + case when d.attempts_made > 0 then ${Math.round(wait.lostMs)}::bigint else 0 end
    where d.id = ${id} and d.attempts_made = ${attemptsMade} and ${isOpen(sql)}`;
}

/** Reschedules a first attempt behind others of its record: its window begins with it (docs/interface.md, D16). */
export async function deferBehindOthers(sql: Sql, deliveryId: string, ms: number): Promise<void> {
  await sql`
    update deliveries d set next_attempt_at = clock_timestamp() + ${seconds(sql, ms / 1_000)}, window_started_at = null
    where d.id = ${deliveryId} and d.attempts_made = 0 and ${isOpen(sql)} and not ${hasAttemptUnderWay(sql)}`;
}

/** Starts the window of a delivery whose first attempt cannot be made yet. */
export async function startWindow(sql: Sql, deliveryId: string): Promise<void> {
  await sql`
    update deliveries set window_started_at = coalesce(window_started_at, clock_timestamp()) where id = ${deliveryId}`;
}

/**
 * Open → expired or canceled, and out of the queue if no dispatch was recorded. Without a deletion of the webhook, a
 * cancellation is an operator's, unless a user of the e-shop gave the delivery up. The next delivery in its ordering
 * group goes on; if that fails, the relay repairs it, since the end must be reported all the same.
 * @param loss it expires because of a failure of Waybill itself, whose `error` replaces the last failure
 * @returns the state afterwards and the event type if this call ended it
 */
export async function closeDelivery(
  sql: Pool,
  deliveryId: string,
  state: 'expired' | 'canceled',
  loss: Loss | null = null,
): Promise<{ readonly state: StoredState; readonly closed: EventType | null }> {
  const closed = await closeOpen(sql, deliveryId, state, loss);
  if (closed !== undefined) {
    if (closed.ordered) await settleOrdering(sql, { records: [deliveryId] }).catch(() => {});
    return { state, closed: closed.eventType };
  }
  const [row] = await sql<{ state: StoredState }[]>`select state from deliveries where id = ${deliveryId}`;
  return { state: row?.state ?? 'canceled', closed: null };
}

interface Loss {
  readonly error?: string;
}

/** The statement of `closeDelivery`. @returns undefined if it was not open */
export async function closeOpen(
  sql: Sql,
  deliveryId: string,
  state: 'expired' | 'canceled',
  loss: Loss | null,
): Promise<{ readonly eventType: EventType; readonly ordered: boolean } | undefined> {
  const [closed] = await sql<{ eventType: EventType; ordered: boolean }[]>`
    update deliveries d set state = ${state}, ${ending(sql)},
      dispatched_at = coalesce(d.dispatched_at, now()),
      last_error = coalesce(${loss?.error ?? null}, d.last_error),
      window_lost = ${loss !== null},
      canceled_by = case
        when ${state} <> 'canceled' then null
        when w.deleted_at is not null then 'deletion'
        when ${isGivenUp(sql)} and d.operator_actions -> -1 @> '{"user": true}' then 'user'
        else 'operator' end
    from webhooks w
    where d.id = ${deliveryId} and w.id = d.webhook_id and ${isOpen(sql)}
    returning d.event_type, w.ordering <> 'none' as ordered`;
  return closed;
}
