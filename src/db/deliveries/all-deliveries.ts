/**
 * The deliveries of an e-shop across its webhooks. The newest of each webhook are read from an index and merged, so
 * a page costs the same however many are stored. Inactive, paused and deleted webhooks are known before any
 * delivery is read.
 */
import type postgres from 'postgres';
import { idAt } from '../../domain/id-time.ts';
import type { Sql } from '../connection/pool.ts';
import {
  afterCursor,
  betweenTimes,
  directionOf,
  limitOf,
  MAX_COUNTED_ROWS,
  rowsNeeded,
  type Slice,
  type Times,
} from '../id-range.ts';
import { isOpen } from '../predicates.ts';
import { createdWithEvent, minDeliveryId } from './deliveries-of-events.ts';
import {
  type AllDeliveriesFilter,
  createdWithin,
  indexedSubset,
  inState,
  isRare,
  scannedCondition,
  webhooksOf,
  withStatus,
} from './delivery-filter.ts';
import { type DeliveryLogRow, selectDeliveries } from './delivery-log.ts';

/** The query for the matching deliveries, in the order of the slice and up to its end, as SQL. */
function selectPage(sql: Sql, eshopId: number, filter: AllDeliveriesFilter, slice: Slice) {
  const { state } = filter;
  if (state !== 'held') {
    const condition = state === undefined ? sql`` : sql`and ${inState(sql, state)}`;
    return foundAmong(sql, eshopId, filter, slice, { webhooks: sql`wanted`, condition });
  }
  const open = sql`and ${isOpen(sql)}`;
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

function foundAmong(
  sql: Sql,
  eshopId: number,
  filter: AllDeliveriesFilter,
  slice: Slice,
  { webhooks, condition }: { readonly webhooks: postgres.Fragment; readonly condition: postgres.Fragment },
) {
  const { entityId, webhookType, until } = filter;
  const order = directionOf(sql, slice);
  const limit = rowsNeeded(slice);
  const filters = sql`
    ${betweenTimes(sql, sql`d.event_id`, filter)} ${afterCursor(sql, sql`d.id`, slice)}
    ${filter.since === undefined ? sql`` : sql`and d.id >= ${idAt(filter.since)}::uuid`}
    ${createdWithin(sql, filter.created)}
    ${condition}
    ${filter.status === undefined ? sql`` : withStatus(sql, filter.status)}
    ${webhookType === undefined ? sql`` : sql`and d.event_type = ${webhookType}`}`;
  const ofWebhooks = (which: postgres.Fragment, onlyIf: postgres.Fragment) => sql`
    select x.id from ${webhooks} w cross join lateral (
      select d.id from deliveries d where d.webhook_id = w.id and ${which} ${filters}
      order by d.id ${order} limit ${limit}) x
    ${onlyIf}`;
  const byWebhooks = (alike: postgres.Fragment, onlyIf: postgres.Fragment) => {
    // An event before `until` may have been redelivered later.
    if (until === undefined) return ofWebhooks(alike, onlyIf);
    const end = sql`${idAt(until)}::uuid`;
    // Looked up one by one: a join would read all deliveries from a cursor to the first redelivery.
    const redeliveries = sql`
      select x.id from ${webhooks} w cross join lateral (
        select d.id from redeliveries r cross join lateral (
          select d.id from deliveries d where d.id = r.delivery_id and ${alike} ${filters} offset 0) d
        where r.webhook_id = w.id and r.delivery_id >= ${end} ${betweenTimes(sql, sql`r.event_id`, filter)}
          ${afterCursor(sql, sql`r.delivery_id`, slice)}
        order by r.delivery_id ${order} limit ${limit}) x
      ${onlyIf}`;
    return sql`(${ofWebhooks(sql`d.id < ${end} and ${alike}`, onlyIf)}) union all (${redeliveries})`;
  };
  if (entityId === undefined) return byWebhooks(sql`true`, sql``);
  // The planner must not see a join: it would look up each event at each webhook, or read all deliveries.
  const oneOf = (webhook: postgres.Fragment) => sql`(${webhook} in (select id from ${webhooks} w)) is true`;
  const byEvents = (onlyIf: postgres.Fragment) => sql`
    (select x.id from events e cross join lateral (
       select d.id from deliveries d where ${createdWithEvent(sql, sql`e.id`)} ${filters} and ${oneOf(sql`d.webhook_id`)}
       offset 0) x
     where ${ofRecord(sql, eshopId, entityId, filter)} ${onlyIf}
       ${'after' in slice ? sql`and e.id >= ${minDeliveryId(sql, sql`${slice.after}`)} and e.id < ${slice.before}::uuid` : sql``}
     order by e.id ${order}, x.id ${order} limit ${limit})
    union all
    (select d.id from redeliveries r join deliveries d on d.id = r.delivery_id
     where r.eshop_id = ${eshopId} and r.entity_id = ${entityId} and ${oneOf(sql`r.webhook_id`)} ${filters} ${onlyIf}
     order by r.delivery_id ${order} limit ${limit})`;
  if (!isNarrow(filter)) return byEvents(sql``);
  const few = sql`(select few from weighed)`;
  return sql`
    (${byEvents(sql`and not ${few}`)})
    union all
    (${byWebhooks(sql`d.entity_id = ${entityId}`, sql`where ${few}`)})`;
}

/** Deliveries of a record with up to this many events are looked up event by event, whatever the conditions. */
const MAX_EVENTS_ONE_BY_ONE = 1_000;
/** A record's events are counted up to this number. */
const MAX_WEIGHED = 50_000;
/** The cost of looking up the deliveries of an event, relative to reading one delivery. */
const EVENT_WEIGHT = 2;

/** Whether the filter, apart from the record, selects a part of the deliveries that has an index. */
function isNarrow({ state, webhookId, webhookType }: AllDeliveriesFilter): boolean {
  return isRare(state) || webhookId !== undefined || webhookType !== undefined;
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
            select from deliveries d where d.webhook_id = w.id ${isRare(state) ? indexedSubset(sql, state) : sql``}
            limit ${EVENT_WEIGHT} * n) x
          limit ${EVENT_WEIGHT} * n) counted) < ${EVENT_WEIGHT} * n as few
      from (
        select count(*) as n from (
          select from events e where ${ofRecord(sql, eshopId, entityId, { since, until })}
          limit ${MAX_WEIGHED}) counted) events)`;
}

/** The condition that an event `e` is one of a record, as SQL. */
function ofRecord(sql: Sql, eshopId: number, entityId: string, times: Times) {
  return sql`e.eshop_id = ${eshopId} and e.entity_id = ${entityId} ${betweenTimes(sql, sql`e.id`, times)}`;
}

/** The most deliveries that a list without an index reads. Too high: it takes seconds. Too low: it ends sooner. */
const MAX_LOOKED_THROUGH = 50_000;

/**
 * Ends a list that would look through too many deliveries, in the direction of its slice.
 * @returns the first delivery beyond; undefined if the list may go to its end
 */
export async function endOfList(
  sql: Sql,
  eshopId: number,
  filter: AllDeliveriesFilter,
  slice: Slice,
  limit = MAX_LOOKED_THROUGH,
): Promise<string | undefined> {
  const [end] = (await selectEndOfList(sql, eshopId, filter, slice, limit)) ?? [];
  return end?.id;
}

/** @returns null if an index finds all that the list wants */
export function selectEndOfList(
  sql: Sql,
  eshopId: number,
  filter: AllDeliveriesFilter,
  slice: Slice,
  limit: number,
) {
  const { since, until, created } = filter;
  const condition = scannedCondition(sql, filter);
  if (condition === null) return null;
  const order = directionOf(sql, slice);
  return sql<{ id: string }[]>`
    with wanted as materialized (${webhooksOf(sql, eshopId, filter)})
    select x.id from wanted w cross join lateral (
      select d.id from deliveries d
      where d.webhook_id = w.id ${condition} ${afterCursor(sql, sql`d.id`, slice)}
        ${betweenTimes(sql, sql`d.id`, { since, until })} ${createdWithin(sql, created)}
      order by d.id ${order} offset greatest(1, ${limit} / (select count(*) from wanted)) limit 1) x
    order by x.id ${order} limit 1`;
}

/** A slice of the deliveries of an e-shop, without those of deleted webhooks. */
export function listAllDeliveries(sql: Sql, eshopId: number, filter: AllDeliveriesFilter, slice: Slice) {
  return sql<DeliveryLogRow[]>`
    with wanted as materialized (${webhooksOf(sql, eshopId, filter)})${weighed(sql, eshopId, filter)},
    found as materialized (
      select id from (${selectPage(sql, eshopId, filter, slice)}) f order by id ${directionOf(sql, slice)} ${limitOf(sql, slice)})
    ${selectDeliveries(sql)}
    where d.id in (select id from found) order by d.id ${directionOf(sql, slice)}`;
}

/** The number of matching deliveries, up to {@link MAX_COUNTED_ROWS}. @param afterId as in a `Slice` */
export function countAllDeliveries(sql: Sql, eshopId: number, filter: AllDeliveriesFilter, afterId?: string) {
  const page = selectPage(sql, eshopId, filter, { limit: MAX_COUNTED_ROWS, offset: 0, afterId });
  return sql<{ count: number }[]>`
    with wanted as materialized (${webhooksOf(sql, eshopId, filter)})${weighed(sql, eshopId, filter)}
    select count(*)::int as count from (select from (${page}) f limit ${MAX_COUNTED_ROWS}) counted`;
}
