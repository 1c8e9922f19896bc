/**
 * Records for the lists of the console: from the newest on, so that a page costs the same however much is stored.
 */
import type { EntityKind } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';
import { selected } from '../records/columns.ts';
import { orders } from '../records/orders.ts';
import { products } from '../records/products.ts';
import { receivings } from '../records/receivings.ts';
import { returns } from '../records/returns.ts';
import { stockMovements } from '../records/stock-movements.ts';

type Row = Readonly<Record<string, unknown>>;

const kinds = {
  order: orders,
  product: products,
  receiving: receivings,
  return: returns,
  stockMovement: stockMovements,
};

/** @param before the id of the record that the page follows; if there is no such record, the page is empty */
export async function newestRecords(
  sql: Sql,
  kind: EntityKind,
  eshopId: number,
  { before, most }: { readonly before: string | null; readonly most: number },
): Promise<readonly Row[]> {
  if (kind === 'stockMovement' && before !== null && !/^\d{1,18}$/.test(before)) return [];
  return [...(await selectNewest(sql, kind, eshopId, { before, most }))];
}

export function selectNewest(
  sql: Sql,
  kind: EntityKind,
  eshopId: number,
  { before, most }: { readonly before: string | null; readonly most: number },
) {
  const mapping = kinds[kind];
  const [table, key] = [sql(mapping.table), sql(mapping.entry.idField)];
  const behind =
    before === null
      ? sql``
      : sql`and (t.created_at, t.${key}) < (
          (select b.created_at from ${table} b where b.eshop_id = ${eshopId} and b.${key} = ${before}), ${before})`;
  return sql<Row[]>`
    select ${selected(sql, mapping)} from ${table} t where t.eshop_id = ${eshopId} ${behind}
    order by t.created_at desc, t.${key} desc limit ${most}`;
}
