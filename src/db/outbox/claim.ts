/**
 * Decides which deliveries are claimed next. The queue is in the table `deliveries`. One statement claims deliveries
 * of a class, by turns, and only as many as can be attempted at once.
 */
import type { Quotas } from '../../concurrency/limits.ts';
import type { Sql } from '../connection/pool.ts';
import { pausedWebhooks } from '../pauses.ts';
import { isBlocked } from './ordering.ts';
import {
  asyncCommit,
  CLASS,
  type DeliveryClass,
  leaseEnd,
  type QueuedDelivery,
  queuedColumns,
  unclaimed,
} from './outbox.ts';

export interface ClaimLimits {
  readonly class: DeliveryClass;
  readonly limit: number;
  /** The most to take of each e-shop and webhook; default: any number. */
  readonly quotas?: Quotas;
}

export interface Claim {
  readonly deliveries: readonly QueuedDelivery[];
  /** More deliveries could have been claimed, or other relays are claiming them at this moment. */
  readonly more: boolean;
}

const WITHOUT_END = 2 ** 31 - 1;
const UNBOUNDED: Quotas = {
  eshop: WITHOUT_END,
  webhook: WITHOUT_END,
  eshops: new Map(),
  webhooks: new Map(),
};

/**
 * How many rows a claim reads: `ROWS_READ` of all webhooks together, roughly, and `ROWS_READ_OF_EACH` of each webhook
 * at least. Too high: more time. Too low: uneven turns.
 */
const ROWS_READ = 2_000;
const ROWS_READ_OF_EACH = 4;

/**
 * Claims deliveries of one class under a lease, by turns. The first delivery of every e-shop comes before the second
 * of any e-shop; within an e-shop, the first of every webhook comes before the second of any webhook. Ties are broken
 * by chance, once for each e-shop and once for each of its webhooks, so that none is always first. Within a webhook
 * the delivery that was due first goes first. The cost grows with the webhooks that have waiting deliveries, not with
 * their deliveries, nor with those stored: one step in the index `deliveries_waiting` finds each webhook.
 */
export async function claimDeliveries(sql: Sql, limits: ClaimLimits): Promise<Claim> {
  const { limit, quotas = UNBOUNDED } = limits;
  // While a webhook is paused, its deliveries are not claimed for an attempt, but still for their workflow.
  const isForAttempt = limits.class <= CLASS.recovered;
  const waiting = sql`d.dispatched_at is null and d.class = ${limits.class}::smallint`;
  // Any further condition for claiming a delivery belongs here.
  const goesOn = sql`and exists (select from recoveries r where r.id = d.recovery_id and r.state <> 'paused')`;
  const claimable = sql`${waiting} and d.due_at <= now() and ${unclaimed(sql, 'd')}
    ${limits.class === CLASS.recovered ? goesOn : sql``}`;
  const rows = await sql<((QueuedDelivery | { readonly id: null }) & Pick<Claim, 'more'>)[]>`
    with recursive
    webhooks_waiting as (
      (select d.eshop_id, d.webhook_id from deliveries d where ${waiting} order by d.eshop_id, d.webhook_id limit 1)
      union all
      select next.eshop_id, next.webhook_id from webhooks_waiting w cross join lateral (
        select d.eshop_id, d.webhook_id from deliveries d
        where ${waiting} and (d.eshop_id, d.webhook_id) > (w.eshop_id, w.webhook_id)
        order by d.eshop_id, d.webhook_id limit 1) next),
    quotas as materialized (
      select w.eshop_id, w.webhook_id, random() as tiebreak, coalesce(e.quota, ${quotas.eshop}::int) as of_eshop,
             least(coalesce(h.quota, ${quotas.webhook}::int), coalesce(e.quota, ${quotas.eshop}::int),
                   2 * ${limit}::int + 1, greatest(${ROWS_READ_OF_EACH}::int, ${ROWS_READ}::int / count(*) over ())) as to_read
      from webhooks_waiting w
      left join unnest(${[...quotas.eshops.keys()]}::int[], ${[...quotas.eshops.values()]}::int[]) e (eshop_id, quota)
        on e.eshop_id = w.eshop_id
      left join unnest(${[...quotas.webhooks.keys()]}::int[], ${[...quotas.webhooks.values()]}::int[]) h (webhook_id, quota)
        on h.webhook_id = w.webhook_id
      ${isForAttempt ? sql`where w.webhook_id <> all(${pausedWebhooks(sql)})` : sql``}),
    heads as materialized (
      select r.*, head.id, head.due_at, row_number() over (partition by r.webhook_id order by head.due_at, head.id) as nth
      from quotas r cross join lateral (
        select d.id, d.due_at from deliveries d
        where d.eshop_id = r.eshop_id and d.webhook_id = r.webhook_id and ${claimable}
        order by d.due_at, d.id limit r.to_read) head),
    turns as (
      select heads.*, row_number() over (partition by eshop_id order by nth, tiebreak, id) as turn from heads),
    candidates as materialized (
      -- By chance again: taking the lowest tiebreak of its webhooks would favor an e-shop with many of them.
      select eshop_id, webhook_id, due_at, id, row_number() over (order by turn, random()) as place
      from turns where turn <= of_eshop
      -- Twice as many as needed: another relay may be taking some of them.
      order by place limit 2 * ${limit}::int + 1),
    chosen as materialized (
      select locked.*, c.eshop_id, c.place, c.due_at from (select * from candidates order by place) c
      -- One by one, by all columns of the index: without statistics the planner would read the whole index for each.
      cross join lateral (
        select d.id from deliveries d
        where d.eshop_id = c.eshop_id and d.webhook_id = c.webhook_id and d.due_at = c.due_at and d.id = c.id
          and ${claimable}
        limit 1 for update skip locked) locked
      order by c.place limit ${limit}::int),
    claimed as (
      update deliveries d set claimed_until = ${leaseEnd(sql)}, claim_id = gen_random_uuid()
      where d.id = any(array(select id from chosen)) and ${asyncCommit(sql)}
        and d.id between (select id from chosen order by id limit 1) and (select id from chosen order by id desc limit 1)
      returning d.*)
    select ${queuedColumns(sql, 'd')},
           coalesce((select ${isBlocked(sql)} from webhooks w where w.id = d.webhook_id), false) as is_blocked,
           left_over.more
    -- At least one row: if other relays are claiming all candidates, nothing is claimed here although more are left.
    from (select (select count(*) from candidates) > (select count(*) from chosen) as more) left_over
    left join (claimed d join chosen on chosen.id = d.id) on true
    order by chosen.place`;
  const deliveries = rows.flatMap(({ more: _, ...delivery }) => (delivery.id === null ? [] : [delivery]));
  return { deliveries, more: rows[0]?.more ?? false };
}
