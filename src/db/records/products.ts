/** Products in the database. Their stock is changed only by `stock.ts`. */
import { catalogue } from '../../domain/catalogue.ts';
import type { ProductRecord } from '../../domain/product/schema.ts';
import type { Sql } from '../connection/pool.ts';
import { type EntityMapping, entityMapping } from './entity-mapping.ts';
import { sqlText } from './table-mapping.ts';

export const products: EntityMapping<ProductRecord> = entityMapping({
  entry: catalogue.product,
  table: 'products',
  computed: {
    stock: sqlText`json_build_object(
      'available', t.available::text, 'reserved', t.reserved::text,
      'onHold', t.on_hold::text, 'awaiting', t.awaiting::text)`,
  },
});

/** The SKUs among these that the e-shop has. Products are never deleted: a known SKU stays known. */
export async function knownSkus(sql: Sql, eshopId: number, skus: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ sku: string }[]>`
    select sku from products where eshop_id = ${eshopId} and sku = any(${[...skus]}::text[])`;
  return new Set(rows.map(({ sku }) => sku));
}
