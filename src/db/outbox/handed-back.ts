/**
 * Deliveries that a batch handed back: each waits in the outbox for a workflow of its own.
 * @module
 */
import type { Sql } from '../pool.ts';
import { type ClaimedDelivery, LEASE_SECONDS, readableId, receiverHost } from './outbox.ts';
import { waitingWebhooks } from './waiting-webhooks.ts';

/** A delivery that a batch handed back. */
export interface HandedBackDelivery extends ClaimedDelivery {
  /** 0 where it could not be attempted. */
  readonly attemptsMade: number;
  readonly lastAttemptAt: Date | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAttemptAt: Date | null;
}

/**
 * Claims deliveries that were handed back, by turns as {@link claimDeliveries} does: every e-shop's first before any
 * e-shop's second, and within an e-shop every webhook's. What is due goes before what is not; within a webhook the first
 * due goes first.
 */
export async function claimHandedBack(sql: Sql, limit: number): Promise<HandedBackDelivery[]> {
  const waiting = sql`d.dispatched_at is null and d.handed_back_at is not null`;
  const due = sql`coalesce(d.next_attempt_at, d.handed_back_at)`;
  return await sql<HandedBackDelivery[]>`
    with recursive
    ${waitingWebhooks(sql, waiting)},
    heads as (
      select q.*, head.id, head.due, row_number() over (partition by q.webhook_id order by head.due, head.id) as turn
      from queues q cross join lateral (
        select d.id, ${due} as due from deliveries d
        where ${waiting} and d.eshop_id = q.eshop_id and d.webhook_id = q.webhook_id
          and (d.claimed_until is null or d.claimed_until < now())
        order by ${due} limit ${limit}) head),
    turns as (
      select id, due, row_number() over (partition by eshop_id, due > now() order by turn, due, id) as turn from heads),
    chosen as (
      select d.id from (select * from turns order by due > now(), turn, due limit ${limit}) t
      join deliveries d on d.id = t.id
      where ${waiting} and (d.claimed_until is null or d.claimed_until < now())
      for update of d skip locked)
    update deliveries d set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS}), readable_id = true
    from chosen where d.id = chosen.id
    returning d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, ${readableId(sql)}, d.attempts_made, d.last_attempt_at, d.last_status,
      d.last_error, d.next_attempt_at, d.traceparent, ${receiverHost(sql, sql`d.webhook_id`)}`;
}
