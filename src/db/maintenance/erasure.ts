/** Finds and erases one customer's personal data (docs/interface.md, O14). */
import { type EntityKind, eventTypeNames, eventTypes } from '../../domain/event-types.ts';
import type { OrderStatus } from '../../domain/order/status.ts';
import { type PersonalKind, type PersonalRecords, withoutPersonalData } from '../../domain/personal-data.ts';
import type { Pool, Sql } from '../connection/pool.ts';
import { deliveriesOfEvent } from '../deliveries/deliveries-of-events.ts';
import { hasAttemptUnderWay, isOpen } from '../predicates.ts';
import type { EntityMapping } from '../records/entity-mapping.ts';
import { orders } from '../records/orders.ts';
import { returns } from '../records/returns.ts';
import { inUnitOfWork, type UnitOfWork } from '../records/unit-of-work.ts';
import { monotonicTime } from '../records/write.ts';
import { removeResponsesOf } from '../stored-responses.ts';
import { type Transaction, transaction } from '../transaction.ts';

export interface CustomerRecords {
  readonly orders: readonly { readonly id: string; readonly status: OrderStatus }[];
  /** Returns of these orders, and returns that were named. */
  readonly returns: readonly string[];
}

/** How much was erased besides the records. */
export interface Erased {
  /** Events whose snapshots were cleared of personal data. */
  readonly events: number;
  /** Attempts whose response snippet was erased. */
  readonly responses: number;
}

const typesOf = (kind: EntityKind) => eventTypeNames.filter((type) => eventTypes[type].entity === kind);

/**
 * Finds a customer's orders: by number, and by an e-mail address in the order or in an event still kept. Their
 * returns are found with them; a return that names no order or an unknown order is found by its own number.
 * @returns without the numbers that no order or return has
 */
export async function findCustomer(
  sql: Sql,
  eshopId: number,
  given: {
    readonly email: string | null;
    readonly orderIds: readonly string[];
    readonly returnIds: readonly string[];
  },
): Promise<CustomerRecords> {
  const { email, orderIds, returnIds } = given;
  const ids = [...orderIds];
  if (email !== null) {
    // As written in a snapshot.
    const written = JSON.stringify(email).toLowerCase();
    const rows = await sql<{ id: string }[]>`
      select eshop_order_id as id from orders
      where eshop_id = ${eshopId} and lower(${email}) in (lower(recipient_email), lower(billing_email))
      union
      select entity_id from events
      where eshop_id = ${eshopId} and type = any(${typesOf('order')}) and position(${written} in lower(snapshot)) > 0`;
    ids.push(...rows.map(({ id }) => id));
  }
  const found = await sql<{ id: string; status: OrderStatus }[]>`
    select eshop_order_id as id, status from orders
    where eshop_id = ${eshopId} and eshop_order_id = any(${ids}) order by created_at, eshop_order_id`;
  const returned = await sql<{ id: string }[]>`
    select eshop_return_id as id from returns
    where eshop_id = ${eshopId}
      and (eshop_order_id = any(${found.map(({ id }) => id)}) or eshop_return_id = any(${[...returnIds]}))
    order by created_at, eshop_return_id`;
  return { orders: [...found], returns: returned.map(({ id }) => id) };
}

interface OfKind<Kind extends PersonalKind = PersonalKind> {
  readonly kind: Kind;
  readonly ids: readonly string[];
}

const kindsOf = (customer: CustomerRecords): [OfKind<'order'>, OfKind<'return'>] => [
  { kind: 'order', ids: customer.orders.map(({ id }) => id) },
  { kind: 'return', ids: customer.returns },
];

/** Deliveries of these records that are open, or may have a request under way. */
export async function openDeliveriesOf(sql: Sql, eshopId: number, customer: CustomerRecords) {
  const open = await Promise.all(
    kindsOf(customer).map((of) => sql<{ id: string }[]>`${selectOpenDeliveries(sql, eshopId, of)}`),
  );
  return open.flat().map(({ id }) => id);
}

/** Goes through the events: no index has the deliveries of a record, and this is repeated until all have ended. */
export function selectOpenDeliveries(sql: Sql, eshopId: number, of: OfKind) {
  return sql`
    select x.id from (select id ${eventsOf(sql, eshopId, of)}) e
    cross join lateral (${deliveriesOfEvent(sql, sql`e.id`, sql`d.id, d.state`)}) x
    where ${isOpen(sql, 'x')} or ${hasAttemptUnderWay(sql, 'x')}`;
}

/**
 * Erases the personal data in the records and in the snapshots of their events, and the response snippets of their
 * deliveries. Fires no event.
 * @returns null if one of their deliveries is open; nothing is changed then
 */
export async function eraseCustomer(sql: Pool, eshopId: number, customer: CustomerRecords) {
  return await transaction(sql, (tx) =>
    inUnitOfWork(tx, eshopId, 'service', async (work) => {
      const [ofOrders, ofReturns] = kindsOf(customer);
      await orders.records(work).lock(ofOrders.ids);
      await returns.records(work).lock(ofReturns.ids);
      // Under these locks no event is written or redelivered.
      for (const erased of [ofOrders, ofReturns])
        await tx`select ${eventsOf(tx, eshopId, erased)} for update`;
      if ((await openDeliveriesOf(tx, eshopId, customer)).length > 0) return null;
      stage(work, orders, ofOrders);
      stage(work, returns, ofReturns);
      for (const { kind, ids } of [ofOrders, ofReturns]) await removeResponsesOf(tx, eshopId, kind, ids);
      const orderEvents = await eraseEvents(tx, eshopId, ofOrders);
      const returnEvents = await eraseEvents(tx, eshopId, ofReturns);
      return {
        events: orderEvents.events + returnEvents.events,
        responses: orderEvents.responses + returnEvents.responses,
      };
    }),
  );
}

function stage<Kind extends PersonalKind>(
  work: UnitOfWork,
  mapping: EntityMapping<PersonalRecords[Kind]>,
  { kind, ids }: OfKind<Kind>,
): void {
  const records = mapping.records(work);
  for (const id of ids) {
    const locked = records.locked(id);
    if (locked === null) continue;
    const at = monotonicTime(work.now, locked.version.at);
    const erased = { ...withoutPersonalData(kind, locked.record), updatedAt: at.toISOString() };
    records.set(id, erased, { ...locked.version, at });
  }
}

const eventsOf = (tx: Sql, eshopId: number, { kind, ids }: OfKind) => tx`
  from events where eshop_id = ${eshopId} and type = any(${typesOf(kind)}) and entity_id = any(${[...ids]}) and test is not true
  order by id`;

async function eraseEvents(tx: Transaction, eshopId: number, of: OfKind): Promise<Erased> {
  const events = await tx<{ id: string; snapshot: string }[]>`
    select id, snapshot ${eventsOf(tx, eshopId, of)}`;
  for (const { id, snapshot } of events) {
    const erased = withoutPersonalData(of.kind, JSON.parse(snapshot));
    await tx`update events set snapshot = ${JSON.stringify(erased)} where id = ${id}`;
  }
  const { count } = await tx`
    update attempts a set response_excerpt = null
    from unnest(${events.map(({ id }) => id)}::uuid[]) as e (id)
    cross join lateral (${deliveriesOfEvent(tx, tx`e.id`, tx`d.id`)}) x
    where a.delivery_id = x.id and a.response_excerpt is not null`;
  return { events: events.length, responses: count };
}
