/**
 * Products in the database. Their stock is written by `stock.ts` alone.
 * @module
 */
import { productEntry } from '../../domain/catalogue.ts';
import type { ProductRecord } from '../../domain/product/schema.ts';
import type { Sql } from '../pool.ts';
import { type Family, familyOf } from './family.ts';
import { sqlText } from './kind.ts';

/** Products. */
export const products: Family<ProductRecord> = familyOf({
  entry: productEntry,
  table: 'products',
  computed: {
    stock: sqlText`json_build_object(
      'available', t.available::text, 'reserved', t.reserved::text,
      'onHold', t.on_hold::text, 'awaiting', t.awaiting::text)`,
  },
});

/** What the rules of a body know beside it. */
export interface WriteContext {
  /** By the database's clock. */
  readonly now: Date;
  /** Of the SKUs that the body names, those that are products of the e-shop. */
  readonly knownSkus: ReadonlySet<string>;
}

/**
 * Reads what the rules of a body need. Products are never deleted: what is known stays known.
 * @param skus those that the body names
 */
export async function readWriteContext(
  sql: Sql,
  eshopId: number,
  skus: readonly string[],
): Promise<WriteContext> {
  const [row] = await sql<{ now: Date; known: string[] }[]>`
    select clock_timestamp() as now, array(
      select sku from products where eshop_id = ${eshopId} and sku = any(${[...skus]}::text[])) as known`;
  if (row === undefined) throw new Error('The database returned no time.');
  return { now: row.now, knownSkus: new Set(row.known) };
}
