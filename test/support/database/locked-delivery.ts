import { onTestFinished } from 'vitest';
import type { Pool } from '../../../src/db/connection/pool.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { later } from '../later.ts';

/**
 * Locks the row of a delivery: a step that writes it begins, and does not end.
 * @returns a function that releases it, at the latest at the end of the test
 */
export async function lockDelivery(sql: Pool, id: string): Promise<() => void> {
  const [locked, locks] = later();
  const [release, releases] = later();
  const holding = transaction(sql, async (tx) => {
    await tx`select from deliveries where id = ${id} for update`;
    locks();
    await release;
  });
  onTestFinished(async () => {
    releases();
    await holding;
  });
  await Promise.race([locked, holding]);
  return releases;
}
