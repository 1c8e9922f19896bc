/** Notices that are to be sent: each is claimed by the relay, which starts its workflow. */
import type { EventType } from '../../domain/event-types.ts';
import type { NoticeKind } from '../../domain/notifications.ts';
import type { Sql } from '../pool.ts';

export interface PendingNotice {
  readonly id: string;
  readonly eshopId: number;
  readonly kind: NoticeKind | 'confirmation' | 'lostSecrets';
  /** Null for a confirmation, and for lost secrets. */
  readonly webhookId: number | null;
  readonly webhookType: EventType | null;
}

export const isPending = (sql: Sql) =>
  sql`n.sent_at is null and n.dropped_at is null and n.failed_at is null`;

/** All except the mail of a deactivation, which belongs to the workflow of its delivery. */
const hasOwnWorkflow = (sql: Sql) => sql`(n.kind <> 'deactivated' or n.recipient <> 'email')`;

/** The condition of the index `notices_pending`. */
export const isToBeStarted = (sql: Sql) => sql`${isPending(sql)} and ${hasOwnWorkflow(sql)}`;

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
