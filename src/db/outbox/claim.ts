/**
 * Which deliveries are dispatched next. The queue is the table; one statement claims from each of its classes, by turns, and no
 * more than is attempted at once.
 */
import type { Quotas } from '../../concurrency/limits.ts';
import type { Sql } from '../pool.ts';
import { mayNotGo } from './order.ts';
import { leaseEnd, QUEUE, type Queue, type QueuedDelivery, queuedColumns, unflushed } from './outbox.ts';

/** How much a claim may take. */
export interface ClaimLimits {
  readonly queue: Queue;
  readonly limit: number;
  /** The batch that those claimed now belong to, unless they belong to one already; default: none. */
  readonly batchId?: string;
  /** Those of e-shops with at most `few` of them belong to no batch, if there are no more than `room` of those; default: none. */
  readonly alone?: { readonly few: number; readonly room: number };
  /** What is due within so many milliseconds is claimed too; default 0. */
  readonly aheadMs?: number;
  /** The most that may be taken of each e-shop and webhook; default: any number. */
  readonly quotas?: Quotas;
}

/** What a claim took. */
export interface Claim {
  readonly deliveries: readonly QueuedDelivery[];
  /** More could be claimed than was taken. */
  readonly more: boolean;
  /** How long the oldest of them has been waiting, in milliseconds; 0 where none was taken. */
  readonly waitedMs: number;
}

const WITHOUT_END = 2 ** 31 - 1;
const UNBOUNDED: Quotas = {
  eshop: WITHOUT_END,
  webhook: WITHOUT_END,
  eshops: new Map(),
  webhooks: new Map(),
};

const NONE_ALONE = { few: 0, room: 0 };

/** Rows that a claim reads: of all webhooks together, about, and of each at least. More cost time, fewer make turns uneven. */
const ROWS_READ = 2_000;
const ROWS_READ_OF_EACH = 4;

/**
 * Claims deliveries of one class under a lease, by turns: every e-shop's first before any e-shop's second, and within an e-shop
 * every webhook's first before any webhook's second. Among equals lots decide, one of each e-shop and one of each of its webhooks,
 * so that nobody is always first; within a webhook the first due goes first. Its cost depends neither on what is stored nor on how
 * much waits: the webhooks that wait are found by one step each in the index `deliveries_waiting`.
 */
export async function claimDeliveries(sql: Sql, limits: ClaimLimits): Promise<Claim> {
  const { queue, limit, batchId = null, alone = NONE_ALONE, aheadMs = 0, quotas = UNBOUNDED } = limits;
  const waiting = sql`d.dispatched_at is null and d.queue = ${queue}::smallint`;
  // Whatever else has to hold of a delivery before it can be claimed belongs here.
  const claimable = sql`${waiting} and d.due_at <= now() + make_interval(secs => ${aheadMs / 1_000}::float8)
    and (d.claimed_until is null or d.claimed_until < now())
    ${queue === QUEUE.recovered ? sql`and exists (select from recoveries r where r.id = d.recovery_id and r.state <> 'paused')` : sql``}`;
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
      -- By another lot: the least one of its webhooks' would make an e-shop with many of them first.
      select eshop_id, webhook_id, due_at, id, row_number() over (order by turn, random()) as place
      from turns where turn <= of_eshop
      -- Twice as many as are taken: another relay may be taking some of them.
      order by place limit 2 * ${limit}::int + 1),
    chosen as materialized (
      select locked.id, c.eshop_id, c.place, c.due_at from (select * from candidates order by place) c
      -- One by one, by all of the index: without statistics the planner would read it whole for each.
      cross join lateral (
        select d.id from deliveries d
        where d.eshop_id = c.eshop_id and d.webhook_id = c.webhook_id and d.due_at = c.due_at and d.id = c.id and ${claimable}
        limit 1 for update skip locked) locked
      order by c.place limit ${limit}::int),
    alone as materialized (
      select id from (select id, count(*) over (partition by eshop_id) as fellows from chosen) c where fellows <= ${alone.few}::int),
    claimed as (
      -- What has ended gets its own workflow: a batch would find nothing to do, and nobody would mark it.
      update deliveries d set claimed_until = ${leaseEnd(sql)}, batch_id = case when d.state in ('pending', 'retrying') then
        coalesce(d.batch_id,
          case when d.id not in (select id from alone) or (select count(*) from alone) > ${alone.room}::int then ${batchId}::uuid end) end
      where d.id = any(array(select id from chosen)) and ${unflushed(sql)}
        and d.id between (select id from chosen order by id limit 1) and (select id from chosen order by id desc limit 1)
      returning d.*)
    select ${queuedColumns(sql, 'd')}, coalesce((select ${mayNotGo(sql)} from webhooks w where w.id = d.webhook_id), false) as may_not_go,
           (select count(*) from candidates) > (select count(*) from claimed) as more,
           greatest(0, extract(epoch from now() - (select min(due_at) from chosen)) * 1000)::float8 as waited_ms
    from claimed d join chosen on chosen.id = d.id
    order by chosen.place`;
  const [first] = rows;
  const deliveries = rows.map(({ more: _, waitedMs: __, ...delivery }) => delivery);
  return { deliveries, more: first?.more ?? false, waitedMs: first?.waitedMs ?? 0 };
}
