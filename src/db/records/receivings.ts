/**
 * Receivings: every write is one transaction under a lock of the receiving's row, with what follows from it.
 * @module
 */
import { receivingEntry } from '../../domain/catalogue.ts';
import { conflict, notFound } from '../../domain/problem.ts';
import { receivingOf } from '../../domain/receiving/changes.ts';
import { type ReceivingLine, type ReceivingRecord, receivingEntries } from '../../domain/receiving/schema.ts';
import type { ReceivingStatus } from '../../domain/receiving/status.ts';
import { written } from '../../domain/timestamp.ts';
import { databaseTime } from '../clock.ts';
import { asTimestamp, json } from '../json.ts';
import { recordChange } from '../outbox/events.ts';
import type { Pool, Sql } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';
import { receivingMovesStock } from './receiving-stock.ts';
import { listByStatus, type StatusFilter } from './status-list.ts';
import { type Listed, unchanged } from './written.ts';

/** The columns; the lines stand in a table of their own, and their sum is the domain's. */
const columns = [...Object.keys(receivingEntries).filter((name) => name !== 'products'), 'status'];

interface ReceivingRow extends Omit<ReceivingRecord, 'products' | 'unitsAmount' | 'estimatedDelivery'> {
  estimatedDelivery: Date | null;
  lines: ReceivingLine[];
}

function toRecord({ lines: products, status, ...row }: ReceivingRow): ReceivingRecord {
  return receivingOf({ ...row, estimatedDelivery: written(row.estimatedDelivery) }, products, status);
}

function toRow(sql: Sql, { products: _, unitsAmount: _sum, packagings, ...values }: ReceivingRecord) {
  return { ...values, packagings: json(sql, packagings) };
}

function toLineRows(eshopId: number, { eshopReceivingId, products }: ReceivingRecord) {
  return products.map((line, position) => ({ eshopId, eshopReceivingId, position, ...line }));
}

/** The lines beside their receiving in one statement: a reader never sees one without the other. */
function linesInOne(sql: Sql) {
  return sql`(
    select json_agg(json_build_object(
      'sku', sku, 'quantity', quantity::text, 'lot', lot, 'received', received::text,
      'expirationDate', ${asTimestamp(sql, sql`expiration_date`)}, 'lineState', line_state) order by position)
    from receiving_products p
    where p.eshop_id = receivings.eshop_id and p.eshop_receiving_id = receivings.eshop_receiving_id)`;
}

/** A whole record in one row. */
function allOf(sql: Sql) {
  return sql`${sql(columns)}, ${linesInOne(sql)} as lines`;
}

/**
 * Creates a receiving; fires CREATE_RECEIVING.
 * @throws Problem 409 when the e-shop has one of this identifier
 */
export async function createReceiving(
  sql: Pool,
  eshopId: number,
  record: ReceivingRecord,
): Promise<ReceivingRecord> {
  return transaction(sql, async (tx) => {
    const { eshopReceivingId: id } = record;
    const inserted = await tx`
      insert into receivings ${tx({ eshopId, ...toRow(tx, record) })}
      on conflict (eshop_id, eshop_receiving_id) do nothing returning eshop_id`;
    if (inserted.length === 0) throw conflict(`The receiving ${id} exists already.`);
    await tx`insert into receiving_products ${tx(toLineRows(eshopId, record))}`;
    return follow(tx, eshopId, null, record);
  });
}

/**
 * Applies a pure change to a receiving under its row lock; fires what the comparison of before and after says.
 * @param change throws what it refuses with; nothing is written then
 * @throws Problem 404 when there is no such receiving, 409 when its stock cannot be moved
 */
export async function changeReceiving(
  sql: Pool,
  eshopId: number,
  id: string,
  change: (before: ReceivingRecord, now: Date) => ReceivingRecord,
): Promise<ReceivingRecord> {
  return transaction(sql, (tx) => changeReceivingIn(tx, eshopId, id, change));
}

/** `changeReceiving` in the caller's transaction. */
export async function changeReceivingIn(
  tx: Transaction,
  eshopId: number,
  id: string,
  change: (before: ReceivingRecord, now: Date) => ReceivingRecord,
): Promise<ReceivingRecord> {
  await tx`select from receivings where eshop_id = ${eshopId} and eshop_receiving_id = ${id} for update`;
  // Read after the lock, and so as new as it.
  const [before, now] = await Promise.all([readReceiving(tx, eshopId, id), databaseTime(tx)]);
  if (before === null) throw notFound(`There is no receiving ${id}.`);
  const after = change(before, now);
  if (unchanged(before, after)) return before;
  await tx`
    update receivings set ${tx({ ...toRow(tx, after), updatedAt: now })}
    where eshop_id = ${eshopId} and eshop_receiving_id = ${id}`;
  if (!unchanged(before.products, after.products)) {
    await tx`delete from receiving_products where eshop_id = ${eshopId} and eshop_receiving_id = ${id}`;
    await tx`insert into receiving_products ${tx(toLineRows(eshopId, after))}`;
  }
  return follow(tx, eshopId, before, after);
}

/** What follows from a write, in its transaction: effects first, so that the event is the last word. */
async function follow(
  tx: Transaction,
  eshopId: number,
  before: ReceivingRecord | null,
  after: ReceivingRecord,
): Promise<ReceivingRecord> {
  await receivingMovesStock(tx, eshopId, before, after);
  const entityId = after.eshopReceivingId;
  await recordChange(tx, receivingEntry, { eshopId, entityId, before, after });
  return after;
}

/** The receiving, or null. */
export async function readReceiving(sql: Sql, eshopId: number, id: string): Promise<ReceivingRecord | null> {
  const [row] = await sql<ReceivingRow[]>`
    select ${allOf(sql)} from receivings
    where eshop_id = ${eshopId} and eshop_receiving_id = ${id}`;
  return row === undefined ? null : toRecord(row);
}

/** A page of the receivings that pass the filter, oldest first. */
export async function listReceivings(
  sql: Sql,
  eshopId: number,
  filter: StatusFilter<ReceivingStatus>,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<ReceivingRecord>> {
  const from = { table: 'receivings', key: 'eshop_receiving_id', select: allOf(sql) };
  const { rows, totalCount } = await listByStatus<ReceivingRow>(sql, from, eshopId, filter, page);
  return { records: rows.map(toRecord), totalCount };
}
