import type { Sql } from '../connection/pool.ts';

/** How many of a webhook's latest deliveries are read: earlier successes are long ago. */
const LATEST = 1_000;

/** When a receiver last accepted a delivery, by webhook id; webhooks without one among the latest are left out. */
export async function lastAccepted(sql: Sql, eshopId: number): Promise<ReadonlyMap<number, string>> {
  const rows = await selectLastAccepted(sql, eshopId);
  return new Map(rows.map(({ id, at }) => [id, at.toISOString()]));
}

export function selectLastAccepted(sql: Sql, eshopId: number) {
  return sql<{ id: number; at: Date }[]>`
    select w.id, x.at from webhooks w cross join lateral (
      select l.last_attempt_at as at from (
        select d.state, d.last_attempt_at from deliveries d where d.webhook_id = w.id order by d.id desc limit ${LATEST}) l
      where l.state = 'delivered' and l.last_attempt_at is not null limit 1) x
    where w.eshop_id = ${eshopId} and w.deleted_at is null`;
}
