/**
 * Stock movements: recorded by the warehouse one at a time, and read.
 * @module
 */
import type { StockMovementType } from '../../domain/event-types.ts';
import type { NewMovement, StockMovementRecord } from '../../domain/stock/movement.ts';
import { written } from '../../domain/timestamp.ts';
import type { Pool, Sql } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';
import { moveStock } from './stock.ts';
import type { Listed } from './written.ts';

/**
 * Records a movement; fires CREATE_STOCK_MOVEMENT_<TYPE>.
 * @throws Problem 400 for a SKU that is no product, 409 when there are too few units
 */
export async function createMovement(
  sql: Pool,
  eshopId: number,
  movement: NewMovement,
): Promise<StockMovementRecord> {
  return transaction(sql, (tx) => createMovementIn(tx, eshopId, movement));
}

/** `createMovement` in the caller's transaction. */
export async function createMovementIn(
  tx: Transaction,
  eshopId: number,
  movement: NewMovement,
): Promise<StockMovementRecord> {
  const [record] = await moveStock(tx, eshopId, [movement]);
  if (record === undefined) throw new RangeError('A movement of 0 units cannot be recorded.');
  return record;
}

const columns = [
  'id',
  'type',
  'sku',
  'count',
  'lot',
  'expirationDate',
  'reference',
  'note',
  'balance',
  'createdAt',
];

interface MovementRow extends Omit<StockMovementRecord, 'id' | 'expirationDate' | 'createdAt'> {
  id: string;
  expirationDate: Date | null;
  createdAt: Date;
}

function toRecord(row: MovementRow): StockMovementRecord {
  return {
    ...row,
    id: Number(row.id),
    expirationDate: written(row.expirationDate),
    createdAt: row.createdAt.toISOString(),
  };
}

/** The movement, or null. */
export async function readMovement(
  sql: Sql,
  eshopId: number,
  id: number,
): Promise<StockMovementRecord | null> {
  const [row] = await sql<MovementRow[]>`
    select ${sql(columns)} from stock_movements where eshop_id = ${eshopId} and id = ${id}::bigint`;
  return row === undefined ? null : toRecord(row);
}

/** Which movements a list holds. */
export interface MovementFilter {
  readonly sku?: string | undefined;
  readonly type?: StockMovementType | undefined;
  /** ISO 8601; the time itself included. */
  readonly since?: string | undefined;
}

/** A page of the movements that pass the filter, oldest first. */
export async function listMovements(
  sql: Sql,
  eshopId: number,
  { sku, type, since }: MovementFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Listed<StockMovementRecord>> {
  const where = sql`
    where eshop_id = ${eshopId}
      ${sku === undefined ? sql`` : sql`and sku = ${sku}`}
      ${type === undefined ? sql`` : sql`and type = ${type}`}
      ${since === undefined ? sql`` : sql`and created_at >= ${since}`}`;
  const [rows, counted] = await Promise.all([
    sql<MovementRow[]>`
      select ${sql(columns)} from stock_movements ${where}
      order by created_at, id limit ${limit} offset ${offset}`,
    sql<{ total: string }[]>`select count(*) as total from stock_movements ${where}`,
  ]);
  return { records: rows.map(toRecord), totalCount: Number(counted[0]?.total ?? 0) };
}
