/** Lists in the order of ids, which is that of time: pages from the newest on, or what follows a cursor. */
import { idAt } from '../domain/id-time.ts';
import type { Sql } from './pool.ts';

/** The most rows that a list counts, and that its pages reach: what lies beyond is read with a cursor. */
export const MOST_COUNTED = 10_000;

export type Slice =
  /** A page, the newest first. */
  | { readonly limit: number; readonly offset: number }
  /** What follows an id, the oldest first, below the id up to which rows are complete. */
  | { readonly limit: number; readonly after: string; readonly before: string };

export interface Times {
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
}

export function directionOf(sql: Sql, slice: Slice) {
  return 'after' in slice ? sql`asc` : sql`desc`;
}

/** How many rows of a part's order have to be found to know it. */
export function reachOf(slice: Slice): number {
  return 'after' in slice ? slice.limit : slice.offset + slice.limit;
}

export function cut(sql: Sql, slice: Slice) {
  return 'after' in slice ? sql`limit ${slice.limit}` : sql`limit ${slice.limit} offset ${slice.offset}`;
}

/** The condition that an id lies behind the cursor of a slice and below its end, as SQL. */
export function behind(sql: Sql, id: ReturnType<Sql>, slice: Slice) {
  return 'after' in slice ? sql`and ${id} > ${slice.after}::uuid and ${id} < ${slice.before}::uuid` : sql``;
}

/** The condition that an event, by its id, happened within these times, as SQL. */
export function within(sql: Sql, id: ReturnType<Sql>, { since, until }: Times) {
  return sql`
    ${since === undefined ? sql`` : sql`and ${id} >= ${idAt(since)}::uuid`}
    ${until === undefined ? sql`` : sql`and ${id} < ${idAt(until)}::uuid`}`;
}
