/** The sealed secrets of all webhooks, for a new master key. */
import type { LostWebhook } from '../../domain/mailed.ts';
import { type ReplaceSigningKeys, replaceSigningKeys } from '../accounts/signing-keys.ts';
import type { Pool } from '../connection/pool.ts';
import { type ReplaceNoticeSecret, replaceNoticeSecrets } from '../notices/secrets.ts';
import type { SealedTable } from '../reseal.ts';
import { writeSetting } from '../settings.ts';
import { transaction } from '../transaction.ts';

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

type Resealed = Pick<SealedSecrets, 'secret' | 'headers' | 'previousSecret'>;

export const sealedWebhooks: SealedTable<SealedSecrets, Resealed> = {
  read: (tx, limit, after) => tx<SealedSecrets[]>`
    select id, eshop_id, secret, headers, case when previous_secret_until > now() then previous_secret end as previous_secret,
      deleted_at is not null as deleted
    from webhooks where id > ${after?.id ?? 0} and secret <> '' order by id limit ${limit} for no key update`,
  write: (tx, { secret, headers, previousSecret }, { id }) => tx`
    update webhooks set secret = ${secret}, headers = ${headers}, previous_secret = ${previousSecret}
    where id = ${id}`,
};

/** A webhook as read after the loss of the master key. */
export interface StoredSecrets extends Omit<SealedSecrets, 'deleted'> {
  readonly eshopName: string;
  readonly email: string;
  readonly headerNames: readonly string[] | null;
  readonly asymmetric: boolean;
}

/** The new values of a webhook, and its values that could not be opened. */
interface ReplacedSecrets extends Resealed {
  /** Whether its secret could not be opened. */
  readonly lostSecret: boolean;
  /** The names of static headers that could not be opened: they are lost. */
  readonly lostHeaders: readonly string[];
}

/** The losses of an e-shop. */
export interface LostSecrets {
  readonly eshopId: number;
  readonly name: string;
  readonly email: string;
  /** At least one, unless it lost the secret of its notices alone. */
  readonly webhooks: Pick<LostWebhook, 'id' | 'secret' | 'headers' | 'signingKey'>[];
  /** Whether it lost the secret of its notices. */
  notices: boolean;
}

/**
 * Replaces everything that no key opens, in one transaction: writes secrets, a pending mail per e-shop, and settings.
 * Deleted webhooks stay as they are: they sign nothing.
 * @param terms.settings by name, written in the same transaction
 * @param terms.dryRun changes nothing
 * @param terms.replaceKeys the same for the signing keys of e-shops
 * @param terms.replaceNotices the same for the secrets of their notices
 * @returns the e-shops that lost something
 */
export async function replaceSecrets(
  sql: Pool,
  replace: (stored: StoredSecrets) => ReplacedSecrets,
  terms: {
    readonly settings: Readonly<Record<string, string>>;
    readonly dryRun: boolean;
    readonly replaceKeys: ReplaceSigningKeys;
    readonly replaceNotices: ReplaceNoticeSecret;
  },
): Promise<LostSecrets[]> {
  const { settings, dryRun, replaceKeys, replaceNotices } = terms;
  return await transaction(sql, async (tx) => {
    const rows = await tx<StoredSecrets[]>`
      select w.id, w.eshop_id, s.name as eshop_name, s.email, w.secret, w.headers, w.header_names, w.asymmetric,
        case when w.previous_secret_until > now() then w.previous_secret end as previous_secret
      from webhooks w join eshops s on s.id = w.eshop_id
      where w.deleted_at is null order by w.eshop_id, w.id for no key update of w`;
    const newKeys = await replaceSigningKeys(tx, replaceKeys, dryRun);
    const lost = new Map<number, LostSecrets>();
    const ofEshop = (eshop: Pick<LostSecrets, 'eshopId' | 'name' | 'email'>) => {
      const losses = lost.get(eshop.eshopId) ?? { ...eshop, webhooks: [], notices: false };
      lost.set(eshop.eshopId, losses);
      return losses;
    };
    for (const row of rows) {
      const { id, eshopId, eshopName: name, email } = row;
      const replaced = replace(row);
      const signingKey = row.asymmetric && newKeys.has(eshopId);
      if (replaced.lostSecret || replaced.lostHeaders.length > 0 || signingKey) {
        const { webhooks } = ofEshop({ eshopId, name, email });
        webhooks.push({ id, secret: replaced.lostSecret, headers: replaced.lostHeaders, signingKey });
      }
      if (dryRun) continue;
      await tx`
        update webhooks
        set secret = ${replaced.secret}, previous_secret = ${replaced.previousSecret}, headers = ${replaced.headers},
            header_names = ${replaced.headers === null ? null : tx`header_names`}
        where id = ${id}`;
    }
    for (const eshop of await replaceNoticeSecrets(tx, replaceNotices, dryRun)) ofEshop(eshop).notices = true;
    if (dryRun) return [...lost.values()];
    for (const { eshopId, webhooks, notices } of lost.values()) {
      const lost = webhooks.map(({ headers, ...rest }) => ({ ...rest, headers: [...headers] }));
      await tx`
        insert into notices (eshop_id, kind, recipient, lost_secrets, lost_notice_secret)
        values (${eshopId}, 'lostSecrets', 'email', ${tx.json(lost)}, ${notices})`;
    }
    for (const [name, value] of Object.entries(settings)) await writeSetting(tx, name, value);
    return [...lost.values()];
  });
}
