/**
 * Returns: every write is one transaction under a lock of the return's row, with what follows from it.
 * @module
 */
import { returnEntry } from '../../domain/catalogue.ts';
import { conflict, notFound } from '../../domain/problem.ts';
import {
  type ReturnLine,
  type ReturnRecord,
  returnEntries,
  returnResponseOnly,
} from '../../domain/return/schema.ts';
import type { ReturnStatus } from '../../domain/return/status.ts';
import { written } from '../../domain/timestamp.ts';
import { databaseTime } from '../clock.ts';
import { recordChange } from '../outbox/events.ts';
import type { Pool, Sql } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';
import { returnMovesStock } from './return-stock.ts';
import { listByStatus, type StatusFilter } from './status-list.ts';
import { type Listed, unchanged } from './written.ts';

const LINES = 'returnedOrderProducts';
/** The columns in the record's order; the lines stand in a table of their own. */
const columns = [...Object.keys(returnEntries), ...returnResponseOnly].filter((name) => name !== LINES);

type Times = 'createdAt' | 'updatedAt' | 'confirmedAt' | 'receivedAt' | 'canceledAt';
interface ReturnRow extends Omit<ReturnRecord, typeof LINES | Times> {
  createdAt: Date;
  updatedAt: Date;
  confirmedAt: Date | null;
  receivedAt: Date | null;
  canceledAt: Date | null;
  lines: ReturnLine[];
}

function toRecord({ lines, rma, note, status, ...row }: ReturnRow): ReturnRecord {
  const { createdAt, updatedAt, confirmedAt, receivedAt, canceledAt, ...fields } = row;
  return {
    ...fields,
    returnedOrderProducts: lines,
    rma,
    note,
    status,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    confirmedAt: written(confirmedAt),
    receivedAt: written(receivedAt),
    canceledAt: written(canceledAt),
  };
}

function toLineRows(eshopId: number, { eshopReturnId, returnedOrderProducts }: ReturnRecord) {
  return returnedOrderProducts.map((line, position) => ({ eshopId, eshopReturnId, position, ...line }));
}

/** The lines beside their return in one statement: a reader never sees one without the other. */
function linesInOne(sql: Sql) {
  return sql`(
    select json_agg(json_build_object(
      'sku', sku, 'quantity', quantity::text, 'received', received::text, 'returnReason', return_reason,
      'resolution', resolution, 'lot', lot, 'lineState', line_state) order by position)
    from returned_order_products p
    where p.eshop_id = returns.eshop_id and p.eshop_return_id = returns.eshop_return_id)`;
}

/** A whole record in one row. */
function allOf(sql: Sql) {
  return sql`${sql(columns)}, ${linesInOne(sql)} as lines`;
}

/**
 * Creates a return; fires CREATE_RETURN.
 * @throws Problem 409 when the e-shop has one of this identifier
 */
export async function createReturn(sql: Pool, eshopId: number, record: ReturnRecord): Promise<ReturnRecord> {
  return transaction(sql, async (tx) => {
    const { returnedOrderProducts: _, ...values } = record;
    const inserted = await tx`
      insert into returns ${tx({ eshopId, ...values })}
      on conflict (eshop_id, eshop_return_id) do nothing returning eshop_id`;
    if (inserted.length === 0) throw conflict(`The return ${record.eshopReturnId} exists already.`);
    await tx`insert into returned_order_products ${tx(toLineRows(eshopId, record))}`;
    return follow(tx, eshopId, null, record);
  });
}

/**
 * Applies a pure change to a return under its row lock; fires what the comparison of before and after says.
 * @param change throws what it refuses with; nothing is written then
 * @throws Problem 404 when there is no such return, 409 when its stock cannot be moved
 */
export async function changeReturn(
  sql: Pool,
  eshopId: number,
  id: string,
  change: (before: ReturnRecord, now: Date) => ReturnRecord,
): Promise<ReturnRecord> {
  return transaction(sql, (tx) => changeReturnIn(tx, eshopId, id, change));
}

/** `changeReturn` in the caller's transaction. */
export async function changeReturnIn(
  tx: Transaction,
  eshopId: number,
  id: string,
  change: (before: ReturnRecord, now: Date) => ReturnRecord,
): Promise<ReturnRecord> {
  await tx`select from returns where eshop_id = ${eshopId} and eshop_return_id = ${id} for update`;
  // Read after the lock, and so as new as it.
  const [before, now] = await Promise.all([readReturn(tx, eshopId, id), databaseTime(tx)]);
  if (before === null) throw notFound(`There is no return ${id}.`);
  const changed = change(before, now);
  if (unchanged(before, changed)) return before;
  const after = { ...changed, updatedAt: now.toISOString() };
  const { returnedOrderProducts, ...values } = after;
  await tx`
    update returns set ${tx({ ...values })} where eshop_id = ${eshopId} and eshop_return_id = ${id}`;
  if (!unchanged(before.returnedOrderProducts, returnedOrderProducts)) {
    await tx`delete from returned_order_products where eshop_id = ${eshopId} and eshop_return_id = ${id}`;
    await tx`insert into returned_order_products ${tx(toLineRows(eshopId, after))}`;
  }
  return follow(tx, eshopId, before, after);
}

/** What follows from a write, in its transaction: effects first, so that the event is the last word. */
async function follow(
  tx: Transaction,
  eshopId: number,
  before: ReturnRecord | null,
  after: ReturnRecord,
): Promise<ReturnRecord> {
  await returnMovesStock(tx, eshopId, before, after);
  const entityId = after.eshopReturnId;
  await recordChange(tx, returnEntry, { eshopId, entityId, before, after });
  return after;
}

/** The return, or null. */
export async function readReturn(sql: Sql, eshopId: number, id: string): Promise<ReturnRecord | null> {
  const [row] = await sql<ReturnRow[]>`
    select ${allOf(sql)} from returns
    where eshop_id = ${eshopId} and eshop_return_id = ${id}`;
  return row === undefined ? null : toRecord(row);
}

/** A page of the returns that pass the filter, oldest first. */
export async function listReturns(
  sql: Sql,
  eshopId: number,
  filter: StatusFilter<ReturnStatus>,
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<ReturnRecord>> {
  const from = { table: 'returns', key: 'eshop_return_id', select: allOf(sql) };
  const { rows, totalCount } = await listByStatus<ReturnRow>(sql, from, eshopId, filter, page);
  return { records: rows.map(toRecord), totalCount };
}
