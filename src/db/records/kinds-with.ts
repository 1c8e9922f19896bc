/** Which records have an identifier, whatever their kind. */
import { mayIdentify } from '../../domain/catalogue.ts';
import type { EntityKind } from '../../domain/event-types.ts';
import type { Sql } from '../connection/pool.ts';
import { columnsOf } from './columns.ts';
import { mappings } from './mappings.ts';

/** The kinds of record that have one with this identifier. */
export async function kindsWith(sql: Sql, eshopId: number, id: string): Promise<EntityKind[]> {
  const lookups = Object.values(mappings)
    .filter(({ entry }) => mayIdentify(entry, id))
    .map(
      (mapping) => sql`
        select ${mapping.entry.kind} as kind from ${sql(mapping.table)}
        where eshop_id = ${eshopId} and ${sql(columnsOf(mapping).key)} = ${id}`,
    );
  const union = lookups.reduce((all, next) => sql`${all} union all ${next}`);
  const rows = await sql<{ kind: EntityKind }[]>`${union}`;
  return rows.map(({ kind }) => kind);
}
