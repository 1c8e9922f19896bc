/**
 * Which deliveries are handed over next. The queue is the table: a claim takes turns, and takes no more than is attempted
 * at once.
 * @module
 */
import type { Sql } from '../pool.ts';
import { LEASE_SECONDS, type QueuedDelivery } from './outbox.ts';

/** How much a claim may take. */
export interface ClaimLimits {
  /** Deliveries of this claim. */
  readonly limit: number;
  /** Deliveries that are handed over and not yet attempted, by all relays together; default: not bounded. */
  readonly handedOver?: number;
  /** The batch that those claimed now belong to, unless they belong to one already; default: none. */
  readonly batchId?: string;
  /** Deliveries whose first attempt has no result yet, this claim included; default: not bounded. */
  readonly inFlight?: InFlightLimits;
}

/** How many first attempts may be in flight, from the claim on, until their result. */
export interface InFlightLimits {
  /** Of one webhook, to one host, of one e-shop. */
  readonly webhook: number;
  readonly host: number;
  readonly eshop: number;
  /** Of those about which more is known, by id and by `webhooks.host`. */
  readonly eshops: ReadonlyMap<number, number>;
  readonly webhooks: ReadonlyMap<number, number>;
  readonly hosts: ReadonlyMap<string, number>;
}

/** What a claim found and took. */
export interface Claim {
  readonly deliveries: readonly QueuedDelivery[];
  /** Deliveries that were handed over before this claim and have not been attempted yet. */
  readonly handedOver: number;
  /** How long the oldest of these has been waiting, in milliseconds; 0 where there is none. */
  readonly handOverMs: number;
  /** How long the oldest delivery that could be claimed has been waiting, in milliseconds; 0 where there was none. */
  readonly waitedMs: number;
  /** More could be claimed than was taken. */
  readonly more: boolean;
  /** More waits, of webhooks, hosts or e-shops that have as much in flight as they may. */
  readonly kept: boolean;
}

/**
 * How long a delivery counts as handed over, in seconds. One that has not been attempted by then waits for something of
 * its own (an operator paused it), and holds nobody up.
 */
const HAND_OVER_SECONDS = 60;

const WITHOUT_END = 2 ** 31 - 1;
/** No bounds at all. */
export const UNBOUNDED: InFlightLimits = {
  webhook: WITHOUT_END,
  host: WITHOUT_END,
  eshop: WITHOUT_END,
  eshops: new Map(),
  webhooks: new Map(),
  hosts: new Map(),
};

/** How many rows of each webhook a claim looks at, at least, and of all webhooks together, roughly. */
const LEAST_DEPTH = 4;
const MOST_HEADS = 4_000;

interface ClaimRow extends Omit<Claim, 'deliveries'>, Omit<QueuedDelivery, 'id'> {
  /** null where nothing was claimed. */
  readonly id: string | null;
}

/**
 * Claims undispatched deliveries under a lease, by turns: every e-shop's first before any e-shop's second, and within an
 * e-shop every webhook's first before any webhook's second; what is in flight already counts as a turn taken. Among
 * equals the lot decides, so that nobody is first for ever; within a webhook the oldest goes first.
 *
 * The webhooks that wait are found by steps in the index `deliveries_queued`, one step each, so that the cost does not
 * depend on how much is waiting. Of two relays that claim at the same moment each may fill the bound by itself.
 */
export async function claimDeliveries(sql: Sql, limits: ClaimLimits): Promise<Claim> {
  const { limit, handedOver = null, batchId = null, inFlight = UNBOUNDED } = limits;
  const queued = sql`d.dispatched_at is null and d.handed_back_at is null`;
  const claimable = sql`${queued} and (d.claimed_until is null or d.claimed_until < now())`;
  const rows = await sql<ClaimRow[]>`
    with recursive
    in_flight as materialized (
      select d.eshop_id, d.webhook_id, w.host, d.dispatched_at,
             d.window_started_at is null and d.next_attempt_at is null as unattempted
      from deliveries d join webhooks w on w.id = d.webhook_id
      where d.state = 'pending' and d.dispatched_at > now() - make_interval(secs => ${HAND_OVER_SECONDS})
        and w.active and w.deleted_at is null),
    handed_over as materialized (
      select count(*)::int as count, coalesce(extract(epoch from now() - min(dispatched_at)) * 1000, 0)::float8 as ms
      from in_flight where unattempted),
    room as materialized (
      select greatest(0, least(${limit}::int, coalesce(${handedOver}::int, ${limit}::int + h.count) - h.count)) as size
      from handed_over h),
    queues as (
      (select d.eshop_id, d.webhook_id from deliveries d
       where ${queued} order by d.eshop_id, d.webhook_id limit 1)
      union all
      select next.eshop_id, next.webhook_id
      from queues q cross join lateral (
        select d.eshop_id, d.webhook_id from deliveries d
        where ${queued} and (d.eshop_id, d.webhook_id) > (q.eshop_id, q.webhook_id)
        order by d.eshop_id, d.webhook_id limit 1) next),
    depth as materialized (
      select greatest(${LEAST_DEPTH}, least(
               ceil(2.0 * (select size from room) / greatest(1, count(distinct eshop_id))),
               ${MOST_HEADS} / greatest(1, count(*))))::int as rows
      from queues),
    eshop_limits as materialized (
      select * from unnest(${[...inFlight.eshops.keys()]}::int[], ${[...inFlight.eshops.values()]}::int[]) l (eshop_id, most)),
    webhook_limits as materialized (
      select * from unnest(${[...inFlight.webhooks.keys()]}::int[], ${[...inFlight.webhooks.values()]}::int[]) l (webhook_id, most)),
    host_limits as materialized (
      select * from unnest(${[...inFlight.hosts.keys()]}::text[], ${[...inFlight.hosts.values()]}::int[]) l (host, most)),
    heads as (
      select q.eshop_id, q.webhook_id, head.id, head.created_at,
             row_number() over (partition by q.webhook_id order by head.id)
               + (select count(*) from in_flight f where f.webhook_id = q.webhook_id) as turn,
             coalesce((select most from webhook_limits l where l.webhook_id = q.webhook_id), ${inFlight.webhook}::int) as most,
             q.lot
      from (select *, random() as lot from queues) q cross join lateral (
        select d.id, d.created_at from deliveries d
        where d.eshop_id = q.eshop_id and d.webhook_id = q.webhook_id and ${claimable}
        order by d.id limit (select rows from depth)) head),
    turns as (
      select h.id, h.eshop_id, h.created_at, w.host,
             row_number() over (partition by h.eshop_id order by h.turn, h.lot, h.id)
               + (select count(*) from in_flight f where f.eshop_id = h.eshop_id) as turn,
             h.lot
      from heads h join webhooks w on w.id = h.webhook_id
      where h.turn <= h.most),
    at_hosts as (
      select t.*,
             row_number() over (partition by t.host order by t.turn, t.lot, t.id)
               + (select count(*) from in_flight f where f.host = t.host) as host_turn,
             coalesce((select most from host_limits l where l.host = t.host), ${inFlight.host}::int) as host_most
      from turns t
      where t.turn <= coalesce((select most from eshop_limits l where l.eshop_id = t.eshop_id), ${inFlight.eshop}::int)),
    candidates as materialized (
      select id, created_at, row_number() over (order by turn, lot, id) as place from at_hosts
      where host_turn <= host_most
      order by place limit 1 + 2 * (select size from room)),
    chosen as (
      select d.id, c.place from candidates c join deliveries d on d.id = c.id
      where ${claimable}
      order by c.place limit (select size from room) for update of d skip locked),
    claimed as (
      update deliveries d set claimed_until = now() + make_interval(secs => ${LEASE_SECONDS}), batch_id = coalesce(d.batch_id, ${batchId}::uuid)
      from chosen where d.id = chosen.id
      returning d.id, d.eshop_id, d.webhook_id, d.event_type, d.entity_id, d.batch_id, chosen.place)
    select h.count as handed_over, h.ms as hand_over_ms,
           coalesce((select extract(epoch from now() - min(created_at)) * 1000 from candidates), 0)::float8 as waited_ms,
           (select count(*) from candidates) > (select count(*) from claimed) as more,
           (select count(*) from heads) > (select count(*) from at_hosts where host_turn <= host_most) as kept,
           claimed.id, claimed.eshop_id, claimed.webhook_id, claimed.event_type, claimed.entity_id, claimed.batch_id
    from handed_over h left join claimed on true
    order by claimed.place`;
  const [first] = rows;
  const deliveries = rows.flatMap(({ id, eshopId, webhookId, eventType, entityId, batchId: batch }) =>
    id === null ? [] : [{ id, eshopId, webhookId, eventType, entityId, batchId: batch }],
  );
  return {
    deliveries,
    handedOver: first?.handedOver ?? 0,
    handOverMs: first?.handOverMs ?? 0,
    waitedMs: first?.waitedMs ?? 0,
    more: first?.more ?? false,
    kept: first?.kept ?? false,
  };
}
