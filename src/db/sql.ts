/** For every query function: the type that executes statements, and helpers for statements with one row. */
import postgres from 'postgres';

/** A pool or a transaction: the first parameter of every query function. */
export type Sql = postgres.Sql | postgres.TransactionSql;

/** The first row of a statement; null without rows. */
export async function firstRow<Row>(rows: PromiseLike<readonly Row[]>): Promise<Row | null> {
  return (await rows)[0] ?? null;
}

/** The row of a statement that always has one. */
export async function oneRow<Row>(rows: PromiseLike<readonly Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Error('A statement that always has a row had none.');
  return row;
}

/** The count that a statement returns. */
export async function counted(rows: PromiseLike<readonly { readonly count: number }[]>): Promise<number> {
  return (await oneRow(rows)).count;
}

/** A time as in the API, as SQL: ISO 8601 in UTC with milliseconds. @param time a column, from the source */
export const isoTime = (time: string) =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * An array of objects in JSON as a table, as SQL, with their `place` from 1.
 * @param columns their types by field; their names are those of the fields in snake case
 */
export function recordset(sql: Sql, json: string, alias: string, columns: Readonly<Record<string, string>>) {
  const types = Object.entries(columns).map(([field, type]) => `"${field}" ${type}`);
  const names = [...Object.keys(columns).map(postgres.fromCamel), 'place'];
  return sql`
    rows from (json_to_recordset(${json}::text::json) as (${sql.unsafe(types.join(', '))}))
      with ordinality as ${sql(alias)} (${sql.unsafe(names.join(', '))})`;
}
