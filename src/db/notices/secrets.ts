/** The sealed secrets of all e-shops' notices. */
import type { SealedTable } from '../reseal.ts';

interface SealedSecret {
  readonly eshopId: number;
  readonly secret: Buffer;
}

export const sealedNoticeSecrets: SealedTable<SealedSecret> = {
  read: (tx, limit, after) => tx<SealedSecret[]>`
    select id as eshop_id, notice_secret as secret from eshops
    where notice_secret is not null and id > ${after?.eshopId ?? 0} order by id limit ${limit} for no key update`,
  owner: ({ eshopId }) => ({ eshopId, of: 'notices' }),
  values: ({ secret }) => [secret],
  write: (tx, { eshopId }, [secret = null]) => tx`
    update eshops set notice_secret = ${secret} where id = ${eshopId}`,
};
