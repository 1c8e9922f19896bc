/** The sealed secrets of all webhooks, for a new master key. */
import type { LostWebhook } from '../../domain/mailed.ts';
import type { SealedWebhook } from '../../secrets/static-headers.ts';
import type { Sql } from '../connection/pool.ts';
import type { SealedTable } from '../reseal.ts';

/** The sealed secrets of one webhook; of a deleted one, until retention has erased them. */
interface SealedSecrets {
  readonly id: number;
  readonly eshopId: number;
  readonly secret: Buffer;
  /** Static headers; null without any. */
  readonly headers: Buffer | null;
  /** Null once the overlap of a rotation of the webhook's own secret has ended: it no longer signs anything. */
  readonly previousSecret: Buffer | null;
  /** A deleted webhook signs nothing any more. */
  readonly deleted: boolean;
}

const sealedColumns = (sql: Sql) => sql`
  id, eshop_id, secret, headers, deleted_at is not null as deleted,
  case when previous_secret_until > now() then previous_secret end as previous_secret`;

export const sealedWebhooks: SealedTable<SealedSecrets> = {
  read: (tx, limit, after) => tx<SealedSecrets[]>`
    select ${sealedColumns(tx)} from webhooks
    where id > ${after?.id ?? 0} and secret <> '' order by id limit ${limit} for no key update`,
  owner: ({ id, eshopId }) => ({ eshopId, webhookId: id }),
  values: ({ secret, headers }) => [secret, headers],
  previous: ({ previousSecret }) => previousSecret,
  write: (tx, { id }, [secret = null, headers = null], previous) => tx`
    update webhooks set secret = ${secret}, headers = ${headers}, previous_secret = ${previous} where id = ${id}`,
};

interface ConcernedWebhook extends SealedSecrets, Pick<SealedWebhook, 'headerNames'> {
  /** Whether it is signed with a key that its e-shop lost. */
  readonly signingKey: boolean;
}

/** Webhooks that are not deleted: these, and those signed with the keys of these e-shops, in the order of e-shops. */
export async function findConcerned(tx: Sql, ids: readonly number[], signersLost: readonly number[]) {
  const isSigned = tx`(w.asymmetric and w.eshop_id = any(${[...signersLost]}::int[]))`;
  return await tx<ConcernedWebhook[]>`
    select ${sealedColumns(tx)}, header_names, ${isSigned} as signing_key from webhooks w
    where deleted_at is null and (id = any(${[...ids]}::int[]) or ${isSigned}) order by eshop_id, id for no key update`;
}

/** Forgets the names of static headers that are gone. */
export async function forgetHeaderNames(tx: Sql, id: number): Promise<void> {
  await tx`update webhooks set header_names = null where id = ${id} and headers is null`;
}

/** The losses of an e-shop. */
export interface LostSecrets {
  readonly eshopId: number;
  readonly name: string;
  readonly email: string;
  /** At least one, unless it lost the secret of its notices alone. */
  readonly webhooks: Pick<LostWebhook, 'id' | 'secret' | 'headers' | 'signingKey'>[];
  /** Whether it lost the secret of its notices. */
  readonly notices: boolean;
}

/** Whether a loss concerns the e-shop: a lost signing key that none of its webhooks signs with does not. */
export const isMailed = ({ webhooks, notices }: LostSecrets): boolean => webhooks.length > 0 || notices;

/** Writes a pending mail to an e-shop about its losses. */
export async function addLossNotice(tx: Sql, { eshopId, webhooks, notices }: LostSecrets): Promise<void> {
  await tx`
    insert into notices (eshop_id, kind, recipient, lost_secrets, lost_notice_secret)
    values (${eshopId}, 'lostSecrets', 'email', ${tx.json(webhooks.map((each) => ({ ...each })))}, ${notices})`;
}
