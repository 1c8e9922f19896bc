import { oneRow, type Sql } from '../connection/pool.ts';
import type { EshopName } from './sessions.ts';

/** Things that belong to an e-shop and have ids that are unique across e-shops. */
export type Owned = 'deliveries' | 'webhooks' | 'events';

/** The e-shop that something belongs to; null if there is no such thing. @param id in the form of its kind */
export async function eshopOf(sql: Sql, kind: Owned, id: string): Promise<number | null> {
  const [row] = await sql<{ eshopId: number }[]>`select eshop_id from ${sql(kind)} where id = ${id}`;
  return row?.eshopId ?? null;
}

/** All e-shops, which an operator may see, in the order of their ids; and the database's time. */
export async function allEshops(sql: Sql): Promise<{ eshops: readonly EshopName[]; now: Date }> {
  return await oneRow(sql<{ eshops: readonly EshopName[]; now: Date }[]>`
    select clock_timestamp() as now, coalesce(
      (select json_agg(json_build_object('id', id, 'name', name) order by id) from eshops), '[]') as eshops`);
}
