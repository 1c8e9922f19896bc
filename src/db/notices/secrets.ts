/** The sealed secrets of all e-shops' notices, for a new master key. */
import type { SealedTable } from '../reseal.ts';
import type { Transaction } from '../transaction.ts';

interface SealedSecret {
  readonly eshopId: number;
  readonly secret: Buffer;
}

export const sealedNoticeSecrets: SealedTable<SealedSecret, Buffer> = {
  read: (tx, limit, after) => tx<SealedSecret[]>`
    select id as eshop_id, notice_secret as secret from eshops
    where notice_secret is not null and id > ${after?.eshopId ?? 0} order by id limit ${limit} for no key update`,
  write: (tx, secret, { eshopId }) => tx`update eshops set notice_secret = ${secret} where id = ${eshopId}`,
};

/** Decides about the secret of an e-shop's notices after the loss of the master key; `lost`: it makes a new one. */
export type ReplaceNoticeSecret = (sealed: SealedSecret) => {
  readonly secret: Buffer;
  readonly lost: boolean;
};

/** @returns the e-shops whose secret was lost, ordered by id */
export async function replaceNoticeSecrets(tx: Transaction, replace: ReplaceNoticeSecret, dryRun: boolean) {
  const rows = await tx<(SealedSecret & { readonly name: string; readonly email: string })[]>`
    select id as eshop_id, name, email, notice_secret as secret from eshops
    where notice_secret is not null order by id for no key update`;
  const eshops: { readonly eshopId: number; readonly name: string; readonly email: string }[] = [];
  for (const row of rows) {
    const { eshopId, name, email } = row;
    const { secret, lost } = replace(row);
    if (lost) eshops.push({ eshopId, name, email });
    if (!dryRun) await tx`update eshops set notice_secret = ${secret} where id = ${eshopId}`;
  }
  return eshops;
}
