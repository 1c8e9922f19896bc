import type { WebhookWithSecrets } from '../../domain/test-delivery.ts';
import { firstRow, type Sql } from '../connection/pool.ts';
import { requestColumns } from './columns.ts';

/** The sealed keys that sign for `webhooks w` now; null if not asymmetric. Not joined: it would slow each attempt. */
export const signingKeyColumns = (sql: Sql) => sql`
  case when w.asymmetric then (select k.private_key from signing_keys k where k.eshop_id = w.eshop_id) end as signing_key,
  case when w.asymmetric then (
    select k.previous_private_key from signing_keys k
    where k.eshop_id = w.eshop_id and k.previous_until > clock_timestamp()) end as previous_signing_key`;

/** The webhook of this e-shop with its sealed secrets, active or not; null if there is none. */
export async function findWebhookWithSecrets(sql: Sql, eshopId: number, id: number) {
  return await firstRow(sql<WebhookWithSecrets[]>`
    select w.id as webhook_id, w.eshop_id, w.webhook_type, w.additional_types, ${requestColumns(sql, 'w')},
           w.headers, w.secret, w.previous_secret, w.previous_secret_until, ${signingKeyColumns(sql)}, clock_timestamp() as now
    from webhooks w
    where w.id = ${id}::bigint and w.eshop_id = ${eshopId} and w.deleted_at is null`);
}
