/** Deliveries that a batch handed back: each waits in the outbox for a workflow of its own. */
import type { Sql } from '../pool.ts';
import { unclaimed } from './claim.ts';
import { type ClaimedDelivery, leaseEnd, receiverHost } from './outbox.ts';
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
 * What is due within this time gets its workflow shortly before it is due, in seconds. Of a hundred receivers that fail together
 * the second attempts fall due together, too: as timers of a hundred workflows they would end in the same second, whereas the
 * relay starts them at a pace. What is due later is to be seen and steered in Temporal until then.
 */
const WAITS_HERE_SECONDS = 60;
/** How long before; more than passes between two looks of a relay that has nothing to do. In seconds. */
const AHEAD_SECONDS = 2;

/** Deliveries `d` that were handed back and wait, and when they are due, as the index `deliveries_handed_back` has them. */
export const handedBack = (sql: Sql) => ({
  waiting: sql`d.dispatched_at is null and d.handed_back_at is not null`,
  due: sql`coalesce(d.next_attempt_at, d.handed_back_at)`,
});

/** The first of a queue `q` that are due then and that nobody has claimed, as SQL. */
function firstOf(sql: Sql, when: ReturnType<typeof sql>, limit: number) {
  const { waiting, due } = handedBack(sql);
  return sql`
    (select d.id, ${due} as due from deliveries d
     where ${waiting} and d.eshop_id = q.eshop_id and d.webhook_id = q.webhook_id and ${due} ${when}
       and ${unclaimed(sql)}
     order by ${due} limit ${limit})`;
}

/** How much is late. */
export interface Overdue {
  /** Deliveries with something due, as far as they were counted. */
  readonly count: number;
  /** For how long the first of them, in milliseconds. */
  readonly lateMs: number;
}

/** The most that are counted: of one webhook, and of all together. */
const MOST_OF_ONE = 500;
const MAX_COUNTED_ROWS = 5_000;

/**
 * Counts deliveries that were handed back and have something due: an attempt (the first, if their batch was ended before making it), or
 * their end after a failure for good. Those of inactive webhooks do not count: a workflow of their own would have to wait too.
 */
export async function countOverdue(sql: Sql): Promise<Overdue> {
  const { waiting } = handedBack(sql);
  const [row] = await sql<Overdue[]>`
    with recursive
    ${waitingWebhooks(sql, waiting)}
    select count(*)::int as count, coalesce(extract(epoch from now() - min(due)) * 1000, 0)::float8 as late_ms
    from (
      select head.due from queues q
      join webhooks w on w.id = q.webhook_id and w.active
      cross join lateral ${firstOf(sql, sql`<= now()`, MOST_OF_ONE)} head
      limit ${MAX_COUNTED_ROWS}) d`;
  return row ?? { count: 0, lateMs: 0 };
}

/**
 * Claims deliveries that were handed back, by turns as {@link claimDeliveries} does: every e-shop's first before any
 * e-shop's second, and within an e-shop every webhook's. What is due goes before what is not, and among equals deliveries
 * of active webhooks before those that would only wait; within a webhook the first due goes first.
 */
export async function claimHandedBack(sql: Sql, limit: number): Promise<HandedBackDelivery[]> {
  const { waiting } = handedBack(sql);
  return await sql<HandedBackDelivery[]>`
    with recursive
    ${waitingWebhooks(sql, waiting)},
    heads as (
      select q.eshop_id, head.id, head.due, w.active,
             row_number() over (partition by q.webhook_id order by head.due, head.id) as turn
      from queues q join webhooks w on w.id = q.webhook_id cross join lateral (
        ${firstOf(sql, sql`<= now() + make_interval(secs => ${AHEAD_SECONDS})`, limit)} union all
        ${firstOf(sql, sql`> now() + make_interval(secs => ${WAITS_HERE_SECONDS})`, limit)}) head),
    turns as (
      select id, due, active,
             row_number() over (partition by eshop_id, due > now() order by turn, not active, due, id) as turn
      from heads),
    chosen as (
      select d.id from (select * from turns order by due > now(), turn, not active, due limit ${limit}) t
      join deliveries d on d.id = t.id
      where ${waiting} and ${unclaimed(sql)}
      for update of d skip locked)
    update deliveries d set claimed_until = ${leaseEnd(sql)}
    from chosen where d.id = chosen.id
    returning d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.attempts_made, d.last_attempt_at, d.last_status,
      d.last_error, d.next_attempt_at, d.traceparent, ${receiverHost(sql, sql`d.webhook_id`)}`;
}
