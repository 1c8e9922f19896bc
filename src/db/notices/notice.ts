/** A notice, with the data for sending it. */
import type { Deactivation, RecoveredWebhook } from '../../domain/mailed.ts';
import type { NoticeFormat } from '../../domain/notifications.ts';
import { firstRow, type Sql } from '../connection/pool.ts';
import { isOwnDeactivation } from './decide.ts';
import { isPending, type PendingNotice } from './pending.ts';

export interface Notice extends PendingNotice {
  readonly pending: boolean;
  readonly recipient: 'email' | 'address' | 'url';
  readonly eshopName: string;
  /** The address to be mailed; null for the URL, and for an address that was removed. */
  readonly address: string | null;
  /** A further address; null for the e-shop's own. */
  readonly addressId: number | null;
  /** Whether its e-shop still wants this kind, and the address is confirmed as far as it has to be. */
  readonly wanted: boolean;
  readonly noticeUrl: string | null;
  readonly noticeFormat: NoticeFormat;
  /** Sealed. */
  readonly noticeSecret: Buffer | null;
  /** For lost secrets: whether the secret of notices is one of them, and the e-shop still has a URL for notices. */
  readonly lostNoticeSecret: boolean;
  readonly generation: number | null;
  /** The delivery that a warning is about, or that caused a deactivation. */
  readonly deliveryId: string | null;
  readonly at: Date;
  /** Requests to the URL so far. */
  readonly tries: number;
}

export async function readNotice(sql: Sql, id: string): Promise<Notice | null> {
  return await firstRow(sql<Notice[]>`
    select n.id, n.eshop_id, n.kind, n.webhook_id, w.webhook_type, ${isPending(sql)} as pending, n.recipient, s.name as eshop_name,
      case n.recipient when 'email' then s.email when 'address' then a.address end as address, n.address_id,
      case n.kind
        when 'confirmation' then a.id is not null and a.confirmed_at is null
        when 'recovered' then s.recovered_notices
        when 'warning' then s.warning_mails else true end
        and (n.kind = 'confirmation' or n.recipient <> 'address' or a.confirmed_at is not null)
        and (n.recipient <> 'url' or s.notice_url is not null)
        and (n.kind not in ('recovered', 'deactivated') or w.deleted_at is null) as wanted,
      s.notice_url, s.notice_format, s.notice_secret,
      n.lost_notice_secret and s.notice_url is not null as lost_notice_secret, n.generation, n.delivery_id, n.at,
      n.tries
    from notices n
    join eshops s on s.id = n.eshop_id
    left join webhooks w on w.id = n.webhook_id
    left join notice_addresses a on a.id = n.address_id
    where n.id = ${id}`);
}

/** The notice of a deactivation for the e-shop's own address; null if there is none. */
export async function findDeactivationMail(
  sql: Sql,
  { webhookId, generation }: { readonly webhookId: number; readonly generation: number },
): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`
    select x.id from notices x
    where x.webhook_id = ${webhookId} and x.generation = ${generation} and ${isOwnDeactivation(sql)}`;
  return row?.id ?? null;
}

/** A deactivation by Waybill, as its notices report it. */
export async function readDeactivation(sql: Sql, webhookId: number, generation: number) {
  return await firstRow(sql<(Omit<Deactivation, 'lostSince'> & { readonly registeredAt: Date })[]>`
    select x.webhook_id, x.generation, x.reason, x.at, x.delivery_id, x.last_error, d.attempts_made,
           w.url, w.description, w.active as active_again, w.registered_at, w.webhook_type, w.additional_types,
           s.name as eshop_name, s.email
    from deactivations x
    join webhooks w on w.id = x.webhook_id
    join eshops s on s.id = w.eshop_id
    join deliveries d on d.id = x.delivery_id
    where x.webhook_id = ${webhookId} and x.generation = ${generation}`);
}

/** Whether this recipient got a notice of the failure. `later`: it is still to be sent. */
interface NoticedRecovery extends RecoveredWebhook {
  readonly informed: 'yes' | 'no' | 'later';
}

export async function readRecoveredWebhook(sql: Sql, id: string): Promise<NoticedRecovery | null> {
  return await firstRow(sql<NoticedRecovery[]>`
    select w.id as webhook_id, w.webhook_type, w.additional_types, w.url, w.description, n.recovered_at,
      case when b.informed then 'yes' when b.pending then 'later' else 'no' end as informed
    from notices n join webhooks w on w.id = n.webhook_id
    cross join lateral (
      select bool_or(p.outcome = 'sent') as informed, bool_or(p.outcome is null) as pending
      from notices p
      where p.webhook_id = n.webhook_id and p.kind in ('warning', 'deactivated') and p.recipient = n.recipient
        and p.address_id is not distinct from n.address_id and p.at between n.unhealthy_since and n.at) b
    where n.id = ${id}`);
}
