/**
 * What an e-shop can do to a product: pure functions from the record before to the record after. Stock is moved by
 * stock movements and orders alone.
 * @module
 */

import { fieldsOf, problemIf, rulesOf, validate, without } from '../validation.ts';
import { type ProductInput, type ProductRecord, productInputSchema, productResponseOnly } from './schema.ts';

const rule = rulesOf<ProductInput, null>();

const productRules = [
  rule(['sku'], (_product, _context, before) =>
    problemIf(before !== null, 'sku', 'must be the SKU in the path: it cannot be changed'),
  ),
];

/**
 * A new product, with no stock.
 * @param body the request's body as it came
 * @throws Problem 400 naming everything that is wrong
 */
export function newProduct(body: unknown, now: Date): ProductRecord {
  const sent = without(body, productResponseOnly);
  const input = validate(productInputSchema, productRules, sent, { before: null, context: null });
  const at = now.toISOString();
  return {
    ...input,
    stock: { available: '0', reserved: '0', onHold: '0', awaiting: '0' },
    createdAt: at,
    updatedAt: at,
  };
}

const sentFields = (body: unknown) => fieldsOf(without(body, productResponseOnly));

function updated(record: ProductRecord, body: unknown): ProductRecord {
  return {
    ...record,
    ...validate(productInputSchema, productRules, body, { before: record, context: null }),
  };
}

/**
 * PUT: every field as sent, what is left out becomes null or its default.
 * @throws Problem 400 naming everything that is wrong
 */
export function replaceProduct(record: ProductRecord, body: unknown): ProductRecord {
  return updated(record, { sku: record.sku, ...sentFields(body) });
}

/**
 * PATCH: only the fields sent are changed.
 * @throws Problem 400 naming everything that is wrong
 */
export function patchProduct(record: ProductRecord, body: unknown): ProductRecord {
  const { stock, createdAt, updatedAt, ...fields } = record;
  return updated(record, { ...fields, ...sentFields(body) });
}
