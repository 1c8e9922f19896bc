/** Warnings of deactivations and of lost secrets: the unsent ones, and the data for their mails. */
import type { EventType } from '../../domain/event-types.ts';
import type { StoredIncident } from '../../domain/incident.ts';
import type { LostWebhook } from '../../domain/mailed.ts';
import type { NamedBy } from '../../domain/webhook-name.ts';
import { joinSuccessor } from '../outbox/ordering.ts';
import type { Sql } from '../pool.ts';
import { incidentColumns, joinIncident } from './failures.ts';

export interface UnsentWarning {
  readonly id: string;
  readonly eshopId: number;
  readonly webhookId: number;
  readonly webhookType: EventType;
  /** It is about the lost secrets of all webhooks of the e-shop. */
  readonly ofSecrets: boolean;
}

/** The condition of the index `warnings_pending`. */
const isUnsent = (sql: Sql) => sql`x.mailed_at is null and x.dropped_at is null and x.mail_failed_at is null`;

/**
 * Claims unsent warnings. Each is then left alone for a minute, and longer each time: its workflow takes as long as
 * the mail server does.
 */
export async function claimWarnings(sql: Sql, limit: number): Promise<UnsentWarning[]> {
  return await sql<UnsentWarning[]>`
    update warnings x
    set check_at = now() + least(greatest(now() - x.at, interval '1 minute'), interval '1 hour')
    from webhooks w
    where w.id = x.webhook_id and x.id in (
      select x.id from warnings x where ${isUnsent(sql)} and x.check_at <= now()
      order by x.check_at limit ${limit} for update skip locked)
    returning x.id, w.eshop_id, w.id as webhook_id, w.webhook_type, x.lost_secrets is not null as of_secrets`;
}

/** Gives back claimed warnings whose workflows could not be started: they can be claimed again at once. */
export async function giveBackWarnings(
  sql: Sql,
  warnings: readonly { readonly id: string }[],
): Promise<void> {
  if (warnings.length === 0) return;
  const ids = warnings.map(({ id }) => id);
  await sql`update warnings x set check_at = now() where x.id = any(${ids}::uuid[]) and ${isUnsent(sql)}`;
}

export interface WarningNotice extends UnsentWarning, StoredIncident, NamedBy {
  /** Its mail is still to be sent. */
  readonly unsent: boolean;
  /** Its reason still holds, and the e-shop wants warnings. */
  readonly stillNeeded: boolean;
  readonly additionalTypes: readonly EventType[];
  readonly eshopName: string;
  readonly email: string;
  readonly open: number;
  /**
   * The delivery whose last retries it is about, or its successor if it was superseded; all null if it is about all
   * deliveries.
   */
  readonly deliveryId: string | null;
  readonly deliverySince: Date | null;
  readonly deliveryAttempts: number | null;
  readonly deliveryError: string | null;
  /** The webhooks not deleted since; null for a warning of a deactivation. */
  readonly lost: readonly LostWebhook[] | null;
}

const lostOnes = (sql: Sql) => sql`
  case when x.lost_secrets is not null then (
    select coalesce(json_agg(json_build_object('id', l.id, 'webhookType', l.webhook_type, 'additionalTypes', l.additional_types, 'url', l.url, 'description', l.description, 'secret', e->'secret', 'headers', e->'headers', 'signingKey', e->'signingKey') order by l.id), '[]')
    from jsonb_array_elements(x.lost_secrets) e join webhooks l on l.id = (e->>'id')::integer and l.deleted_at is null) end`;

export async function readWarning(sql: Sql, id: string): Promise<WarningNotice | undefined> {
  const [row] = await sql<WarningNotice[]>`
    select x.id, w.eshop_id, w.id as webhook_id, w.webhook_type, w.additional_types, w.url, w.description, s.name as eshop_name, s.email, ${isUnsent(sql)} as unsent,
           x.lost_secrets is not null as of_secrets, ${lostOnes(sql)} as lost,
           coalesce(d.id, x.delivery_id) as delivery_id, d.window_started_at as delivery_since, d.attempts_made as delivery_attempts,
           d.last_error as delivery_error, ${incidentColumns(sql)},
           (select count(*)::integer from deliveries o
            where o.webhook_id = w.id and o.state in ('pending', 'retrying')) as open,
           w.active and w.deleted_at is null and w.generation = x.generation and s.warning_mails
             and case when x.delivery_id is null then coalesce(i.since <= x.at, false)
                      else coalesce(d.state in ('pending', 'retrying') and d.operator_stop is null, false) end as still_needed
    from warnings x
    join webhooks w on w.id = x.webhook_id
    join eshops s on s.id = w.eshop_id
    ${joinSuccessor(sql, sql`x.delivery_id`)}
    ${joinIncident(sql)}
    where x.id = ${id}`;
  return row;
}

/** Other warnings of the e-shop that were deferred, the oldest first, up to `limit`; none about lost secrets. */
export async function otherDeferredWarnings(
  sql: Sql,
  { eshopId, id }: UnsentWarning,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select x.id from warnings x join webhooks w on w.id = x.webhook_id
    where w.eshop_id = ${eshopId} and x.deferred and x.lost_secrets is null and ${isUnsent(sql)} and x.id <> ${id}
    order by x.at limit ${limit}`;
  return rows.map((row) => row.id);
}

export async function dropWarning(sql: Sql, id: string): Promise<void> {
  await sql`update warnings x set dropped_at = now() where x.id = ${id} and ${isUnsent(sql)}`;
}
