/**
 * Finds the events that a webhook did not get: page by page in the order of their ids, each judged by all its
 * deliveries to the webhook. One without a delivery was missed if the webhook had its type at the event's time.
 */
import { MEANWHILE_MS } from '../../domain/absence.ts';
import { STOCK_ONLY } from '../../domain/changed-fields.ts';
import type { EventType } from '../../domain/event-types.ts';
import { idAt, timeOf } from '../../domain/id-time.ts';
import type { Recoverable } from '../../domain/recovery.ts';
import { oneRow, type Sql } from '../connection/pool.ts';
import { deliveriesOfEvent } from '../deliveries/deliveries-of-events.ts';
import { isOwnChange } from '../outbox/events.ts';
import { isLost, isSettled } from '../predicates.ts';

export interface Search {
  readonly eshopId: number;
  readonly webhookId: number;
  /** The period of the events: from `since` on, before `until`. */
  readonly since: Date;
  readonly until: Date;
  readonly include: readonly Recoverable[];
}

/** Events that may be lost, in the order of their ids: the time of an event is the one in its id. */
function suspects(sql: Sql, search: Search, after: string | null, limit: number) {
  const { eshopId, webhookId, since, until, include } = search;
  const from = after ?? idAt(since);
  const to = idAt(until);
  const atMost = sql`order by id limit ${limit}`;
  const missed = sql`
      union
      (select x.id from webhook_types t cross join lateral (
         select e.id from events e
         where e.eshop_id = ${eshopId} and e.type = t.type and e.id > ${from}::uuid and e.id < ${to}::uuid ${atMost}) x
       where t.webhook_id = ${webhookId} ${atMost})`;
  return sql`
    select id from (
      (select distinct d.event_id as id from deliveries d
       where d.webhook_id = ${webhookId} and ${isLost(sql)}
         and d.event_id > ${from}::uuid and d.event_id < ${to}::uuid ${atMost})
      ${include.includes('missed') ? missed : sql``}) suspect ${atMost}`;
}

type SubscriptionColumn = 'types' | 'on_stock_change' | 'skip_own';

/**
 * The subscription of a webhook at the time of an event, as SQL: by the version that began last, to the millisecond,
 * as precise as ids. Before the first version, by its present state: a request for earlier events means that.
 */
function subscriptionAt(sql: Sql, webhookId: number, column: SubscriptionColumn) {
  return sql`
    coalesce(${versionAtEvent(sql, webhookId, column)}, (select w.${sql(column)} from webhooks w where w.id = ${webhookId}))`;
}

const versionAtEvent = (sql: Sql, webhookId: number, column: SubscriptionColumn | 'active') => sql`
  (select v.${sql(column)} from webhook_versions v
   where v.webhook_id = ${webhookId} and v.at < to_timestamp((${msOfEvent(sql)} + 1) / 1000.0)
   order by v.at desc, v.number desc limit 1)`;

/** The time in the id of the event `e`, in milliseconds since 1970. */
const msOfEvent = (sql: Sql) => sql`('x' || left(replace(e.id::text, '-', ''), 12))::bit(48)::bigint`;

/**
 * The event `e` had a delivery that is no longer kept: the webhook was active at the time of the event, and not
 * changed near it. An event outlives its deliveries if one to another webhook is still open.
 */
const hadDelivery = (sql: Sql, webhookId: number) => sql`(
  coalesce(${versionAtEvent(sql, webhookId, 'active')}, false)
  and not exists (
    select from webhook_versions v
    where v.webhook_id = ${webhookId} and v.at between to_timestamp((${msOfEvent(sql)} - ${MEANWHILE_MS}::int) / 1000.0)
      and to_timestamp((${msOfEvent(sql)} + ${MEANWHILE_MS}::int) / 1000.0)))`;

/** Those of the events `suspect` that are lost, as `e`. */
function lost(sql: Sql, { eshopId, webhookId, include }: Search) {
  const atEvent = (column: SubscriptionColumn) => subscriptionAt(sql, webhookId, column);
  return sql`
    from suspect
    -- One by one: the planner would otherwise read all events of the e-shop, and there may be millions.
    cross join lateral (
      select e.id, e.type, e.entity_id, e.origin, e.changed from events e
      where e.id = suspect.id and e.eshop_id = ${eshopId} limit 1) e
    cross join lateral (
      select coalesce(bool_or(${isSettled(sql)}), false) as settled,
             coalesce((array_agg(d.state order by d.id desc))[1], 'missed') as became
      from (${deliveriesOfEvent(sql, sql`e.id`, sql`d.id, d.webhook_id, d.state`)}) d
      where d.webhook_id = ${webhookId}) at_webhook
    where not settled and became = any(${[...include]}::text[])
      and (became <> 'missed' or not ${hadDelivery(sql, webhookId)}
        and e.type = any(${atEvent('types')})
        and (e.changed is distinct from ${STOCK_ONLY} or ${atEvent('on_stock_change')})
        and not (${isOwnChange(sql, 'e')} and ${atEvent('skip_own')}))`;
}

export interface LostEventCount {
  readonly count: number;
  /** When the first and the last of the events happened; null if there are none. */
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
}

/** How many events one statement judges: it takes a fraction of a second, or seconds on a busy machine. */
const JUDGED_AT_ONCE = 5_000;

/**
 * Counts the lost events in several short statements.
 * @param options.atOnce the number of events that one statement judges
 * @param options.enough the search ends once this many are found
 */
export async function countLostEvents(
  sql: Sql,
  search: Search,
  { atOnce = JUDGED_AT_ONCE, enough = Number.POSITIVE_INFINITY }: { atOnce?: number; enough?: number } = {},
): Promise<LostEventCount> {
  let [count, firstId, lastId]: [number, string | null, string | null] = [0, null, null];
  for (let after: string | null = null; ; ) {
    const row: CountedRow = await oneRow(selectCountOfLost(sql, search, after, atOnce));
    count += row.count;
    firstId ??= row.firstId;
    lastId = row.lastId ?? lastId;
    if (row.lookedAt < atOnce || count >= enough)
      return { count, firstAt: timeOrNull(firstId), lastAt: timeOrNull(lastId) };
    after = row.lookedAtId;
  }
}

const timeOrNull = (id: string | null) => (id === null ? null : timeOf(id));

interface CountedRow {
  readonly count: number;
  readonly firstId: string | null;
  readonly lastId: string | null;
  readonly lookedAt: number;
  readonly lookedAtId: string | null;
}

export function selectCountOfLost(sql: Sql, search: Search, after: string | null, atOnce: number) {
  return sql<CountedRow[]>`
    with suspect as materialized (${suspects(sql, search, after, atOnce)})
    select (select count(*) from suspect)::int as looked_at, (select id from suspect order by id desc limit 1) as looked_at_id,
      counted.*
    from (
      select count(*)::int as count, (array_agg(e.id order by e.id))[1] as first_id,
        (array_agg(e.id order by e.id desc))[1] as last_id ${lost(sql, search)}) counted`;
}

interface LostEvent {
  readonly id: string;
  readonly type: EventType;
  readonly entityId: string;
}

const EVENTS_PER_PAGE = 2_000;

/**
 * The lost events after an id, in order.
 * @param after null: from the beginning
 * @param limit at least 1
 * @returns them; up to which id all events were judged; and whether nothing comes after it
 */
export async function nextLostEvents(sql: Sql, search: Search, after: string | null, limit: number) {
  const rows = await sql<
    (Omit<LostEvent, 'id'> & { id: string | null; lookedAt: number; lookedAtId: string })[]
  >`
    with suspect as materialized (${suspects(sql, search, after, EVENTS_PER_PAGE)}),
    found as (select e.id, e.type, e.entity_id ${lost(sql, search)} order by e.id limit ${limit})
    select looked.*, found.* from (
      select (select count(*) from suspect)::int as looked_at,
             (select id from suspect order by id desc limit 1) as looked_at_id) looked
    left join found on true
    order by found.id`;
  const [first] = rows;
  const events = rows.flatMap(({ id, type, entityId }) => (id === null ? [] : [{ id, type, entityId }]));
  // If the page is full, events judged after its last one are judged again.
  if (events.length === limit) return { events, lookedAtId: events.at(-1)?.id ?? after, last: false };
  return { events, lookedAtId: first?.lookedAtId ?? after, last: (first?.lookedAt ?? 0) < EVENTS_PER_PAGE };
}
