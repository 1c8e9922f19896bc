/**
 * Receivers: whom webhooks call, whichever e-shop they belong to.
 * @module
 */
import type { Sql } from '../pool.ts';

/**
 * The condition that a webhook `w` calls a host, as SQL.
 * @param host a name or address, with its port or, for any port, without
 */
export function callsHost(sql: Sql, host: string) {
  const wanted = host.toLowerCase();
  return sql`(w.host = ${wanted} or starts_with(w.host, ${`${wanted}:`}))`;
}

/** The webhooks that call a host, deleted ones left out, in the order of their ids. */
export async function webhooksCalling(sql: Sql, host: string): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select w.id from webhooks w where ${callsHost(sql, host)} and w.deleted_at is null order by w.id`;
  return rows.map(({ id }) => id);
}
