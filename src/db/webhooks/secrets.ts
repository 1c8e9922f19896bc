/** The sealed secrets of all webhooks, for a new master key. */
import type { Pool } from '../pool.ts';
import { transaction } from '../transaction.ts';

/** The sealed secrets of one webhook, deleted ones included until the retention has erased them. */
export interface SealedSecrets {
  readonly id: number;
  readonly eshopId: number;
  readonly secret: Buffer;
  /** Static headers; null without any. */
  readonly headers: Buffer | null;
  /** Null once the overlap of a rotation of the webhook's own secret has ended: it no longer signs anything. */
  readonly previousSecret: Buffer | null;
  /** It signs nothing any more. */
  readonly deleted: boolean;
}

/**
 * Reseals the secrets of the next webhooks in one transaction.
 * @param after the last id of the batch before; 0 for the first
 * @param reseal what they become, or null to leave a webhook as it is
 * @returns the last id looked at, or null when there were none left
 */
export async function resealBatch(
  sql: Pool,
  after: number,
  limit: number,
  reseal: (sealed: SealedSecrets) => Pick<SealedSecrets, 'secret' | 'headers' | 'previousSecret'> | null,
): Promise<number | null> {
  return await transaction(sql, async (tx) => {
    const rows = await tx<SealedSecrets[]>`
      select id, eshop_id, secret, headers, case when previous_secret_until > now() then previous_secret end as previous_secret,
        deleted_at is not null as deleted
      from webhooks where id > ${after} and secret <> '' order by id limit ${limit} for update`;
    for (const row of rows) {
      const made = reseal(row);
      if (made === null) continue;
      await tx`
        update webhooks set secret = ${made.secret}, headers = ${made.headers}, previous_secret = ${made.previousSecret}
        where id = ${row.id}`;
    }
    return rows.at(-1)?.id ?? null;
  });
}
