/** The sealed secrets of all e-shops' notices, for a new master key. */
import type { Pool, Sql } from '../pool.ts';
import { resealRows } from '../reseal.ts';

interface SealedSecret {
  readonly eshopId: number;
  readonly secret: Buffer;
}

/** @param reseal as of {@link resealRows} */
export async function resealNoticeSecrets(
  sql: Pool,
  limit: number,
  reseal: (sealed: SealedSecret) => Buffer | null,
): Promise<void> {
  const read = (tx: Sql, after?: SealedSecret) => tx<SealedSecret[]>`
    select id as eshop_id, notice_secret as secret from eshops
    where notice_secret is not null and id > ${after?.eshopId ?? 0} order by id limit ${limit} for update`;
  const write = (tx: Sql, secret: Buffer, { eshopId }: SealedSecret) =>
    tx`update eshops set notice_secret = ${secret} where id = ${eshopId}`;
  await resealRows(sql, read, reseal, write);
}
