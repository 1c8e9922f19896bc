/** The signing keys of e-shops. The key before the present one also signs, for a day (docs/interface.md, D19). */
import { OVERLAP_HOURS } from '../../domain/webhook-secret.ts';
import type { Sql } from '../connection/pool.ts';
import type { SealedTable } from '../reseal.ts';
import { type Database, transaction } from '../transaction.ts';

interface SealedPair {
  readonly privateKey: Buffer;
  /** 32 bytes. */
  readonly publicKey: Buffer;
}

/** A key that signs now. */
export interface PublicKeyRow {
  readonly publicKey: Buffer;
  readonly createdAt: Date;
  /** When it ceases to sign; null for the present one. */
  readonly signsUntil: Date | null;
}

/** Makes the first key of an e-shop, unless it has one. */
export async function ensureSigningKey(sql: Sql, eshopId: number, make: () => SealedPair): Promise<void> {
  if ((await sql`select from signing_keys where eshop_id = ${eshopId}`).length > 0) return;
  const { privateKey, publicKey } = make();
  await sql`
    insert into signing_keys (eshop_id, private_key, public_key) values (${eshopId}, ${privateKey}, ${publicKey})
    on conflict (eshop_id) do nothing`;
}

/** The keys that sign now, the newest first. */
export async function listSigningKeys(sql: Sql, eshopId: number): Promise<PublicKeyRow[]> {
  return await sql<PublicKeyRow[]>`
    select public_key, created_at, null::timestamptz as signs_until from signing_keys where eshop_id = ${eshopId}
    union all
    select previous_public_key, previous_created_at, previous_until from signing_keys
    where eshop_id = ${eshopId} and previous_until > now()
    order by signs_until desc nulls first`;
}

/**
 * Makes the next key the present one.
 * @param overlap whether the present key signs for a day more; false ends it and its predecessor at once
 * @returns when the key before the present one ceases to sign, if it still does: then nothing was changed
 */
export async function replaceSigningKey(sql: Database, eshopId: number, next: SealedPair, overlap: boolean) {
  return await transaction(sql, async (tx) => {
    const [present] = await tx<{ previousUntil: Date | null }[]>`
      select case when previous_until > now() then previous_until end as previous_until
      from signing_keys where eshop_id = ${eshopId} for update`;
    if (overlap && present?.previousUntil != null) return present.previousUntil;
    await tx`
      insert into signing_keys as k (eshop_id, private_key, public_key)
      values (${eshopId}, ${next.privateKey}, ${next.publicKey})
      on conflict (eshop_id) do update
      set private_key = excluded.private_key, public_key = excluded.public_key, created_at = excluded.created_at,
          previous_private_key = ${overlap ? tx`k.private_key` : null}, previous_public_key = ${overlap ? tx`k.public_key` : null},
          previous_created_at = ${overlap ? tx`k.created_at` : null},
          previous_until = ${overlap ? tx`now() + make_interval(hours => ${OVERLAP_HOURS})` : null}`;
    return null;
  });
}

/** The private keys of an e-shop, sealed. */
interface SealedSigningKeys {
  readonly eshopId: number;
  readonly privateKey: Buffer;
  /** Null if only the present key signs. */
  readonly previousPrivateKey: Buffer | null;
}

export const sealedSigningKeys: SealedTable<SealedSigningKeys> = {
  read: (tx, limit, after) => tx<SealedSigningKeys[]>`
    select eshop_id, private_key, case when previous_until > now() then previous_private_key end as previous_private_key
    from signing_keys where eshop_id > ${after?.eshopId ?? 0} order by eshop_id limit ${limit} for update`,
  owner: ({ eshopId }) => ({ eshopId, of: 'signing key' }),
  values: ({ privateKey }) => [privateKey],
  previous: ({ previousPrivateKey }) => previousPrivateKey,
  write: (tx, { eshopId }, [privateKey = null], previous) => tx`
    update signing_keys
    set private_key = ${privateKey}, previous_private_key = ${previous},
        previous_until = ${previous === null ? null : tx`previous_until`}
    where eshop_id = ${eshopId}`,
};
