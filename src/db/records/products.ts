/**
 * Products.
 * @module
 */
import { productEntry } from '../../domain/catalogue.ts';
import { conflict, notFound } from '../../domain/problem.ts';
import { type ProductRecord, productEntries, type Stock } from '../../domain/product/schema.ts';
import { databaseTime } from '../clock.ts';
import { recordChange } from '../outbox/events.ts';
import type { Pool, Sql } from '../pool.ts';
import { transaction } from '../transaction.ts';
import { type Listed, unchanged } from './written.ts';

/** The columns in the record's order. */
const fields = Object.keys(productEntries);
const columns = [...fields, 'available', 'reserved', 'onHold', 'awaiting', 'createdAt', 'updatedAt'];

interface ProductRow extends Omit<ProductRecord, 'stock' | 'createdAt' | 'updatedAt'>, Stock {
  createdAt: Date;
  updatedAt: Date;
}

function toRecord(row: ProductRow): ProductRecord {
  const { available, reserved, onHold, awaiting, createdAt, updatedAt, ...input } = row;
  return {
    ...input,
    stock: { available, reserved, onHold, awaiting },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/**
 * Creates a product; fires CREATE_PRODUCT.
 * @throws Problem 409 when the e-shop has one of this SKU
 */
export async function createProduct(
  sql: Pool,
  eshopId: number,
  record: ProductRecord,
): Promise<ProductRecord> {
  return transaction(sql, async (tx) => {
    const { stock: _, ...row } = record;
    const inserted = await tx`
      insert into products ${tx({ eshopId, ...row })} on conflict (eshop_id, sku) do nothing returning sku`;
    if (inserted.length === 0) throw conflict(`The product ${record.sku} exists already.`);
    await recordChange(tx, productEntry, {
      eshopId,
      entityId: record.sku,
      before: null,
      after: record,
    });
    return record;
  });
}

/**
 * Applies a pure change to a product under a row lock; fires what the comparison of before and after says.
 * @param change throws what it refuses with
 * @throws Problem 404 when there is no such product
 */
export async function changeProduct(
  sql: Pool,
  eshopId: number,
  sku: string,
  change: (before: ProductRecord, now: Date) => ProductRecord,
): Promise<ProductRecord> {
  return transaction(sql, async (tx) => {
    const [row] = await tx<ProductRow[]>`
      select ${tx(columns)} from products where eshop_id = ${eshopId} and sku = ${sku} for no key update`;
    if (row === undefined) throw notFound(`There is no product ${sku}.`);
    const now = await databaseTime(tx);
    const before = toRecord(row);
    const changed = change(before, now);
    if (unchanged(before, changed)) return before;
    const after = { ...changed, updatedAt: now.toISOString() };
    const { stock: _, ...values } = after;
    await tx`update products set ${tx({ ...values })} where eshop_id = ${eshopId} and sku = ${sku}`;
    await recordChange(tx, productEntry, { eshopId, entityId: sku, before, after });
    return after;
  });
}

/** The product, or null. */
export async function readProduct(sql: Sql, eshopId: number, sku: string): Promise<ProductRecord | null> {
  const [row] = await sql<ProductRow[]>`
    select ${sql(columns)} from products where eshop_id = ${eshopId} and sku = ${sku}`;
  return row === undefined ? null : toRecord(row);
}

/** Which products a list holds. Times are ISO 8601, themselves included. */
export interface ProductFilter {
  readonly active?: boolean | undefined;
  readonly createdSince?: string | undefined;
  readonly updatedSince?: string | undefined;
}

/** A page of the products that pass the filter, oldest first. */
export async function listProducts(
  sql: Sql,
  eshopId: number,
  { active, createdSince, updatedSince }: ProductFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Listed<ProductRecord>> {
  const where = sql`
    where eshop_id = ${eshopId}
      ${active === undefined ? sql`` : sql`and active = ${active}`}
      ${createdSince === undefined ? sql`` : sql`and created_at >= ${createdSince}`}
      ${updatedSince === undefined ? sql`` : sql`and updated_at >= ${updatedSince}`}`;
  const [rows, counted] = await Promise.all([
    sql<ProductRow[]>`
      select ${sql(columns)} from products ${where}
      order by created_at, sku limit ${limit} offset ${offset}`,
    sql<{ total: string }[]>`select count(*) as total from products ${where}`,
  ]);
  return { records: rows.map(toRecord), totalCount: Number(counted[0]?.total ?? 0) };
}

/** Which of these SKUs are products of the e-shop. Products are never deleted: what is known stays known. */
export async function knownSkus(sql: Sql, eshopId: number, skus: readonly string[]): Promise<Set<string>> {
  if (skus.length === 0) return new Set();
  const rows = await sql<{ sku: string }[]>`
    select sku from products where eshop_id = ${eshopId} and sku = any(${[...skus]}::text[])`;
  return new Set(rows.map((row) => row.sku));
}
