/** Notices that are to be sent: each is claimed by the relay, which starts its workflow. */
import type { EventType } from '../../domain/event-types.ts';
import type { NoticeKind } from '../../domain/notifications.ts';
import type { Sql } from '../connection/pool.ts';
import { inTurns } from '../outbox/in-turns.ts';
import { isOwnDeactivation } from './decide.ts';

export interface PendingNotice {
  readonly id: string;
  readonly eshopId: number;
  readonly kind: NoticeKind | 'confirmation' | 'lostSecrets';
  /** Null for a confirmation, and for lost secrets. */
  readonly webhookId: number | null;
  readonly webhookType: EventType | null;
}

export const isPending = (sql: Sql, alias = 'n') => sql`${sql(alias)}.outcome is null`;

/** The condition of the index `deactivation_mails_pending`: notices `x` that the workflows of deliveries mail. */
export const isPendingMail = (sql: Sql) => sql`${isOwnDeactivation(sql)} and ${isPending(sql, 'x')}`;

/**
 * The condition of the index `notices_pending`: all except the mail of a deactivation, which belongs to the workflow
 * of its delivery.
 */
export const isToBeStarted = (sql: Sql, alias = 'n') =>
  sql`${isPending(sql, alias)} and (${sql(alias)}.kind <> 'deactivated' or ${sql(alias)}.recipient <> 'email')`;

/**
 * Claims notices, in turn by e-shop. Each is then left alone for a minute, and longer each time, up to an hour: its
 * workflow takes as long as its recipient does.
 */
export async function claimNotices(sql: Sql, limit: number): Promise<PendingNotice[]> {
  const due = {
    table: 'notices',
    which: isToBeStarted(sql, 'o'),
    claimable: sql`o.check_at <= now()`,
    dueAt: sql`o.check_at`,
  } as const;
  return await sql<PendingNotice[]>`
    with ${inTurns(sql, limit, due)},
    claimed as (
      update notices n set check_at = now() + least(greatest(now() - n.at, interval '1 minute'), interval '1 hour')
      from chosen where n.id = chosen.id
      returning n.*)
    select n.id, n.eshop_id, n.kind, n.webhook_id, w.webhook_type from claimed n left join webhooks w on w.id = n.webhook_id`;
}

/** Gives back claimed notices whose workflows could not be started: they can be claimed again at once. */
export async function giveBackNotices(sql: Sql, notices: readonly { readonly id: string }[]): Promise<void> {
  if (notices.length === 0) return;
  const ids = notices.map(({ id }) => id);
  await sql`update notices n set check_at = now() where n.id = any(${ids}::uuid[]) and ${isPending(sql)}`;
}
