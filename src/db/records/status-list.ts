/**
 * Lists of records that have a status: orders, receivings and returns.
 * @module
 */
import type { Fragment } from 'postgres';
import type { Sql } from '../pool.ts';

/** Which records a list holds. Times are ISO 8601, themselves included. */
export interface StatusFilter<Status> {
  readonly status?: Status | undefined;
  readonly createdSince?: string | undefined;
  readonly updatedSince?: string | undefined;
}

/** The rows of a page and how many there are in all. */
export interface ListedRows<Row> {
  readonly rows: readonly Row[];
  readonly totalCount: number;
}

/**
 * A page of the rows of an e-shop that pass the filter, oldest first.
 * @param from the table, the column that identifies a row within an e-shop, and what to select
 */
export async function listByStatus<Row extends object>(
  sql: Sql,
  from: { readonly table: string; readonly key: string; readonly select: Fragment },
  eshopId: number,
  { status, createdSince, updatedSince }: StatusFilter<string>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<ListedRows<Row>> {
  const table = sql(from.table);
  const where = sql`
    where eshop_id = ${eshopId}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${createdSince === undefined ? sql`` : sql`and created_at >= ${createdSince}`}
      ${updatedSince === undefined ? sql`` : sql`and updated_at >= ${updatedSince}`}`;
  const [rows, counted] = await Promise.all([
    sql<Row[]>`
      select ${from.select} from ${table} ${where}
      order by created_at, ${sql(from.key)} limit ${limit} offset ${offset}`,
    sql<{ total: string }[]>`select count(*) as total from ${table} ${where}`,
  ]);
  return { rows, totalCount: Number(counted[0]?.total ?? 0) };
}
