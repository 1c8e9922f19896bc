/** The webhooks for which deliveries wait, for claims by turns. */
import type { PendingQuery, Row } from 'postgres';
import type { Sql } from '../pool.ts';

/**
 * `queues (eshop_id, webhook_id)`, for `with recursive`: found by one step in an index of both columns for each webhook, so
 * that it costs no more the more is waiting.
 * @param waiting of a delivery `d`, the condition of that index
 */
export function waitingWebhooks(sql: Sql, waiting: PendingQuery<Row[]>) {
  return sql`queues as (
      (select d.eshop_id, d.webhook_id from deliveries d
       where ${waiting} order by d.eshop_id, d.webhook_id limit 1)
      union all
      select next.eshop_id, next.webhook_id
      from queues q cross join lateral (
        select d.eshop_id, d.webhook_id from deliveries d
        where ${waiting} and (d.eshop_id, d.webhook_id) > (q.eshop_id, q.webhook_id)
        order by d.eshop_id, d.webhook_id limit 1) next)`;
}
