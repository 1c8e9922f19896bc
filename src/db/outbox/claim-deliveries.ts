/**
 * Which deliveries are handed over next. The queue is the table: a claim takes turns, and takes no more than is attempted
 * at once.
 */
import type { Sql } from '../pool.ts';
import {
  type Claim,
  type ClaimLimits,
  type ClaimRow,
  claimedColumns,
  claimOf,
  handedOverLately,
  returned,
  UNBOUNDED,
  unclaimed,
  waits,
} from './claim.ts';
import { claimFew } from './claim-few.ts';
import { leaseEnd } from './outbox.ts';
import { waitingWebhooks } from './waiting-webhooks.ts';

/**
 * More than the bound for those e-shops that have nothing in flight: an e-shop that sends little never waits behind one that
 * sends much.
 */
const RESERVED = 8;

/** How many rows a claim looks at: of each webhook at least; of all together, roughly, and for each one that it may take. */
const LEAST_DEPTH = 4;
const LEAST_HEADS = 1_000;
const HEADS_PER_PLACE = 4;

/**
 * Claims undispatched deliveries under a lease, by turns: every e-shop's first before any e-shop's second, and within an
 * e-shop every webhook's first before any webhook's second; what is in flight already counts as turns taken. Ties are
 * broken at random, so that nobody is always first; within a webhook the oldest goes first.
 *
 * The webhooks that wait are found by steps in the index `deliveries_queued`, one step each, so that the cost does not
 * depend on how much is waiting. Of two relays that claim at the same moment each may fill the bound by itself.
 */
export async function claimDeliveries(sql: Sql, limits: ClaimLimits): Promise<Claim> {
  return (await claimFew(sql, limits)) ?? (await claimByTurns(sql, limits));
}

/** The same, without looking first whether few wait. */
export async function claimByTurns(sql: Sql, limits: ClaimLimits): Promise<Claim> {
  const { limit, handedOver = null, countTo = 0, batchId = null, inFlight = UNBOUNDED, perTurn = 1 } = limits;
  const roomTo = (bound: number | null) => sql`
    greatest(0, least(${limit}::int, coalesce(${bound}::int, ${limit}::int + h.count) - h.count))`;
  // Of what is recovered few wait at a time: they are in the index of what is fresh too, and passed over.
  const queued = sql`
    ${waits(sql)} and d.recovery_id is ${limits.recovered ? sql`not null` : sql`null`}`;
  const lately = handedOverLately(sql);
  const claimable = sql`${queued} and ${unclaimed(sql)}
    ${limits.recovered ? sql`and exists (select from recoveries r where r.id = d.recovery_id and r.state <> 'paused')` : sql``}`;
  const rows = await sql<ClaimRow[]>`
    with recursive
    -- A step in the index for each batch that has not ended, whatever the planner thinks of their number.
    dispatched as materialized (
      select d.eshop_id, d.webhook_id, d.dispatched_at, d.window_started_at is null and d.next_attempt_at is null as unattempted
      from deliveries d where d.batch_id is null and d.state = 'pending' and ${lately}
      union all
      select d.* from batches b cross join lateral (
        select d.eshop_id, d.webhook_id, d.dispatched_at, false from deliveries d
        where d.batch_id = b.id and d.state in ('pending', 'retrying') and d.state = 'pending' and ${lately}
        offset 0) d
      where b.finished_at is null),
    in_flight as materialized (
      select d.*, w.host from dispatched d join webhooks w on w.id = d.webhook_id
      where w.active and w.deleted_at is null),
    handed_over as materialized (
      select count(*)::int as count, coalesce(extract(epoch from now() - min(dispatched_at)) * 1000, 0)::float8 as ms
      from in_flight where unattempted),
    room as materialized (
      select ${roomTo(handedOver)} as size, ${roomTo(handedOver === null ? null : handedOver + RESERVED)} as for_first
      from handed_over h),
    ${waitingWebhooks(sql, queued)},
    depth as materialized (
      select greatest(${LEAST_DEPTH}, least(
               ceil(2.0 * (select for_first from room) / greatest(1, count(distinct eshop_id))),
               greatest(${LEAST_HEADS}, ${HEADS_PER_PLACE} * (select for_first from room)) / greatest(1, count(*))))::int as rows
      from queues),
    of_eshops as (select eshop_id, count(*)::int as count from in_flight group by eshop_id),
    of_webhooks as (select webhook_id, count(*)::int as count from in_flight group by webhook_id),
    of_hosts as (select host, count(*)::int as count from in_flight group by host),
    eshop_limits as (
      select * from unnest(${[...inFlight.eshops.keys()]}::int[], ${[...inFlight.eshops.values()]}::int[]) l (eshop_id, most)),
    webhook_limits as (
      select * from unnest(${[...inFlight.webhooks.keys()]}::int[], ${[...inFlight.webhooks.values()]}::int[]) l (webhook_id, most)),
    host_limits as (
      select * from unnest(${[...inFlight.hosts.keys()]}::text[], ${[...inFlight.hosts.values()]}::int[]) l (host, most)),
    bounds as materialized (
      select q.eshop_id, q.webhook_id, w.host, random() as lot,
             coalesce(e.count, 0) as of_eshop, coalesce(el.most, ${inFlight.eshop}::int) as eshop_most,
             coalesce(o.count, 0) as of_webhook, coalesce(wl.most, ${inFlight.webhook}::int) as webhook_most,
             coalesce(h.count, 0) as of_host, coalesce(hl.most, ${inFlight.host}::int) as host_most
      from queues q join webhooks w on w.id = q.webhook_id
      left join of_eshops e on e.eshop_id = q.eshop_id left join eshop_limits el on el.eshop_id = q.eshop_id
      left join of_webhooks o on o.webhook_id = q.webhook_id left join webhook_limits wl on wl.webhook_id = q.webhook_id
      left join of_hosts h on h.host = w.host left join host_limits hl on hl.host = w.host),
    waiting as materialized (
      select count(*)::int as count from (
        select from bounds b cross join lateral (
          select from deliveries d where d.eshop_id = b.eshop_id and d.webhook_id = b.webhook_id and ${claimable}
          limit ${countTo}) d
        where b.of_webhook < b.webhook_most and b.of_host < b.host_most and b.of_eshop < b.eshop_most
        limit ${countTo}) counted),
    heads as materialized (
      select b.*, head.id, head.created_at,
             row_number() over (partition by b.webhook_id order by head.id) as nth
      from bounds b cross join lateral (
        select d.id, d.created_at from deliveries d
        where d.eshop_id = b.eshop_id and d.webhook_id = b.webhook_id and ${claimable}
        -- One more than may be taken tells that something is kept back.
        order by d.id limit least((select rows from depth),
          greatest(0, least(b.webhook_most - b.of_webhook, b.eshop_most - b.of_eshop))::bigint + 1)) head),
    turns as (
      select id, eshop_id, webhook_id, created_at, host, of_host, host_most, of_eshop, eshop_most, lot,
             row_number() over (partition by eshop_id order by of_webhook / ${perTurn}::int + nth, lot, id) as nth
      from heads where of_webhook + nth <= webhook_most),
    at_hosts as materialized (
      select id, eshop_id, webhook_id, created_at, host_most, lot, of_eshop / ${perTurn}::int + nth as turn,
             of_host + row_number() over (partition by host order by of_eshop / ${perTurn}::int + nth, lot, id) as host_turn
      from turns where of_eshop + nth <= eshop_most),
    candidates as materialized (
      select id, eshop_id, webhook_id, created_at, turn, row_number() over (order by turn, lot, id) as place from at_hosts
      where host_turn <= host_most
      order by place limit 1 + 2 * (select for_first from room)),
    chosen as (
      select locked.id, c.place
      from (select * from candidates order by place) c
      -- One by one, and by all of the index: without statistics the planner would read the index whole for each.
      cross join lateral (
        select d.id from deliveries d
        where d.eshop_id = c.eshop_id and d.webhook_id = c.webhook_id and d.id = c.id and ${claimable}
        limit 1 for update skip locked) locked
      order by c.place limit (
        select greatest(r.size, least(r.for_first, (select count(*) from candidates where turn = 1))) from room r)),
    claimed as (
      update deliveries d set claimed_until = ${leaseEnd(sql)}, batch_id = coalesce(d.batch_id, ${batchId}::uuid)
      from chosen where d.id = chosen.id
      returning ${returned(sql)}, chosen.place)
    select h.count as handed_over, h.ms as hand_over_ms,
           coalesce((select extract(epoch from now() - min(created_at)) * 1000 from candidates), 0)::float8 as waited_ms,
           (select count(*) from candidates) > (select count(*) from claimed) as more,
           (select count from waiting) as waiting,
           (select count(*) from heads) > (select count(*) from at_hosts where host_turn <= host_most) as kept,
           coalesce((select extract(epoch from now() - min(created_at)) * 1000 from heads
                     where webhook_most > 0 and host_most > 0 and eshop_most > 0
                       and id not in (select id from at_hosts where host_turn <= host_most)), 0)::float8 as kept_ms,
           ${claimedColumns(sql)}
    from handed_over h left join claimed on true
    order by claimed.place`;
  return claimOf(rows);
}
