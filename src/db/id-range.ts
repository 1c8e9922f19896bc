/** Lists in the order of ids, which is that of time: pages from the newest on, or what follows a cursor. */
import { idAt } from '../domain/id-time.ts';
import type { Sql } from './pool.ts';

/** The most rows that a list counts, and that its pages reach: what lies beyond is read with a cursor. */
export const MOST_COUNTED = 10_000;

/** What is read of a list. */
export type Part =
  /** A page, the newest first. */
  | { readonly limit: number; readonly offset: number }
  /** What follows an id, the oldest first, below the id up to which rows are complete. */
  | { readonly limit: number; readonly after: string; readonly before: string };

/** Times of events. */
export interface Times {
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
}

/** The order of a part, as SQL. */
export function directionOf(sql: Sql, part: Part) {
  return 'after' in part ? sql`asc` : sql`desc`;
}

/** How many rows of a part's order have to be found to know it. */
export function reachOf(part: Part): number {
  return 'after' in part ? part.limit : part.offset + part.limit;
}

/** The page of what was found, as SQL. */
export function cut(sql: Sql, part: Part) {
  return 'after' in part ? sql`limit ${part.limit}` : sql`limit ${part.limit} offset ${part.offset}`;
}

/** The condition that an id lies behind the cursor of a part and below its end, as SQL. */
export function behind(sql: Sql, id: ReturnType<Sql>, part: Part) {
  return 'after' in part ? sql`and ${id} > ${part.after}::uuid and ${id} < ${part.before}::uuid` : sql``;
}

/** The condition that an event, by its id, happened within these times, as SQL. */
export function within(sql: Sql, id: ReturnType<Sql>, { since, until }: Times) {
  return sql`
    ${since === undefined ? sql`` : sql`and ${id} >= ${idAt(since)}::uuid`}
    ${until === undefined ? sql`` : sql`and ${id} < ${idAt(until)}::uuid`}`;
}
