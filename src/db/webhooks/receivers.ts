import type { Sql } from '../pool.ts';

/**
 * The condition that a webhook `w` calls a host, as SQL.
 * @param host with its port or, for any port, without
 */
export function callsHost(sql: Sql, host: string) {
  const wanted = host.toLowerCase();
  return sql`(w.host = ${wanted} or starts_with(w.host, ${`${wanted}:`}))`;
}
