/** JSON columns that keep their keys in order. */
import type { Sql } from './pool.ts';

const JSON_OID = 114;

/**
 * A value for a `json` column. The driver's own `sql.json` sends `jsonb`, which reorders keys on its way in.
 * @example tx`insert into t ${tx({ lines: json(tx, lines) })}`
 */
export function json<T>(sql: Sql, value: T) {
  return sql.typed(value, JSON_OID);
}
