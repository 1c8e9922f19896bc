/** Notices that are still to be sent, with the data for sending them. */
import type { EventType } from '../../domain/event-types.ts';
import type { RecoveredWebhook } from '../../domain/mailed.ts';
import type { NoticeFormat, NoticeKind } from '../../domain/notifications.ts';
import { giveBackMail, takeFromBudget } from '../incidents/mail-budget.ts';
import { deferMail } from '../incidents/mail-outcome.ts';
import { oneRow, type Pool, type Sql } from '../pool.ts';
import { transaction } from '../transaction.ts';
import { isOwnDeactivation } from './decide.ts';

export interface PendingNotice {
  readonly id: string;
  readonly eshopId: number;
  readonly kind: NoticeKind | 'confirmation' | 'lostSecrets';
  /** Null for a confirmation, and for lost secrets. */
  readonly webhookId: number | null;
  readonly webhookType: EventType | null;
}

/**
 * How long a mail may take that includes other notices, in seconds. Shorter: a silent mail server holds one for 40 s,
 * and the others would be mailed as well. Longer: after the death of its worker they wait longer.
 */
const MERGING_SECONDS = 120;
/** The most deferred notices that a mail includes. More: nobody reads it to its end. Fewer: more mails. */
const MAX_MERGED = 50;

const isPending = (sql: Sql) => sql`n.sent_at is null and n.dropped_at is null and n.failed_at is null`;

/** All except the mail of a deactivation, which belongs to the workflow of its delivery. */
const hasOwnWorkflow = (sql: Sql) => sql`(n.kind <> 'deactivated' or n.recipient <> 'email')`;

/** The condition of the index `notices_pending`. */
const isToBeStarted = (sql: Sql) => sql`${isPending(sql)} and ${hasOwnWorkflow(sql)}`;

/**
 * Claims notices. Each is then left alone for a minute, and longer each time, up to an hour: its workflow takes as
 * long as its recipient does.
 */
export async function claimNotices(sql: Sql, limit: number): Promise<PendingNotice[]> {
  return await sql<PendingNotice[]>`
    with claimed as (
      update notices n set check_at = now() + least(greatest(now() - n.at, interval '1 minute'), interval '1 hour')
      where n.id in (
        select n.id from notices n where ${isToBeStarted(sql)} and n.check_at <= now()
        order by n.check_at limit ${limit} for update skip locked)
      returning n.*)
    select n.id, n.eshop_id, n.kind, n.webhook_id, w.webhook_type from claimed n left join webhooks w on w.id = n.webhook_id`;
}

/** Gives back claimed notices whose workflows could not be started: they can be claimed again at once. */
export async function giveBackNotices(sql: Sql, notices: readonly { readonly id: string }[]): Promise<void> {
  if (notices.length === 0) return;
  const ids = notices.map(({ id }) => id);
  await sql`update notices n set check_at = now() where n.id = any(${ids}::uuid[]) and ${isPending(sql)}`;
}

/** The notices that are still to be sent, of all e-shops, without the mails of deactivations. */
export interface NoticesOverview {
  readonly urls: number;
  readonly mails: number;
  /** Of these mails, beyond the budgets of their e-shops for now. */
  readonly deferred: number;
  /** The wait of the oldest, and of the oldest mail that is not deferred; null if there is none. */
  readonly oldestSeconds: number | null;
  readonly oldestMailSeconds: number | null;
  /**
   * The error of the longest waiting notice that has been tried, and of the longest waiting mail; null if none has
   * failed.
   */
  readonly lastError: string | null;
  readonly lastMailError: string | null;
}

export async function readPendingNotices(sql: Sql): Promise<NoticesOverview> {
  const isUrl = sql`recipient = 'url'`;
  const age = (at: ReturnType<Sql>) => sql`extract(epoch from now() - ${at})::float8`;
  const first = (which: ReturnType<Sql>) =>
    sql`(array_agg(error order by at) filter (where error is not null and ${which}))[1]`;
  return await oneRow(sql<NoticesOverview[]>`
    select count(*) filter (where ${isUrl})::int as urls, count(*) filter (where not ${isUrl})::int as mails,
      count(*) filter (where not ${isUrl} and deferred)::int as deferred, ${age(sql`min(at)`)} as oldest_seconds,
      ${age(sql`min(at) filter (where not ${isUrl} and not deferred)`)} as oldest_mail_seconds,
      ${first(sql`true`)} as last_error, ${first(sql`not ${isUrl}`)} as last_mail_error
    from notices n where ${isToBeStarted(sql)}`);
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

/** A notice as it is now, with its recipient. */
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
  readonly generation: number | null;
  /** Of a warning about one delivery, and of a deactivation. */
  readonly deliveryId: string | null;
  readonly at: Date;
  /** Requests to the URL so far. */
  readonly tries: number;
  /** By the database's clock. */
  readonly now: Date;
}

export async function readNotice(sql: Sql, id: string): Promise<Notice | undefined> {
  const [row] = await sql<Notice[]>`
    select n.id, n.eshop_id, n.kind, n.webhook_id, w.webhook_type, ${isPending(sql)} as pending, n.recipient, s.name as eshop_name,
      case n.recipient when 'email' then s.email when 'address' then a.address end as address, n.address_id,
      case n.kind
        when 'confirmation' then a.id is not null and a.confirmed_at is null
        when 'recovered' then s.recovered_notices
        when 'warning' then s.warning_mails else true end
        and (n.kind = 'confirmation' or n.recipient <> 'address' or a.confirmed_at is not null)
        and (n.recipient <> 'url' or s.notice_url is not null)
        and (n.kind <> 'recovered' or w.deleted_at is null) as wanted,
      s.notice_url, s.notice_format, s.notice_secret, n.generation, n.delivery_id, n.at, n.tries, clock_timestamp() as now
    from notices n
    join eshops s on s.id = n.eshop_id
    left join webhooks w on w.id = n.webhook_id
    left join notice_addresses a on a.id = n.address_id
    where n.id = ${id}`;
  return row;
}

/**
 * Takes a place of the e-shop's budget for the mail of a notice, and with it the notices of its kind to its address
 * that were deferred before. Under a lock of the e-shop: two mails at once would include the same ones, or each
 * other.
 * @returns the others, the oldest first; or for how long the notice has to wait, in milliseconds
 */
export async function claimMail(
  sql: Pool,
  notice: Pick<Notice, 'id' | 'eshopId' | 'kind' | 'recipient' | 'addressId'>,
): Promise<{ readonly others: readonly string[] } | { readonly waitMs: number }> {
  const { id, eshopId, kind, recipient, addressId } = notice;
  return await transaction(sql, async (tx) => {
    await tx`select from eshops where id = ${eshopId} for update`;
    const [included] = await tx<{ ms: number }[]>`
      select ceil(extract(epoch from merging_until - now()) * 1000)::float8 as ms from notices
      where id = ${id} and merging_until > now()`;
    if (included !== undefined) return { waitMs: included.ms };
    const waitMs = await takeFromBudget(tx, eshopId);
    if (waitMs !== null) {
      await deferMail(tx, id);
      return { waitMs };
    }
    if (kind === 'confirmation' || kind === 'lostSecrets') return { others: [] };
    const others = await tx<{ id: string; at: Date }[]>`
      update notices set merging_until = now() + make_interval(secs => ${MERGING_SECONDS}) where id in (
        select n.id from notices n
        where ${isPending(tx)} and n.eshop_id = ${eshopId} and n.kind = ${kind} and n.recipient = ${recipient}
          and n.address_id is not distinct from ${addressId} and n.deferred and n.id <> ${id}
          and (n.merging_until is null or n.merging_until <= now())
        order by n.at limit ${MAX_MERGED})
      returning id, at`;
    return { others: others.toSorted((one, other) => +one.at - +other.at).map((each) => each.id) };
  });
}

/** Gives back what the mail of a notice was given that could not be sent. */
export async function giveBackClaim(sql: Pool, eshopId: number, others: readonly string[]): Promise<void> {
  await transaction(sql, async (tx) => {
    await giveBackMail(tx, eshopId);
    await tx`update notices set merging_until = null where id = any(${[...others]}::uuid[])`;
  });
}

/** Whether this recipient got a notice of the failure. `later`: it is still to be sent. */
interface NoticedRecovery extends RecoveredWebhook {
  readonly informed: 'yes' | 'no' | 'later';
}

export async function readRecoveredWebhook(sql: Sql, id: string): Promise<NoticedRecovery | undefined> {
  const [row] = await sql<(RecoveredWebhook & { informedBefore: boolean; pendingBefore: boolean })[]>`
    select w.id as webhook_id, w.webhook_type, w.additional_types, w.url, w.description, n.recovered_at, coalesce(b.informed, false) as informed_before,
      coalesce(b.pending, false) as pending_before
    from notices n join webhooks w on w.id = n.webhook_id
    cross join lateral (
      select bool_or(p.sent_at is not null) as informed,
             bool_or(p.sent_at is null and p.dropped_at is null and p.failed_at is null) as pending
      from notices p
      where p.webhook_id = n.webhook_id and p.kind in ('warning', 'deactivated') and p.recipient = n.recipient
        and p.address_id is not distinct from n.address_id and p.at between n.unhealthy_since and n.at) b
    where n.id = ${id}`;
  if (row === undefined) return undefined;
  const { informedBefore, pendingBefore, ...well } = row;
  return { ...well, informed: informedBefore ? 'yes' : pendingBefore ? 'later' : 'no' };
}

export async function dropNotice(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set dropped_at = now() where n.id = ${id} and ${isPending(sql)}`;
}

/** Records that the recipient accepted it. */
export async function recordNoticeSent(sql: Sql, id: string): Promise<void> {
  await sql`update notices n set sent_at = now(), tries = tries + 1 where n.id = ${id} and ${isPending(sql)}`;
}

/**
 * Records a request that was not accepted.
 * @param error a sentence without secrets
 * @param givenUp no further try follows
 */
export async function recordTry(sql: Sql, id: string, error: string, givenUp: boolean): Promise<void> {
  await sql`
    update notices n set tries = tries + 1, error = ${error}, failed_at = case when ${givenUp} then now() end
    where n.id = ${id} and ${isPending(sql)}`;
}
