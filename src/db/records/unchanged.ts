/** Writes that changed nothing and so fired no event, kept to explain why there is none. */
import type { EntityKind } from '../../domain/event-types.ts';
import type { Sql } from '../connection/pool.ts';
import { recordset } from '../sql.ts';

export interface UnchangedWrite {
  readonly kind: EntityKind;
  readonly entityId: string;
  readonly at: Date;
}

export async function recordUnchanged(sql: Sql, eshopId: number, writes: readonly UnchangedWrite[]) {
  if (writes.length === 0) return;
  const columns = { kind: 'text', entityId: 'text', at: 'timestamptz' };
  await sql`
    insert into unchanged_writes as u (eshop_id, kind, entity_id, at, writes)
    select ${eshopId}::int, w.kind, w.entity_id, max(w.at), count(*)
    from ${recordset(sql, JSON.stringify(writes), 'w', columns)}
    group by w.kind, w.entity_id order by w.kind, w.entity_id
    on conflict (eshop_id, kind, entity_id) do update set at = excluded.at, writes = u.writes + excluded.writes`;
}

/** The last write that changed nothing, of each record of these kinds with this identifier. */
export async function findUnchanged(
  sql: Sql,
  eshopId: number,
  kinds: readonly EntityKind[],
  entityId: string,
): Promise<UnchangedWrite[]> {
  return await sql<UnchangedWrite[]>`
    select kind, entity_id, at from unchanged_writes
    where eshop_id = ${eshopId} and kind = any(${[...kinds]}::text[]) and entity_id = ${entityId} order by at desc`;
}
