/** The notices of an e-shop with their recipients and times. */
import type { Sql } from '../connection/pool.ts';
import type { PendingNotice } from '../notices/pending.ts';

export interface ListedNotice {
  readonly kind: PendingNotice['kind'];
  /** Null for a confirmation, and for lost secrets. */
  readonly webhookId: number | null;
  /** An address, the host of the URL, or null for an address that was removed since. */
  readonly to: string | null;
  readonly at: Date;
  readonly state: 'sent' | 'waiting' | 'dropped' | 'givenUp';
  /** Null until it is sent. */
  readonly sentAt: Date | null;
  /** The error of the last failed try; null if none has failed. */
  readonly error: string | null;
}

/** The latest, newest first. @param webhookId null: all webhooks, and those about none */
export async function listNotices(
  sql: Sql,
  eshopId: number,
  { webhookId, limit }: { readonly webhookId: number | null; readonly limit: number },
): Promise<ListedNotice[]> {
  const ofOne = webhookId === null ? sql`` : sql`and n.webhook_id = ${webhookId}`;
  return await sql<ListedNotice[]>`
    select n.kind, n.webhook_id, n.at, n.error,
      case n.recipient when 'email' then s.email when 'address' then a.address
        else coalesce(substring(s.notice_url from '^[A-Za-z]+://([^/?#]*)'), 'URL') end as "to",
      coalesce(n.outcome, 'waiting') as state, case when n.outcome = 'sent' then n.settled_at end as sent_at
    from notices n join eshops s on s.id = n.eshop_id left join notice_addresses a on a.id = n.address_id
    where n.eshop_id = ${eshopId} ${ofOne} order by n.at desc limit ${limit}`;
}
