import type { WebhookWithSecrets } from '../../domain/test-delivery.ts';
import type { Sql } from '../pool.ts';
import { formColumns } from './columns.ts';

/** The webhook of this e-shop with its sealed secrets, active or not; null if there is none. */
export async function findWebhookWithSecrets(
  sql: Sql,
  eshopId: number,
  id: number,
): Promise<WebhookWithSecrets | null> {
  const [row] = await sql<WebhookWithSecrets[]>`
    select id as webhook_id, eshop_id, webhook_type, additional_types, ${formColumns(sql)}, headers, secret, previous_secret, previous_secret_until,
           clock_timestamp() as now
    from webhooks where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null`;
  return row ?? null;
}
