/** Reseals stored secrets for a new master key. */
import type { Pool } from './connection/pool.ts';
import { type Transaction, transaction } from './transaction.ts';

export interface SealedTable<Row, Values> {
  /** Locks the rows that follow one; undefined: the first. */
  read(tx: Transaction, limit: number, after: Row | undefined): PromiseLike<readonly Row[]>;
  write(tx: Transaction, values: Values, row: Row): PromiseLike<unknown>;
}

/**
 * Reseals the rows of a table page by page, each page in a transaction of its own.
 * @param limit rows of a page
 * @param reseal returns the new values of a row; null to leave it as it is
 */
export async function resealRows<Row, Values>(
  sql: Pool,
  { read, write }: SealedTable<Row, Values>,
  limit: number,
  reseal: (row: Row) => Values | null,
): Promise<void> {
  let last: Row | undefined;
  do {
    last = await transaction(sql, async (tx) => {
      const rows = await read(tx, limit, last);
      for (const row of rows) {
        const values = reseal(row);
        if (values !== null) await write(tx, values, row);
      }
      return rows.at(-1);
    });
  } while (last !== undefined);
}
