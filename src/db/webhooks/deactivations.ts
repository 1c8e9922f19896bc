import type { Deactivation } from '../../domain/mailed.ts';
import type { Sql } from '../pool.ts';

export interface DeactivationNotice extends Deactivation {
  readonly eshopId: number;
  readonly mailedAt: Date | null;
}

const selectNotices = (sql: Sql) => sql`
  select w.eshop_id, x.webhook_id, x.generation, x.reason, x.at, x.delivery_id, x.last_error, x.mailed_at, d.attempts_made,
         w.url, w.description, w.webhook_type, w.additional_types, s.name as eshop_name, s.email
  from deactivations x
  join webhooks w on w.id = x.webhook_id
  join eshops s on s.id = w.eshop_id
  join deliveries d on d.id = x.delivery_id`;

export async function readDeactivation(
  sql: Sql,
  webhookId: number,
  generation: number,
): Promise<DeactivationNotice | undefined> {
  const [row] = await sql<DeactivationNotice[]>`
    ${selectNotices(sql)} where x.webhook_id = ${webhookId} and x.generation = ${generation}`;
  return row;
}

/** Other deactivations of the e-shop whose mails were deferred, oldest first, up to `limit`. */
export async function otherDeferredDeactivations(
  sql: Sql,
  { eshopId, webhookId, generation }: DeactivationNotice,
  limit: number,
): Promise<DeactivationNotice[]> {
  return await sql<DeactivationNotice[]>`
    ${selectNotices(sql)}
    where w.eshop_id = ${eshopId} and x.deferred and x.mailed_at is null and x.mail_failed_at is null
      and (x.webhook_id, x.generation) <> (${webhookId}, ${generation})
    order by x.at limit ${limit}`;
}
