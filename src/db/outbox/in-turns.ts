/** Rows that wait to be passed on take turns by e-shop, so that an e-shop with very many delays only itself. */
import type postgres from 'postgres';
import type { Sql } from '../connection/pool.ts';

/** The rows `o` of a table that wait. */
interface Waiting {
  readonly table: 'changes_to_signal' | 'recoveries' | 'notices';
  /** The condition of these rows. An index with this condition begins with `eshop_id` and `dueAt`. */
  readonly which: postgres.Fragment;
  /** A further condition. */
  readonly claimable: postgres.Fragment;
  /** When each row is due: an e-shop's row that has been due longest comes first. */
  readonly dueAt: postgres.Fragment;
}

/**
 * Chooses up to `limit` as `chosen`, and locks them, as SQL after `with`. Rows that are due take turns by e-shop;
 * the rest follows by due time.
 */
export function inTurns(sql: Sql, limit: number, { table, which, claimable, dueAt }: Waiting) {
  const from = sql`${sql(table)} o`;
  return sql`
  recursive
  eshops as (
    (select o.eshop_id from ${from} where ${which} order by o.eshop_id limit 1)
    union all
    select next.eshop_id from eshops e cross join lateral (
      select o.eshop_id from ${from} where ${which} and o.eshop_id > e.eshop_id order by o.eshop_id limit 1) next),
  heads as (
    select head.*, row_number() over (partition by e.eshop_id order by head.due_at, head.id) as turn
    from eshops e cross join lateral (
      select o.id, ${dueAt} as due_at from ${from}
      where ${which} and o.eshop_id = e.eshop_id and ${claimable}
      -- Twice as many: another claim may be taking the first ones.
      order by ${dueAt}, o.id limit ${2 * limit}) head),
  chosen as (
    select locked.id from (
      select * from heads order by due_at > now(), case when due_at <= now() then turn end, due_at, id) h
    cross join lateral (
      select o.id from ${from} where o.id = h.id and ${which} and ${claimable} limit 1 for update skip locked) locked
    limit ${limit})`;
}
