/** The sealed secrets of all e-shops' notices, for a new master key. */
import type { Pool } from '../pool.ts';
import { transaction } from '../transaction.ts';

/**
 * Reseals them in one transaction: each e-shop has one at most.
 * @param reseal returns the new value, or null to leave it as it is
 */
export async function resealNoticeSecrets(
  sql: Pool,
  reseal: (stored: { readonly eshopId: number; readonly secret: Buffer }) => Buffer | null,
): Promise<void> {
  await transaction(sql, async (tx) => {
    const rows = await tx<{ eshopId: number; secret: Buffer }[]>`
      select id as eshop_id, notice_secret as secret from eshops where notice_secret is not null order by id for update`;
    for (const row of rows) {
      const made = reseal(row);
      if (made !== null) await tx`update eshops set notice_secret = ${made} where id = ${row.eshopId}`;
    }
  });
}
