/** Deletes rows a page at a time: no statement takes long, and none holds many locks. */
import type postgres from 'postgres';
import type { Pool } from '../connection/pool.ts';

/** The default number of rows per statement. */
const PAGE = 10_000;

interface Paging {
  /** Ends it early; the next run goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Rows changed by one statement. */
  readonly page?: number | undefined;
}

/** Changes rows until a page is short. @param step changes up to `limit` rows, returns how many @returns the sum */
export async function inPages({ signal, page = PAGE }: Paging, step: (limit: number) => Promise<number>) {
  let changed = 0;
  for (let count = page; count === page && signal?.aborted !== true; ) {
    count = await step(page);
    changed += count;
  }
  return changed;
}

/** Deletes the rows `x` of a table that meet a condition. @param page rows per statement. @returns how many */
export type Remove = (table: string, where: postgres.Fragment, page?: number) => Promise<number>;

/** @returns a function that leaves locked rows to the next run */
export const pagedDelete =
  (sql: Pool, signal?: AbortSignal): Remove =>
  (table, where, page) =>
    inPages({ signal, page }, async (limit) => {
      const { count } = await sql`
        delete from ${sql(table)} where ctid = any(array(
          select x.ctid from ${sql(table)} x where ${where} limit ${limit} for update skip locked))`;
      return count;
    });
