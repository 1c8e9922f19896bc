import type { EntityKind } from '../../domain/event-types.ts';
import type { Sql } from '../pool.ts';

/** The kinds of record that have one with this identifier. */
export async function kindsWith(sql: Sql, eshopId: number, id: string): Promise<EntityKind[]> {
  const movement = /^\d{1,18}$/.test(id) ? id : null;
  const rows = await sql<{ kind: EntityKind }[]>`
    select 'order' as kind from orders where eshop_id = ${eshopId} and eshop_order_id = ${id}
    union all select 'product' from products where eshop_id = ${eshopId} and sku = ${id}
    union all select 'receiving' from receivings where eshop_id = ${eshopId} and eshop_receiving_id = ${id}
    union all select 'return' from returns where eshop_id = ${eshopId} and eshop_return_id = ${id}
    union all select 'stockMovement' from stock_movements where eshop_id = ${eshopId} and id = ${movement}::bigint`;
  return rows.map(({ kind }) => kind);
}
