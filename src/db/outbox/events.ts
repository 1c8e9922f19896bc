/** The transactional outbox: one statement writes an event and its deliveries, with the change that they report. */
import { STOCK_ONLY } from '../../domain/changed-fields.ts';
import { type EventType, eventTypeNames, eventTypes } from '../../domain/event-types.ts';
import { isAboutStock, type Origin, OWN_ORIGIN } from '../../domain/origin.ts';
import { currentTrace } from '../../traces/traces.ts';
import type { Sql } from '../connection/pool.ts';
import { newId, ticks } from '../ids.ts';
import { makesAttempts } from '../pauses.ts';
import { recordset } from '../sql.ts';
import { type Transaction, wakeRelayAfter } from '../transaction.ts';
import { orderingKey, predecessors } from './ordering.ts';
import { CLASS, type DeliveryClass, leaseEnd, type QueuedDelivery } from './outbox.ts';

export interface NewEvent {
  readonly eshopId: number;
  readonly type: EventType;
  /** The identifier that is appended to the URL of GET webhooks. */
  readonly entityId: string;
  /** The record after the write in its v2 form, including packing lists: the snapshot that deliveries carry. */
  readonly record: object;
}

/** An event of a known e-shop, with its record as text. */
export interface EventText extends Pick<NewEvent, 'type' | 'entityId'> {
  readonly origin: Origin;
  /** The fields that the write changed, as `changedFields` names them; null for events that are no update. */
  readonly changed: string | null;
  /** The event's position among the events of its record, from 1. */
  readonly sequence: number;
  /** When the record was written, ISO 8601; never before its previous event. Null: when the transaction began. */
  readonly happenedAt: string | null;
  /** The JSON text of the record. */
  readonly snapshot: string;
  /** The point of the trace at which the event happened; absent if traces are off. */
  readonly traceparent?: string;
}

/** Puts events into the current trace. */
export function withTraceParents<E extends EventText>(events: readonly E[]): readonly E[] {
  const here = currentTrace();
  return here === undefined ? events : events.map((event) => ({ ...event, traceparent: here.traceparent }));
}

/**
 * The id of a delivery, as SQL: a UUIDv7 with the time and order of the event's id, then the place of the webhook
 * among the webhooks that get the event, then random digits. So deliveries sort in the order of their events, and the
 * number of webhooks need not be known before the statement.
 * @param place from 1
 */
function deliveryId(sql: Sql, event: ReturnType<Sql>, place: ReturnType<Sql>) {
  return sql`(left(${event}::text, 26) || lpad(to_hex(${place} & 65535), 4, '0') || right(gen_random_uuid()::text, 6))::uuid`;
}

const EVENT_COLUMNS = {
  type: 'text',
  kind: 'text',
  entityId: 'text',
  sequence: 'bigint',
  happenedAt: 'timestamptz',
  snapshot: 'json',
  origin: 'text',
  changed: 'text',
  traceparent: 'text',
};

/** The rows of {@link firedEvents} with new ids that rise in their order, as SQL. */
export function firedRows(sql: Sql, events: string) {
  return sql`
    select ${newId(sql, sql`now.ticks + f.place`)} as id, f.*
    from ${recordset(sql, events, 'f', EVENT_COLUMNS)}, (select ${ticks(sql)} as ticks) as now`;
}

/** Inserts the events in `fired`, as SQL. */
export function insertEvents(sql: Sql, eshopId: number) {
  return sql`
    insert into events (id, eshop_id, type, entity_id, sequence, happened_at, snapshot, origin, changed)
    select f.id, ${eshopId}::int, f.type, f.entity_id, f.sequence, coalesce(f.happened_at, now()), f.snapshot::text,
           f.origin, f.changed
    from fired f`;
}

/** Whether an event is a change that webhooks with `skipOwn` leave out, as SQL. @param event its alias */
export function isOwnChange(sql: Sql, event: 'f' | 'e') {
  const e = sql(event);
  return sql`(${e}.origin = ${OWN_ORIGIN}
    and ${e}.type <> all(${stockEvents}::text[])
    and ${e}.changed is distinct from ${STOCK_ONLY})`;
}
const stockEvents = eventTypeNames.filter((type) => isAboutStock({ type, changed: null }));

/**
 * Inserts the deliveries of the events in `fired`, as SQL: one for each active webhook that has the type. A change to
 * the stock alone goes only to webhooks with `onStockChange`; a change that the e-shop made itself goes only to
 * webhooks without `skipOwn`.
 * @param claimed whether this process claims the deliveries at once, except any behind another one of its record
 */
export function insertDeliveries(
  sql: Sql,
  eshopId: number,
  deliveryClass: DeliveryClass = CLASS.fresh,
  claimed = false,
) {
  const key = orderingKey(sql, {
    eshopId: sql`w.eshop_id`,
    kind: sql`f.kind`,
    recoveryId: sql`null`,
    entityId: sql`f.entity_id`,
  });
  const place = { key, sequence: sql`f.sequence`, webhookId: sql`w.id`, receiver: sql`w.receiver` };
  // Left out if nothing is claimed: behind a pooler each statement is planned again, and this part takes half the
  // time.
  const claim = claimed
    ? sql`
           case when ${makesAttempts(sql, 'w')} and (
               w.ordering = 'none'
               or not exists (select from fired g where g.entity_id = f.entity_id and g.sequence < f.sequence)
                 and not exists (select ${predecessors(sql, place)}))
             then ${leaseEnd(sql)} end`
    : sql`null::timestamptz`;
  return sql`
    insert into deliveries (
      id, event_id, eshop_id, webhook_id, event_type, entity_id, sequence, ordering_key,
      class, bulk, traceparent, claimed_until, claim_id)
    select ${deliveryId(sql, sql`f.id`, sql`row_number() over (partition by f.id order by w.id)`)},
           f.id, w.eshop_id, w.id, f.type, f.entity_id, f.sequence, ${key},
           ${deliveryClass}::smallint, ${deliveryClass === CLASS.bulk || null}::boolean, f.traceparent,
           ${claim}, ${claimed ? sql`gen_random_uuid()` : sql`null`}
    from fired f
    join webhook_types t on t.eshop_id = ${eshopId} and t.type = f.type and t.subscribed
    -- One by one: for many events the planner would read all webhooks.
    cross join lateral (select * from webhooks where id = t.webhook_id offset 0) w
    where (w.on_stock_change or f.changed is distinct from ${STOCK_ONLY})
      and not (w.skip_own and ${isOwnChange(sql, 'f')})
    order by f.id, w.id`;
}

/** The deliveries that a statement has just written. */
export interface WrittenDeliveries {
  readonly deliveries: number;
  /** The deliveries among them that this process has claimed. */
  readonly claimed: readonly QueuedDelivery[];
}

/** {@link WrittenDeliveries} of the rows in `delivered`, which {@link insertDeliveries} returned, as SQL. */
export function writtenDeliveries(sql: Sql) {
  return sql`(select count(*) from delivered)::int as deliveries, coalesce((
    select json_agg(json_build_object(
      'id', d.id, 'eshopId', d.eshop_id, 'webhookId', d.webhook_id, 'eventType', d.event_type,
      'entityId', d.entity_id, 'receiverHost', (select host from webhooks where id = d.webhook_id),
      'traceparent', d.traceparent, 'claimId', d.claim_id, 'state', d.state,
      'attemptsMade', 0, 'lastStatus', null, 'failures', null, 'isBlocked', false) order by d.id)
    from delivered d where d.claimed_until is not null), '[]') as claimed`;
}

/** Events as the parameter of a statement. The type `json` keeps the text of a snapshot as it is. */
export function firedEvents(events: readonly EventText[]): string {
  const rows = events.map(
    ({ type, entityId, sequence, happenedAt, snapshot, origin, changed, traceparent }) => {
      const traced = traceparent === undefined ? '' : `,"traceparent":"${traceparent}"`;
      const placed = `"sequence":${sequence},"happenedAt":${JSON.stringify(happenedAt)}`;
      const made = `"origin":"${origin}","changed":${JSON.stringify(changed)}`;
      const of = `"type":"${type}","kind":"${eventTypes[type].entity}","entityId":${JSON.stringify(entityId)}`;
      return `{${of},${placed},${made},"snapshot":${snapshot}${traced}}`;
    },
  );
  return `[${rows.join(',')}]`;
}

/** Writes events of an e-shop, each with a delivery in `deliveryClass` for each active webhook of its type. */
export async function recordEvents(
  tx: Transaction,
  eshopId: number,
  events: readonly EventText[],
  deliveryClass: DeliveryClass = CLASS.fresh,
): Promise<void> {
  if (events.length === 0) return;
  const claimed = deliveryClass === CLASS.fresh && tx.claims();
  const [written] = await tx<WrittenDeliveries[]>`
    with fired as materialized (${firedRows(tx, firedEvents(withTraceParents(events)))}),
    recorded as (${insertEvents(tx, eshopId)}),
    delivered as (${insertDeliveries(tx, eshopId, deliveryClass, claimed)} returning *)
    select ${writtenDeliveries(tx)}`;
  if (written !== undefined) recordWrittenDeliveries(tx, eshopId, events, written, deliveryClass);
}

/**
 * Notes that a transaction created deliveries of these events: after COMMIT the relay is woken, and the bytes of
 * their bodies are counted.
 */
export function recordWrittenDeliveries(
  tx: Transaction,
  eshopId: number,
  events: readonly EventText[],
  { deliveries, claimed }: WrittenDeliveries,
  deliveryClass: DeliveryClass = CLASS.fresh,
): void {
  if (deliveries === 0) return;
  tx.claimed.push(...claimed);
  if (deliveries > claimed.length) wakeRelayAfter(tx, deliveryClass === CLASS.bulk ? 'bulk' : 'fresh');
  tx.outgoing.set(eshopId, (tx.outgoing.get(eshopId) ?? 0) + outgoingBytes(events, deliveries));
}

/** The bytes of the deliveries' bodies, roughly: as if each event had the same number of deliveries. */
export function outgoingBytes(events: readonly { readonly snapshot: string }[], deliveries: number): number {
  const bytes = events.reduce((sum, { snapshot }) => sum + snapshot.length, 0);
  return events.length === 0 ? 0 : Math.round((bytes * deliveries) / events.length);
}
