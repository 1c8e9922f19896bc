/**
 * Rows by their ids, in partitioned tables.
 * @module
 */
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
