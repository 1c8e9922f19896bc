/**
 * The deliveries of an e-shop across its webhooks. The newest of each webhook are read from an index and merged, so
 * a page costs the same however many are stored. Inactive, paused and deleted webhooks are known before any
 * delivery is read.
 */
import type postgres from 'postgres';
import type { DeliveryState } from '../../domain/delivery-state.ts';
import { idAt } from '../../domain/id-time.ts';
import { isAccepted, type StatusFilter } from '../../domain/status-filter.ts';
import {
  afterCursor,
  betweenTimes,
  directionOf,
  limitOf,
  MAX_COUNTED_ROWS,
  reachOf,
  type Slice,
  type Times,
} from '../id-range.ts';
import { sends } from '../pauses.ts';
import type { Sql } from '../pool.ts';
import { leastOf, withSameEvent } from './deliveries-of-events.ts';
import { type DeliveryLogRow, selectDeliveries } from './delivery-log.ts';

/** Selects deliveries of an e-shop; `since` and `until` are times of their events. */
export interface AllDeliveriesFilter extends Times {
  readonly state?: DeliveryState | undefined;
  readonly entityId?: string | undefined;
  /** When the deliveries themselves were created. */
  readonly made?: Times | undefined;
  readonly webhookId?: number | undefined;
  /** Only of these webhooks, in addition to the other conditions. */
  readonly among?: readonly number[] | undefined;
  readonly webhookType?: string | undefined;
  /** The status of the last attempt, or of any. */
  readonly status?: StatusFilter | undefined;
}

/** The webhooks that may have matching deliveries, as SQL. */
function webhooks(sql: Sql, eshopId: number, filter: AllDeliveriesFilter) {
  const { webhookId, among, webhookType, state } = filter;
  const open = state === 'pending' || state === 'retrying';
  return sql`
    select w.id, ${sends(sql, 'w')} as sends from webhooks w
    where w.eshop_id = ${eshopId} and w.deleted_at is null
      ${webhookId === undefined ? sql`` : sql`and w.id = ${webhookId}::bigint`}
      ${among === undefined ? sql`` : sql`and w.id = any(${[...among]}::bigint[])`}
      ${open ? sql`and ${sends(sql, 'w')}` : sql``}
      ${
        webhookType === undefined
          ? sql``
          : sql`and exists (
        select from webhook_types t
        where t.eshop_id = ${eshopId} and t.type = ${webhookType} and t.webhook_id = w.id)`
      }`;
}

/** Literals instead of parameters, so that the planner sees which partial index applies. */
function inState(sql: Sql, state: Exclude<DeliveryState, 'held'>) {
  const conditions: Record<typeof state, () => postgres.Fragment> = {
    pending: () => sql`d.state = 'pending' and d.operator_stop is distinct from 'hold'`,
    retrying: () => sql`d.state = 'retrying' and d.operator_stop is distinct from 'hold'`,
    delivered: () => sql`d.state = 'delivered'`,
    failed: () => sql`d.state = 'failed'`,
    expired: () => sql`d.state = 'expired'`,
    canceled: () => sql`d.state = 'canceled'`,
    superseded: () => sql`d.state = 'superseded'`,
  };
  return conditions[state]();
}

/** The condition that the last attempt of a delivery `d`, or any, has such a status, as SQL. */
function withStatus(sql: Sql, { range, attempts }: StatusFilter) {
  const matches = (status: postgres.Fragment) =>
    range === null ? sql`${status} is null` : sql`${status} between ${range.from} and ${range.to}`;
  // The attempt that is accepted is the last one.
  if (isAccepted(range)) return sql`and d.state = 'delivered' and ${matches(sql`d.last_status`)}`;
  // As the partial index has it.
  const failed = sql`(
    d.attempts_made > 1 or d.attempts_made = 1 and (d.last_status is null or d.last_status not between 200 and 299))`;
  if (attempts === 'last') return sql`and ${failed} and ${matches(sql`d.last_status`)}`;
  return sql`and ${failed} and exists (
    select from attempts a where a.delivery_id = d.id and a.finished_at is not null and ${matches(sql`a.status`)})`;
}

/** The query for the matching deliveries, in the order of the slice and up to its end, as SQL. */
function selectPage(sql: Sql, eshopId: number, filter: AllDeliveriesFilter, slice: Slice) {
  const { state } = filter;
  if (state !== 'held') {
    const condition = state === undefined ? sql`` : sql`and ${inState(sql, state)}`;
    return foundAmong(sql, eshopId, filter, slice, { webhooks: sql`wanted`, condition });
  }
  const open = sql`and d.state in ('pending', 'retrying')`;
  const byWebhooks = { webhooks: sql`(select id from wanted where not sends)`, condition: open };
  const byOperators = {
    webhooks: sql`(select id from wanted where sends)`,
    condition: sql`${open} and d.operator_stop = 'hold'`,
  };
  return sql`
    (${foundAmong(sql, eshopId, filter, slice, byWebhooks)})
    union all
    (${foundAmong(sql, eshopId, filter, slice, byOperators)})`;
}

/** Longer than a transaction takes to create its deliveries: each statement times out after ten seconds. */
const MAX_CREATION_MS = 5 * 60_000;

/**
 * The condition that a delivery `d` was created within these times, as SQL. The time in its id is that of its
 * transaction, so the index by id excludes most others.
 */
function madeWithin(sql: Sql, { since, until }: Times = {}) {
  const latest = until === undefined ? undefined : new Date(until.getTime() + MAX_CREATION_MS);
  return sql`
    ${betweenTimes(sql, sql`d.id`, { since, until: latest })}
    ${since === undefined ? sql`` : sql`and d.created_at >= ${since}`}
    ${until === undefined ? sql`` : sql`and d.created_at < ${until}`}`;
}

interface Among {
  readonly webhooks: postgres.Fragment;
  readonly condition: postgres.Fragment;
}

function foundAmong(
  sql: Sql,
  eshopId: number,
  filter: AllDeliveriesFilter,
  slice: Slice,
  { webhooks, condition }: Among,
) {
  const { entityId, webhookType, until } = filter;
  const order = directionOf(sql, slice);
  const most = reachOf(slice);
  const wanted = sql`
    ${betweenTimes(sql, sql`d.event_id`, filter)} ${afterCursor(sql, sql`d.id`, slice)}
    ${filter.since === undefined ? sql`` : sql`and d.id >= ${idAt(filter.since)}::uuid`}
    ${madeWithin(sql, filter.made)}
    ${condition}
    ${filter.status === undefined ? sql`` : withStatus(sql, filter.status)}
    ${webhookType === undefined ? sql`` : sql`and d.event_type = ${webhookType}`}`;
  const ofWebhooks = (which: postgres.Fragment, onlyIf: postgres.Fragment) => sql`
    select x.id from ${webhooks} w cross join lateral (
      select d.id from deliveries d where d.webhook_id = w.id and ${which} ${wanted}
      order by d.id ${order} limit ${most}) x
    ${onlyIf}`;
  const byWebhooks = (alike: postgres.Fragment, onlyIf: postgres.Fragment) => {
    // An event before `until` may have been redelivered later.
    if (until === undefined) return ofWebhooks(alike, onlyIf);
    const end = sql`${idAt(until)}::uuid`;
    // Looked up one by one: a join would read all deliveries from a cursor to the first redelivery.
    const again = sql`
      select x.id from ${webhooks} w cross join lateral (
        select d.id from redeliveries r cross join lateral (
          select d.id from deliveries d where d.id = r.delivery_id and ${alike} ${wanted} offset 0) d
        where r.webhook_id = w.id and r.delivery_id >= ${end} ${betweenTimes(sql, sql`r.event_id`, filter)}
          ${afterCursor(sql, sql`r.delivery_id`, slice)}
        order by r.delivery_id ${order} limit ${most}) x
      ${onlyIf}`;
    return sql`(${ofWebhooks(sql`d.id < ${end} and ${alike}`, onlyIf)}) union all (${again})`;
  };
  if (entityId === undefined) return byWebhooks(sql`true`, sql``);
  // Written so that the planner cannot use a join, which would look up each event at each webhook, or read all
  // deliveries.
  const oneOf = (webhook: postgres.Fragment) => sql`(${webhook} in (select id from ${webhooks} w)) is true`;
  const byEvents = (onlyIf: postgres.Fragment) => sql`
    (select x.id from events e cross join lateral (
       select d.id from deliveries d where ${withSameEvent(sql, sql`e.id`)} ${wanted} and ${oneOf(sql`d.webhook_id`)}
       offset 0) x
     where ${ofRecord(sql, eshopId, entityId, filter)} ${onlyIf}
       ${'after' in slice ? sql`and e.id >= ${leastOf(sql, sql`${slice.after}`)} and e.id < ${slice.before}::uuid` : sql``}
     order by e.id ${order}, x.id ${order} limit ${most})
    union all
    (select d.id from redeliveries r join deliveries d on d.id = r.delivery_id
     where r.eshop_id = ${eshopId} and r.entity_id = ${entityId} and ${oneOf(sql`r.webhook_id`)} ${wanted} ${onlyIf}
     order by r.delivery_id ${order} limit ${most})`;
  if (!isNarrow(filter)) return byEvents(sql``);
  const few = sql`(select few from weighed)`;
  return sql`
    (${byEvents(sql`and not ${few}`)})
    union all
    (${byWebhooks(sql`d.entity_id = ${entityId}`, sql`where ${few}`)})`;
}

/**
 * For a record with at most this many events, deliveries are looked up event by event, whatever the other
 * conditions.
 */
const MAX_EVENTS_ONE_BY_ONE = 1_000;
/** A record's events are counted up to this number. */
const MAX_WEIGHED = 50_000;
/** The cost of looking up the deliveries of an event, relative to reading one delivery. */
const EVENT_WEIGHT = 2;

/** Whether the filter, apart from the record, selects a part of the deliveries that has an index. */
function isNarrow({ state, webhookId, webhookType }: AllDeliveriesFilter): boolean {
  return isRare(state) || webhookId !== undefined || webhookType !== undefined;
}

function isRare(state: DeliveryState | undefined): state is Exclude<DeliveryState, 'delivered'> {
  return state !== undefined && state !== 'delivered';
}

/** Whether reading that part is cheaper than looking up each event of the record, as a table `weighed` in SQL. */
function weighed(sql: Sql, eshopId: number, filter: AllDeliveriesFilter) {
  const { entityId, state, since, until } = filter;
  if (entityId === undefined || !isNarrow(filter)) return sql``;
  return sql`
    , weighed as materialized (
      select n > ${MAX_EVENTS_ONE_BY_ONE} and (
        select count(*) from (
          select from wanted w cross join lateral (
            select from deliveries d where d.webhook_id = w.id ${isRare(state) ? inPartOf(sql, state) : sql``}
            limit ${EVENT_WEIGHT} * n) x
          limit ${EVENT_WEIGHT} * n) counted) < ${EVENT_WEIGHT} * n as few
      from (
        select count(*) as n from (
          select from events e where ${ofRecord(sql, eshopId, entityId, { since, until })}
          limit ${MAX_WEIGHED}) counted) events)`;
}

/** The condition that a delivery `d` is in the part that is read for a rare state, as SQL. */
function inPartOf(sql: Sql, state: Exclude<DeliveryState, 'delivered'>) {
  return state === 'failed' || state === 'expired' || state === 'canceled'
    ? sql`and ${inState(sql, state)}`
    : sql`and d.state in ('pending', 'retrying')`;
}

/** The condition that an event `e` is one of a record, as SQL. */
function ofRecord(sql: Sql, eshopId: number, entityId: string, times: Times) {
  return sql`e.eshop_id = ${eshopId} and e.entity_id = ${entityId} ${betweenTimes(sql, sql`e.id`, times)}`;
}

/** A slice of the deliveries of an e-shop, without those of deleted webhooks. */
export function listAllDeliveries(sql: Sql, eshopId: number, filter: AllDeliveriesFilter, slice: Slice) {
  return sql<DeliveryLogRow[]>`
    with wanted as materialized (${webhooks(sql, eshopId, filter)})${weighed(sql, eshopId, filter)},
    found as materialized (
      select id from (${selectPage(sql, eshopId, filter, slice)}) f order by id ${directionOf(sql, slice)} ${limitOf(sql, slice)})
    ${selectDeliveries(sql)}
    where d.id in (select id from found) order by d.id ${directionOf(sql, slice)}`;
}

/** The number of matching deliveries, up to {@link MAX_COUNTED_ROWS}. */
export function countAllDeliveries(sql: Sql, eshopId: number, filter: AllDeliveriesFilter) {
  return sql<{ count: number }[]>`
    with wanted as materialized (${webhooks(sql, eshopId, filter)})${weighed(sql, eshopId, filter)}
    select count(*)::int as count from (
      select from (${selectPage(sql, eshopId, filter, { limit: MAX_COUNTED_ROWS, offset: 0 })}) f limit ${MAX_COUNTED_ROWS}) counted`;
}
