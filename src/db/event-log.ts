/** The events of an e-shop, and the outcome of each at every webhook. */
import type { WebhookVersion } from '../domain/absence.ts';
import { type EntityKind, type EventType, eventTypeNames, eventTypes } from '../domain/event-types.ts';
import type { Origin } from '../domain/origin.ts';
import { firstRow, type Sql } from './connection/pool.ts';
import { deliveriesOfEvent } from './deliveries/deliveries-of-events.ts';
import { type DeliveryLogRow, shownState } from './deliveries/delivery-log.ts';
import {
  afterCursor,
  betweenTimes,
  directionOf,
  limitOf,
  MAX_COUNTED_ROWS,
  rowsNeeded,
  type Slice,
  type Times,
} from './id-range.ts';
import { waitsFor } from './outbox/ordering.ts';

/** An event without its snapshot. Its time is in its id. */
export interface EventRow {
  readonly id: string;
  readonly type: EventType;
  readonly entityId: string;
  /** Its position among the events of its record, from 1. */
  readonly sequence: number;
  readonly origin: Origin;
  /** The fields that the write changed, joined by commas; null if it is no update. */
  readonly changed: string | null;
  /** Triggered by an operator: there is no such record. */
  readonly test: boolean;
}

export interface EventFilter extends Times {
  readonly webhookType?: EventType | undefined;
  /** Records of two kinds may have the same identifier. */
  readonly kind?: EntityKind | undefined;
  readonly entityId?: string | undefined;
}

/** The query for the ids of the wanted events, in the order of the slice and as far as it reaches. */
export function selectPage(sql: Sql, eshopId: number, filter: EventFilter, slice: Slice) {
  const { webhookType, kind, entityId } = filter;
  const ofKind =
    kind === undefined ? eventTypeNames : eventTypeNames.filter((type) => eventTypes[type].entity === kind);
  const types = webhookType === undefined ? ofKind : [webhookType];
  const limits = sql`
    ${betweenTimes(sql, sql`e.id`, filter)} ${afterCursor(sql, sql`e.id`, slice)}
    order by e.id ${directionOf(sql, slice)} limit ${rowsNeeded(slice)}`;
  if (entityId !== undefined) {
    return sql`
      select e.id from events e where e.eshop_id = ${eshopId} and e.entity_id = ${entityId}
        ${types === eventTypeNames ? sql`` : sql`and e.type = any(${types}::text[])`} ${limits}`;
  }
  return sql`
    select x.id from unnest(${types}::text[]) as t (type) cross join lateral (
      select e.id from events e where e.eshop_id = ${eshopId} and e.type = t.type ${limits}) x`;
}

/** The columns of {@link EventRow} except the id, of events `e`, as SQL. */
export function shownColumns(sql: Sql) {
  return sql`e.type, e.entity_id, e.sequence::float8 as sequence, e.origin, e.changed, e.test is true as test`;
}

export function listEvents(sql: Sql, eshopId: number, filter: EventFilter, slice: Slice) {
  const order = directionOf(sql, slice);
  return sql<EventRow[]>`
    with found as materialized (
      select id from (${selectPage(sql, eshopId, filter, slice)}) f order by id ${order} ${limitOf(sql, slice)})
    select e.id, ${shownColumns(sql)} from events e where e.id in (select id from found) order by e.id ${order}`;
}

/** How many match, up to {@link MAX_COUNTED_ROWS}. */
export function countEvents(sql: Sql, eshopId: number, filter: EventFilter) {
  const page = selectPage(sql, eshopId, filter, { limit: MAX_COUNTED_ROWS, offset: 0 });
  return sql<{ count: number }[]>`
    select count(*)::int as count from (select from (${page}) f limit ${MAX_COUNTED_ROWS}) counted`;
}

/** An event with the JSON text of its snapshot, in the v2 form; null if there is none. */
export async function findEvent(sql: Sql, eshopId: number, id: string) {
  return await firstRow(sql<(EventRow & { snapshot: string })[]>`
    select e.id, ${shownColumns(sql)}, e.snapshot from events e where e.id = ${id} and e.eshop_id = ${eshopId}`);
}

export type DeliveryOfEvent = Pick<
  DeliveryLogRow,
  'eventId' | 'id' | 'webhookId' | 'state' | 'attemptsMade' | 'lastError' | 'supersededBy' | 'waitsFor'
>;

/** The deliveries of these events in the order of their creation, without those of deleted webhooks. */
export function deliveriesOf(sql: Sql, eventIds: readonly string[]) {
  const columns: ReturnType<Sql> = sql`
    d.event_id, d.id, d.webhook_id, d.state, d.operator_stop, d.attempts_made, d.last_error, d.superseded_by,
    d.class, d.dispatched_at, d.sequence, d.ordering_key, d.recovery_id,
    d.created_at, d.due_at, d.next_attempt_at, d.claimed_until`;
  return sql<DeliveryOfEvent[]>`
    select d.event_id, d.id, d.webhook_id, ${shownState(sql)} as state, d.attempts_made, d.last_error,
      d.superseded_by, ${waitsFor(sql)} as waits_for
    from unnest(${[...eventIds]}::uuid[]) as e (id) cross join lateral (
      ${deliveriesOfEvent(sql, sql`e.id`, columns)}) d
    join webhooks w on w.id = d.webhook_id
    where w.deleted_at is null order by d.id`;
}

/** The most deleted webhooks whose versions are read. */
export const MAX_DELETED_WEBHOOKS = 10;
/** The most changes that are read per webhook: one switched on and off all day must not fill the memory. */
const MAX_WEBHOOK_VERSIONS = 200;

/**
 * The versions of webhooks that have or had one of these types, ordered by webhook and time; of deleted webhooks,
 * only the last. Before its last {@link MAX_WEBHOOK_VERSIONS} changes a webhook's state is unknown.
 */
export async function versionsOf(sql: Sql, eshopId: number, types: readonly EventType[]) {
  const ofTypes = sql`w.eshop_id = ${eshopId} and exists (
    select from webhook_types t
    where t.eshop_id = ${eshopId} and t.type = any(${[...types]}::text[]) and t.webhook_id = w.id)`;
  return await sql<WebhookVersion[]>`
    select v.webhook_id, case when known then v.at else of_types.registered_at end as at, v.types,
      case when known then v.active end as active, v.on_stock_change, v.skip_own, v.deleted,
      x.reason, x.delivery_id, x.last_error
    from (
      (select w.id, w.registered_at from webhooks w where ${ofTypes} and w.deleted_at is null)
      union all
      (select w.id, w.registered_at from webhooks w where ${ofTypes} and w.deleted_at is not null
       order by w.deleted_at desc limit ${MAX_DELETED_WEBHOOKS})) of_types
    cross join lateral (
      select v.*, row_number() over (order by v.at desc, v.number desc) <= ${MAX_WEBHOOK_VERSIONS} as known
      from webhook_versions v where v.webhook_id = of_types.id
      order by v.at desc, v.number desc limit ${MAX_WEBHOOK_VERSIONS + 1}) v
    left join deactivations x on x.webhook_id = v.webhook_id and x.generation = v.generation
      and v.active = false and not v.deleted and known
    order by v.webhook_id, v.at, v.number`;
}
