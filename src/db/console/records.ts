/** Records for the lists of the console: from the newest on, so that a page costs the same however much is stored. */
import { mayIdentify, NO_NUMBER } from '../../domain/catalogue.ts';
import type { EntityKind } from '../../domain/event-types.ts';
import type { Sql } from '../connection/pool.ts';
import { listEvents } from '../event-log.ts';
import { columnsOf } from '../records/columns.ts';
import { mappings } from '../records/mappings.ts';

/** Without their lines. @param before the id of the record that the page follows; if there is none, it is empty */
export function newestRecords(
  sql: Sql,
  kind: EntityKind,
  eshopId: number,
  { before, most }: { readonly before: string | null; readonly most: number },
) {
  const mapping = mappings[kind];
  const [table, key] = [sql(mapping.table), sql(mapping.entry.idField)];
  const last = before === null || mayIdentify(mapping.entry, before) ? before : String(NO_NUMBER);
  const behind =
    last === null
      ? sql``
      : sql`and (t.created_at, t.${key}) < (
          (select b.created_at from ${table} b where b.eshop_id = ${eshopId} and b.${key} = ${last}), ${last})`;
  return sql<Readonly<Record<string, unknown>>[]>`
    select ${sql.unsafe(columnsOf(mapping).selectedHead)} from ${table} t where t.eshop_id = ${eshopId} ${behind}
    order by t.created_at desc, t.${key} desc limit ${most}`;
}

/** The newest events of a record. One of another kind may share the identifier, which the API does not tell apart. */
export const newestEvents = (
  sql: Sql,
  eshopId: number,
  record: { readonly kind: EntityKind; readonly entityId: string },
  limit: number,
) => listEvents(sql, eshopId, record, { limit, offset: 0 });
