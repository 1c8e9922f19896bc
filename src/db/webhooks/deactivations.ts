import type { Deactivation } from '../../domain/mailed.ts';
import type { Sql } from '../pool.ts';

/** A deactivation by Waybill, as its notices tell it. */
export async function readDeactivation(
  sql: Sql,
  webhookId: number,
  generation: number,
): Promise<Deactivation | undefined> {
  const [row] = await sql<Deactivation[]>`
    select x.webhook_id, x.generation, x.reason, x.at, x.delivery_id, x.last_error, d.attempts_made,
           w.url, w.description, w.active as active_again, w.webhook_type, w.additional_types, s.name as eshop_name, s.email
    from deactivations x
    join webhooks w on w.id = x.webhook_id
    join eshops s on s.id = w.eshop_id
    join deliveries d on d.id = x.delivery_id
    where x.webhook_id = ${webhookId} and x.generation = ${generation}`;
  return row;
}
