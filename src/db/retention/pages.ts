/** Deletes rows a page at a time: no statement takes long, and none holds many locks. */
import type postgres from 'postgres';
import type { Pool } from '../pool.ts';

/** Rows changed by one statement. */
const PAGE = 10_000;

/**
 * Changes rows until a page is short.
 * @param step changes at most `limit` rows; returns how many
 * @param signal ends it early; the next run goes on
 * @returns how many in all
 */
export async function inPages(step: (limit: number) => Promise<number>, signal?: AbortSignal, page = PAGE) {
  let changed = 0;
  for (let count = page; count === page && signal?.aborted !== true; ) {
    count = await step(page);
    changed += count;
  }
  return changed;
}

/** Does a step of a removal. Returns how many rows it changed. */
export type RemovalStep = (table: string, work: () => Promise<number>) => Promise<number>;

interface DeletedRows {
  readonly table: string;
  /** A condition on a row `x` of the table. */
  readonly where: postgres.Fragment;
  readonly signal?: AbortSignal | undefined;
  /** Rows deleted by one statement; default 10,000. */
  readonly page?: number | undefined;
}

/** Deletes the rows that meet a condition; a locked row is left to the next run. @returns how many */
export async function deleteInPages(sql: Pool, { table, where, signal, page }: DeletedRows): Promise<number> {
  return await inPages(
    async (limit) => {
      const { count } = await sql`
        delete from ${sql(table)} where ctid = any(array(
          select x.ctid from ${sql(table)} x where ${where} limit ${limit} for update skip locked))`;
      return count;
    },
    signal,
    page,
  );
}
