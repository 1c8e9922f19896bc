/** The ids of events and deliveries, and lookups by id in partitioned tables. */
import type postgres from 'postgres';
import type { Sql } from './sql.ts';

/**
 * The condition that a column holds one of these UUIDs. It includes their bounds: from a list alone Postgres does not
 * see which partitions it may skip.
 */
export function anyOf(sql: Sql, column: ReturnType<Sql>, ids: readonly string[]) {
  return sql`${column} = any(${[...ids]}::uuid[]) and ${inIdRange(sql, column, ids)}`;
}

/**
 * A condition on rows that are found by their ids, as SQL: no partial index matches it. Before version 17, Postgres
 * would otherwise read a whole index of the waiting or open ones, to look among them for the ids.
 */
export function notIndexable(sql: Sql, condition: postgres.Fragment) {
  return sql`((${condition}) is true)`;
}

export function inIdRange(sql: Sql, column: ReturnType<Sql>, ids: readonly string[]) {
  const [least = null, ...others] = ids.map((id) => id.toLowerCase()).toSorted();
  return sql`${column} between ${least}::uuid and ${others.at(-1) ?? least}::uuid`;
}

/**
 * A new id, as SQL: UUIDv7 by the database's clock, with the fraction of the millisecond (RFC 9562, 6.2, method 3).
 * It is never older than its transaction, which `src/db/maintenance/low-water-mark.ts` relies on.
 * @param ticks from {@link ticks}; a row number added to them makes ids rise
 */
export function newId(sql: Sql, ticks: ReturnType<Sql>) {
  return sql`(lpad(to_hex((${ticks}) >> 12), 12, '0') || '7' || lpad(to_hex((${ticks}) & 4095), 3, '0')
    || right(gen_random_uuid()::text, 17))::uuid`;
}

/** The current time by the database's clock in 4096ths of a millisecond, as SQL. */
export function ticks(sql: Sql): ReturnType<Sql> {
  return sql`(extract(epoch from clock_timestamp()) * 4096000)::bigint`;
}
