/**
 * Orders: every write is one transaction under a lock of the order's row, with what follows from it.
 * @module
 */
import { orderEntry } from '../../domain/catalogue.ts';
import type { OrderProduct, OrderRecord } from '../../domain/order/schema.ts';
import type { OrderStatus } from '../../domain/order/status.ts';
import { conflict, notFound } from '../../domain/problem.ts';
import { databaseTime } from '../clock.ts';
import { recordChange } from '../outbox/events.ts';
import type { Pool, Sql } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';
import { applyOrderEffects } from './order-effects.ts';
import { type OrderRow, orderColumns, toLineRows, toOrderRecord, toOrderRow } from './order-rows.ts';
import { listByStatus, type StatusFilter } from './status-list.ts';
import { type Listed, unchanged } from './written.ts';

/** Who makes a change matters in one respect only. */
export interface ChangeOptions {
  /** True where the release timer itself makes the change and need not be told of it. */
  readonly byTimer?: boolean;
}

/**
 * Creates an order; fires CREATE_ORDER.
 * @throws Problem 409 when the e-shop has one of this identifier
 */
export async function createOrder(sql: Pool, eshopId: number, record: OrderRecord): Promise<OrderRecord> {
  return transaction(sql, (tx) => createOrderIn(tx, eshopId, record));
}

/** `createOrder` in the caller's transaction. */
export async function createOrderIn(
  tx: Transaction,
  eshopId: number,
  record: OrderRecord,
): Promise<OrderRecord> {
  const inserted = await tx`
    insert into orders ${tx({ eshopId, ...toOrderRow(tx, record) })}
    on conflict (eshop_id, eshop_order_id) do nothing returning eshop_id`;
  if (inserted.length === 0) throw conflict(`The order ${record.eshopOrderId} exists already.`);
  await tx`insert into order_products ${tx(toLineRows(tx, eshopId, record))}`;
  return follow(tx, eshopId, null, record, {});
}

/**
 * Applies a pure change to an order under its row lock; fires what the comparison of before and after says.
 * @param change throws what it refuses with; nothing is written then. Its `now` is the time of the whole change, by the
 * database's clock, taken under the lock
 * @throws Problem 404 when there is no such order
 */
export async function changeOrder(
  sql: Pool,
  eshopId: number,
  eshopOrderId: string,
  change: (before: OrderRecord, now: Date) => OrderRecord,
  options: ChangeOptions = {},
): Promise<OrderRecord> {
  return transaction(sql, (tx) => changeOrderIn(tx, eshopId, eshopOrderId, change, options));
}

/** `changeOrder` in the caller's transaction. */
export async function changeOrderIn(
  tx: Transaction,
  eshopId: number,
  eshopOrderId: string,
  change: (before: OrderRecord, now: Date) => OrderRecord,
  options: ChangeOptions = {},
): Promise<OrderRecord> {
  const [row] = await tx<OrderRow[]>`
    select ${tx(orderColumns)} from orders
    where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId} for update`;
  if (row === undefined) throw notFound(`There is no order ${eshopOrderId}.`);
  const [lines, now] = await Promise.all([linesOf(tx, eshopId, eshopOrderId), databaseTime(tx)]);
  const before = toOrderRecord(row, lines);
  const changed = change(before, now);
  if (unchanged(before, changed)) return before;
  const after = { ...changed, updatedAt: now.toISOString() };
  await tx`
    update orders set ${tx(toOrderRow(tx, after))}
    where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
  if (!unchanged(before.orderProducts, after.orderProducts)) {
    await tx`delete from order_products where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
    await tx`insert into order_products ${tx(toLineRows(tx, eshopId, after))}`;
  }
  return follow(tx, eshopId, before, after, options);
}

/** What follows from a write, in its transaction: effects first, so that the event is the last word. */
async function follow(
  tx: Transaction,
  eshopId: number,
  before: OrderRecord | null,
  after: OrderRecord,
  options: ChangeOptions,
): Promise<OrderRecord> {
  await applyOrderEffects(tx, { eshopId, before, after, byTimer: options.byTimer === true });
  const entityId = after.eshopOrderId;
  await recordChange(tx, orderEntry, { eshopId, entityId, before, after });
  return after;
}

/** The lines of an order whose row is locked: read after the lock, they are as new as it. */
async function linesOf(sql: Sql, eshopId: number, eshopOrderId: string): Promise<OrderProduct[]> {
  return sql<OrderProduct[]>`
    select sku, quantity, unit_price, vat_rate, lot, packing_lists from order_products
    where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}
    order by position`;
}

interface FullRow extends OrderRow {
  lines: OrderProduct[];
}

/** The lines beside their order in one statement: a reader never sees one without the other. */
function linesInOne(sql: Sql) {
  return sql`(
    select coalesce(json_agg(json_build_object(
      'sku', sku, 'quantity', quantity::text, 'unitPrice', unit_price::text, 'vatRate', vat_rate::text,
      'lot', lot, 'packingLists', packing_lists) order by position), '[]')
    from order_products p
    where p.eshop_id = orders.eshop_id and p.eshop_order_id = orders.eshop_order_id)`;
}

/** A whole record in one row. */
function allOf(sql: Sql) {
  return sql`${sql(orderColumns)}, ${linesInOne(sql)} as lines`;
}

function fullRecord({ lines, ...row }: FullRow): OrderRecord {
  return toOrderRecord(row, lines);
}

/** The order, or null. */
export async function readOrder(
  sql: Sql,
  eshopId: number,
  eshopOrderId: string,
): Promise<OrderRecord | null> {
  const [row] = await sql<FullRow[]>`
    select ${allOf(sql)} from orders
    where eshop_id = ${eshopId} and eshop_order_id = ${eshopOrderId}`;
  return row === undefined ? null : fullRecord(row);
}

/** A page of the orders that pass the filter, oldest first. */
export async function listOrders(
  sql: Sql,
  eshopId: number,
  filter: StatusFilter<OrderStatus>,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<OrderRecord>> {
  const from = { table: 'orders', key: 'eshop_order_id', select: allOf(sql) };
  const { rows, totalCount } = await listByStatus<FullRow>(sql, from, eshopId, filter, page);
  return { records: rows.map(fullRecord), totalCount };
}
