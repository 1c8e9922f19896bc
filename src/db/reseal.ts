/** Reseals stored secrets for a new master key. */
import type { Keys, SecretOwner } from '../secrets/keys.ts';
import { type Database, type Transaction, transaction } from './transaction.ts';

/** A sealed value; null if there is none. */
type Sealed = Buffer | null;

export interface SealedTable<Row> {
  /** Locks the rows that follow one; undefined: the first. */
  read(tx: Transaction, limit: number, after: Row | undefined): PromiseLike<readonly Row[]>;
  owner(row: Row): SecretOwner;
  /** Its values. The row stays as it is if no key opens one of them. */
  values(row: Row): readonly Sealed[];
  /** A previous secret: if no key opens it, it no longer signs. */
  previous?(row: Row): Sealed;
  write(tx: Transaction, row: Row, values: readonly Sealed[], previous: Sealed): PromiseLike<unknown>;
}

/** Reseals a secret of an owner under the present key; null stays null, as does a secret that no key opens. */
export function resealing(keys: Keys, owner: SecretOwner): (sealed: Sealed) => Sealed {
  return (sealed) => {
    try {
      return sealed === null ? null : keys.encryptSecret(keys.decryptSecret(sealed, owner), owner);
    } catch {
      return null;
    }
  };
}

/** Rows per transaction. Too low: more transactions. Too high: rows of webhooks are locked for longer. */
const BATCH = 200;

export interface ResealOptions {
  readonly batch?: number;
  /** Writes nothing. */
  readonly dryRun?: boolean;
  /** Whether values under the present key are opened and resealed as well: one may be damaged. */
  readonly evenPresent?: boolean;
}

/**
 * Reseals the rows of a table that are not sealed under the present key, page by page, each page in a transaction.
 * @param onUnreadable called with each row that no key opens
 * @returns how many were resealed
 */
export async function resealRows<Row>(
  sql: Database,
  table: SealedTable<Row>,
  keys: Keys,
  { batch = BATCH, dryRun = false, evenPresent = false }: ResealOptions,
  onUnreadable?: (row: Row) => void,
): Promise<number> {
  let resealed = 0;
  const resealRow = async (tx: Transaction, row: Row) => {
    const [values, previous] = [table.values(row), table.previous?.(row) ?? null];
    const isPresent = [...values, previous].every((each) => each === null || keys.isCurrent(each));
    if (isPresent && !evenPresent) return;
    const reseal = resealing(keys, table.owner(row));
    const renewed = values.map(reseal);
    if (values.some((each, index) => each !== null && renewed[index] === null)) onUnreadable?.(row);
    else {
      resealed += 1;
      if (!dryRun) await table.write(tx, row, renewed, reseal(previous));
    }
  };
  let last: Row | undefined;
  do {
    last = await transaction(sql, async (tx) => {
      const rows = await table.read(tx, batch, last);
      for (const row of rows) await resealRow(tx, row);
      return rows.at(-1);
    });
  } while (last !== undefined);
  return resealed;
}
