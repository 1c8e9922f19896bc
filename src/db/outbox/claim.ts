/**
 * Which deliveries are dispatched next. The table is the queue; one statement claims from a class, by turns, and no more than can be
 * attempted at once.
 */
import type { Quotas } from '../../concurrency/limits.ts';
import type { Sql } from '../pool.ts';
import { mayNotGo } from './order.ts';
import {
  CLASS,
  type DeliveryClass,
  leaseEnd,
  type QueuedDelivery,
  queuedColumns,
  unflushed,
} from './outbox.ts';

/** How much a claim may take. */
export interface ClaimLimits {
  readonly class: DeliveryClass;
  readonly limit: number;
  /** The batch of the deliveries claimed now, unless they belong to one already; default: none. */
  readonly batchId?: string;
  /**
   * Deliveries of e-shops with at most `few` of them stay out of the batch: the first `room` of them are claimed for themselves, and up
   * to `leave` left in the queue. If there are more, all are in the batch. Default: none.
   */
  readonly alone?: { readonly few: number; readonly room: number; readonly leave: number };
  /** Deliveries due within this many milliseconds are claimed too; default 0. */
  readonly aheadMs?: number;
  /** The most to take of each e-shop and webhook; default: any number. */
  readonly quotas?: Quotas;
}

/** The result of a claim. */
export interface Claim {
  readonly deliveries: readonly QueuedDelivery[];
  /** More could have been claimed, even without what was left for want of room. */
  readonly more: boolean;
  /** How long the oldest of them has been waiting, in milliseconds; 0 if none was taken. */
  readonly waitedMs: number;
}

const WITHOUT_END = 2 ** 31 - 1;
const UNBOUNDED: Quotas = {
  eshop: WITHOUT_END,
  webhook: WITHOUT_END,
  eshops: new Map(),
  webhooks: new Map(),
};

const NONE_ALONE = { few: 0, room: 0, leave: 0 };

/** The rows that a claim reads: roughly, of all webhooks together, and at least, of each. More cost time, fewer make turns uneven. */
const ROWS_READ = 2_000;
const ROWS_READ_OF_EACH = 4;

/**
 * Claims deliveries of one class under a lease, by turns: every e-shop's first before any e-shop's second, and within an e-shop every
 * webhook's first before any webhook's second. Among equals, lots decide: one for each e-shop and one for each of its webhooks, so that
 * none is always first. Within a webhook the first due goes first. The cost depends neither on the stored nor on the waiting rows: each
 * webhook with waiting deliveries is found by one step in the index `deliveries_waiting`.
 */
export async function claimDeliveries(sql: Sql, limits: ClaimLimits): Promise<Claim> {
  const { limit, batchId = null, alone = NONE_ALONE, aheadMs = 0, quotas = UNBOUNDED } = limits;
  const waiting = sql`d.dispatched_at is null and d.class = ${limits.class}::smallint`;
  // Any further condition for claiming a delivery belongs here.
  const claimable = sql`${waiting} and d.due_at <= now() + make_interval(secs => ${aheadMs / 1_000}::float8)
    and (d.claimed_until is null or d.claimed_until < now())
    ${limits.class === CLASS.recovered ? sql`and exists (select from recoveries r where r.id = d.recovery_id and r.state <> 'paused')` : sql``}`;
  const rows = await sql<(QueuedDelivery & Omit<Claim, 'deliveries'>)[]>`
    with recursive
    webhooks_waiting as (
      (select d.eshop_id, d.webhook_id from deliveries d where ${waiting} order by d.eshop_id, d.webhook_id limit 1)
      union all
      select next.eshop_id, next.webhook_id from webhooks_waiting w cross join lateral (
        select d.eshop_id, d.webhook_id from deliveries d
        where ${waiting} and (d.eshop_id, d.webhook_id) > (w.eshop_id, w.webhook_id)
        order by d.eshop_id, d.webhook_id limit 1) next),
    quotas as materialized (
      select w.eshop_id, w.webhook_id, random() as lot, coalesce(e.quota, ${quotas.eshop}::int) as of_eshop,
             least(coalesce(h.quota, ${quotas.webhook}::int), coalesce(e.quota, ${quotas.eshop}::int),
                   2 * ${limit}::int + 1, greatest(${ROWS_READ_OF_EACH}::int, ${ROWS_READ}::int / count(*) over ())) as to_read
      from webhooks_waiting w
      left join unnest(${[...quotas.eshops.keys()]}::int[], ${[...quotas.eshops.values()]}::int[]) e (eshop_id, quota)
        on e.eshop_id = w.eshop_id
      left join unnest(${[...quotas.webhooks.keys()]}::int[], ${[...quotas.webhooks.values()]}::int[]) h (webhook_id, quota)
        on h.webhook_id = w.webhook_id),
    heads as materialized (
      select r.*, head.id, head.due_at, row_number() over (partition by r.webhook_id order by head.due_at, head.id) as nth
      from quotas r cross join lateral (
        select d.id, d.due_at from deliveries d
        where d.eshop_id = r.eshop_id and d.webhook_id = r.webhook_id and ${claimable}
        order by d.due_at, d.id limit r.to_read) head),
    turns as (
      select heads.*, row_number() over (partition by eshop_id order by nth, lot, id) as turn from heads),
    candidates as materialized (
      -- By another lot: the least lot of its webhooks would favour an e-shop with many of them.
      select eshop_id, webhook_id, due_at, id, row_number() over (order by turn, random()) as place
      from turns where turn <= of_eshop
      -- Twice as many as needed: another relay may be taking some of them.
      order by place limit 2 * ${limit}::int + 1),
    chosen as materialized (
      select locked.*, c.eshop_id, c.place, c.due_at from (select * from candidates order by place) c
      -- One by one, by all columns of the index: without statistics the planner would read the whole index for each.
      cross join lateral (
        select d.id, d.batch_id from deliveries d
        where d.eshop_id = c.eshop_id and d.webhook_id = c.webhook_id and d.due_at = c.due_at and d.id = c.id and ${claimable}
        limit 1 for update skip locked) locked
      order by c.place limit ${limit}::int),
    alone as materialized (
      select id, nth from (
        select id, row_number() over (order by place) as nth, count(*) over () as of_few
        from (select id, batch_id, place, count(*) over (partition by eshop_id) as fellows from chosen) c
        where fellows <= ${alone.few}::int and batch_id is null) few
      where of_few <= ${alone.room + alone.leave}::int),
    claimed as (
      -- An ended delivery gets its own workflow: a batch would find nothing to do and never mark it.
      update deliveries d set claimed_until = ${leaseEnd(sql)}, batch_id = case when d.state in ('pending', 'retrying') then
        coalesce(d.batch_id, case when d.id not in (select id from alone) then ${batchId}::uuid end) end
      where d.id = any(array(select id from chosen where id not in (select id from alone where nth > ${alone.room}::int))) and ${unflushed(sql)}
        and d.id between (select id from chosen order by id limit 1) and (select id from chosen order by id desc limit 1)
      returning d.*)
    select ${queuedColumns(sql, 'd')}, coalesce((select ${mayNotGo(sql)} from webhooks w where w.id = d.webhook_id), false) as may_not_go,
           (select count(*) from candidates) > (select count(*) from chosen) as more,
           greatest(0, extract(epoch from now() - (select min(due_at) from chosen)) * 1000)::float8 as waited_ms
    from claimed d join chosen on chosen.id = d.id
    order by chosen.place`;
  const [first] = rows;
  const deliveries = rows.map(({ more: _, waitedMs: __, ...delivery }) => delivery);
  return { deliveries, more: first?.more ?? false, waitedMs: first?.waitedMs ?? 0 };
}
