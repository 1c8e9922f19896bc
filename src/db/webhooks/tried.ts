/** A webhook as it is tried out. */
import type { TriedWebhook } from '../../domain/trial.ts';
import type { Sql } from '../pool.ts';
import { formColumns } from './columns.ts';

/** The webhook of this e-shop with its sealed secrets, active or not; null when there is none. */
export async function findTriedWebhook(sql: Sql, eshopId: number, id: number): Promise<TriedWebhook | null> {
  const [row] = await sql<TriedWebhook[]>`
    select id as webhook_id, eshop_id, webhook_type, ${formColumns(sql)}, secret, previous_secret, previous_secret_until,
           clock_timestamp() as now
    from webhooks where id = ${id}::bigint and eshop_id = ${eshopId} and deleted_at is null`;
  return row ?? null;
}
