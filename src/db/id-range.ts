/** Lists in the order of ids, which is that of time: pages from the newest on, or the rows after a cursor. */
import { idAt } from '../domain/id-time.ts';
import type { Sql } from './connection/pool.ts';

/** The most rows that a list counts and its pages reach; rows beyond are read with a cursor. */
export const MAX_COUNTED_ROWS = 10_000;

export type Slice =
  /**
   * A page, the newest first.
   * @param afterId an id: nothing is looked for at it or below
   * @param below an id: nothing is looked for at it or above
   */
  | {
      readonly limit: number;
      readonly offset: number;
      readonly afterId?: string | undefined;
      readonly beforeId?: string | undefined;
    }
  /** The rows after an id, the oldest first, below the low-water mark. */
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

/** How many rows, in order, have to be found to include the slice. */
export function rowsNeeded(slice: Slice): number {
  return 'after' in slice ? slice.limit : slice.offset + slice.limit;
}

export function limitOf(sql: Sql, slice: Slice) {
  return 'after' in slice ? sql`limit ${slice.limit}` : sql`limit ${slice.limit} offset ${slice.offset}`;
}

/** The condition that an id is within the ends of a slice, as SQL. */
export function afterCursor(sql: Sql, id: ReturnType<Sql>, slice: Slice) {
  if ('after' in slice) return sql`and ${id} > ${slice.after}::uuid and ${id} < ${slice.before}::uuid`;
  const { afterId, beforeId } = slice;
  return sql`
    ${afterId === undefined ? sql`` : sql`and ${id} > ${afterId}::uuid`}
    ${beforeId === undefined ? sql`` : sql`and ${id} < ${beforeId}::uuid`}`;
}

/** The condition that the time in an id is within these times, as SQL. */
export function betweenTimes(sql: Sql, id: ReturnType<Sql>, { since, until }: Times) {
  return sql`
    ${since === undefined ? sql`` : sql`and ${id} >= ${idAt(since)}::uuid`}
    ${until === undefined ? sql`` : sql`and ${id} < ${idAt(until)}::uuid`}`;
}
