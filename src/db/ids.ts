/** The ids of events and deliveries, and rows by them in partitioned tables. */
import type { Sql } from './pool.ts';

/**
 * The condition that a column holds one of these ids. Their least and greatest are named beside them: from a list alone
 * Postgres does not see which partitions it need not look at.
 * @param column such as sql`d.id`
 * @param ids UUIDs; none: nothing is found
 */
export function anyOf(sql: Sql, column: ReturnType<Sql>, ids: readonly string[]) {
  return sql`${column} = any(${[...ids]}::uuid[]) and ${within(sql, column, ids)}`;
}

/** The condition that a column lies between the least and the greatest of these ids. */
export function within(sql: Sql, column: ReturnType<Sql>, ids: readonly string[]) {
  const [least = null, ...others] = ids.map((id) => id.toLowerCase()).toSorted();
  return sql`${column} between ${least}::uuid and ${others.at(-1) ?? least}::uuid`;
}

/**
 * A new id, as SQL: UUIDv7 by the database's clock, with the fraction of the millisecond behind it (RFC 9562, 6.2,
 * method 3). Made in the transaction, by the clock that says when transactions began, an id is never older than its
 * transaction: what the reads of `src/db/low-water-mark.ts` rely on.
 * @param ticks the time as {@link ticks} counts it; with a number added that differs by row, ids rise with it
 */
export function newId(sql: Sql, ticks: ReturnType<Sql>) {
  return sql`(lpad(to_hex((${ticks}) >> 12), 12, '0') || '7' || lpad(to_hex((${ticks}) & 4095), 3, '0')
    || right(gen_random_uuid()::text, 17))::uuid`;
}

/** The present time by the database's clock in 4096ths of a millisecond, as SQL. */
export function ticks(sql: Sql): ReturnType<Sql> {
  return sql`(extract(epoch from clock_timestamp()) * 4096000)::bigint`;
}
