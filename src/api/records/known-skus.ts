/** Checks the SKUs of a body. They are nearly always known, so the database is only asked after a refused write. */
import { knownSkus } from '../../db/records/products.ts';
import { FOREIGN_KEY_VIOLATION, hasSqlstate } from '../../db/sqlstate.ts';
import type { Database } from '../../db/transaction.ts';
import { Problem } from '../../domain/problem.ts';

/**
 * Writes as if all these SKUs were products of the e-shop; once refused, again with the known ones, to name the
 * others too.
 */
export async function withKnownSkus<T>(
  sql: Database,
  eshopId: number,
  skus: readonly string[],
  write: (known: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  try {
    return await write(new Set(skus));
  } catch (error) {
    const unknown = hasSqlstate(error, FOREIGN_KEY_VIOLATION);
    if (skus.length === 0 || !(unknown || (error instanceof Problem && error.status !== 404))) throw error;
    const existing = await knownSkus(sql, eshopId, skus);
    // A missing product may have been created in the meantime.
    if (existing.size === skus.length && !unknown) throw error;
    return write(existing);
  }
}
