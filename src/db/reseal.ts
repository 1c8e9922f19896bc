/** Reseals stored secrets for a new master key. */
import type { Pool } from './pool.ts';
import { type Transaction, transaction } from './transaction.ts';

/**
 * Reseals the rows of a table page by page, each page in a transaction of its own.
 * @param read locks the rows that follow one; undefined: the first
 * @param reseal returns the new values of a row; null to leave it as it is
 */
export async function resealRows<Row, Values>(
  sql: Pool,
  read: (tx: Transaction, after: Row | undefined) => Promise<readonly Row[]>,
  reseal: (row: Row) => Values | null,
  write: (tx: Transaction, values: Values, row: Row) => Promise<unknown>,
): Promise<void> {
  let last: Row | undefined;
  do {
    last = await transaction(sql, async (tx) => {
      const rows = await read(tx, last);
      for (const row of rows) {
        const values = reseal(row);
        if (values !== null) await write(tx, values, row);
      }
      return rows.at(-1);
    });
  } while (last !== undefined);
}
