import type { WebhookWithSecrets } from '../../domain/test-delivery.ts';
import type { Sql } from '../pool.ts';
import { formColumns } from './columns.ts';

/** The sealed keys that sign now, of `signing_keys k`. */
export const signingKeyColumns = (sql: Sql) => sql`
  k.private_key as signing_key,
  case when k.previous_until > clock_timestamp() then k.previous_private_key end as previous_signing_key`;

/** The webhook of this e-shop with its sealed secrets, active or not; null if there is none. */
export async function findWebhookWithSecrets(
  sql: Sql,
  eshopId: number,
  id: number,
): Promise<WebhookWithSecrets | null> {
  const [row] = await sql<WebhookWithSecrets[]>`
    select w.id as webhook_id, w.eshop_id, w.webhook_type, w.additional_types, ${formColumns(sql, 'w')}, w.headers, w.secret, w.previous_secret,
           w.previous_secret_until, ${signingKeyColumns(sql)}, clock_timestamp() as now
    from webhooks w left join signing_keys k on w.asymmetric and k.eshop_id = w.eshop_id
    where w.id = ${id}::bigint and w.eshop_id = ${eshopId} and w.deleted_at is null`;
  return row ?? null;
}
