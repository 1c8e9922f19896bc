/** Reads the subjects of warnings before a deactivation, and of mails about lost secrets. */
import type { EventType } from '../../domain/event-types.ts';
import type { StoredIncident } from '../../domain/incident.ts';
import type { LostWebhook } from '../../domain/mailed.ts';
import type { NamedBy } from '../../domain/webhook-name.ts';
import { firstRow, type Sql } from '../connection/pool.ts';
import { joinSuccessor } from '../outbox/ordering.ts';
import { isPaused } from '../pauses.ts';
import { isOpen } from '../predicates.ts';
import { incidentColumns, joinIncident } from './failures.ts';

export interface StoredWarning extends StoredIncident, NamedBy {
  readonly id: string;
  readonly webhookId: number;
  /** Its reason still holds, and the e-shop wants warnings. */
  readonly stillNeeded: boolean;
  /** Nobody is mailed about a paused webhook (docs/interface.md, W23). */
  readonly webhookPaused: boolean;
  readonly webhookType: EventType;
  readonly additionalTypes: readonly EventType[];
  readonly eshopName: string;
  readonly email: string;
  readonly open: number;
  /** The delivery that is in its last retries, or its successor; all three are null if the warning is about all. */
  readonly deliveryId: string | null;
  readonly deliverySince: Date | null;
  readonly deliveryAttempts: number | null;
  readonly deliveryError: string | null;
}

/** @param id of a notice of kind `warning` */
export async function readWarning(sql: Sql, id: string): Promise<StoredWarning | null> {
  return await firstRow(sql<StoredWarning[]>`
    select x.id, w.id as webhook_id, w.webhook_type, w.additional_types, w.url, w.description, s.name as eshop_name, s.email,
           coalesce(d.id, x.delivery_id) as delivery_id, d.window_started_at as delivery_since,
           d.attempts_made as delivery_attempts, d.last_error as delivery_error, ${incidentColumns(sql)},
           (select count(*)::integer from deliveries o
            where o.webhook_id = w.id and ${isOpen(sql, 'o')}) as open,
           w.active and w.deleted_at is null and w.generation = x.generation and s.warning_mails
             and case when x.delivery_id is null then coalesce(i.since <= x.at, false)
                      else coalesce(${isOpen(sql)} and d.operator_stop is null, false) end as still_needed,
           ${isPaused(sql, 'w')} is true as webhook_paused
    from notices x
    join webhooks w on w.id = x.webhook_id
    join eshops s on s.id = w.eshop_id
    ${joinSuccessor(sql, sql`x.delivery_id`)}
    ${joinIncident(sql)}
    where x.id = ${id}`);
}

/** The webhooks that lost something and have not been deleted since. @param id of a notice of kind `lostSecrets` */
export async function readLostWebhooks(sql: Sql, id: string): Promise<LostWebhook[]> {
  return await sql<LostWebhook[]>`
    select w.id, w.webhook_type, w.additional_types, w.url, w.description,
           (e->'secret')::boolean as secret, e->'headers' as headers, (e->'signingKey')::boolean as signing_key
    from notices x cross join lateral jsonb_array_elements(x.lost_secrets) e
    join webhooks w on w.id = (e->>'id')::integer and w.deleted_at is null
    where x.id = ${id} order by w.id`;
}
