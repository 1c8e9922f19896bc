/** The current and former request settings of webhooks: the request of each delivery stays known. */
import type { SentEvent } from '../../domain/payload.ts';
import type { WebhookSettings } from '../../domain/webhook.ts';
import { firstRow, type Sql } from '../connection/pool.ts';
import { isOpen } from '../predicates.ts';
import { requestColumns, rowOf } from './columns.ts';

/**
 * Keeps the request settings of a webhook before different ones replace them.
 * @param tx holds the lock on its row, and has not replaced it yet
 */
export async function keepRequestSettings(tx: Sql, webhookId: number, next: WebhookSettings): Promise<void> {
  await tx`
    insert into former_request_settings (webhook_id, until, ${requestColumns(tx)})
    select w.id, clock_timestamp(), ${requestColumns(tx, 'w')} from webhooks w, ${rowOf(tx, next)} x
    where w.id = ${webhookId} and (${requestColumns(tx, 'w')}) is distinct from (${requestColumns(tx, 'x')})`;
}

/**
 * The event of a delivery and the settings with which it is or was sent: the webhook's current ones while open,
 * else those of the last attempt.
 * @returns null if this e-shop has no such delivery
 */
export async function findSentRequest(sql: Sql, eshopId: number, id: string): Promise<SentEvent | null> {
  return await firstRow(sql<SentEvent[]>`
    select d.event_id, d.event_type, d.entity_id, d.sequence::float8 as sequence,
           e.happened_at, e.origin, e.changed, e.snapshot, e.test is true as test, ${requestColumns(sql, 'f')}
    from deliveries d
    join webhooks w on w.id = d.webhook_id
    join events e on e.id = d.event_id
    cross join lateral (
      select until, ${requestColumns(sql)} from former_request_settings
      where webhook_id = d.webhook_id and not ${isOpen(sql)}
        and until >= (select a.started_at from attempts a where a.delivery_id = d.id order by a.number desc limit 1)
      union all
      select 'infinity', ${requestColumns(sql, 'w')}
      order by until limit 1) f
    where d.id = ${id} and d.eshop_id = ${eshopId} and w.deleted_at is null`);
}
