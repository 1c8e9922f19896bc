/** Products: `/products`, key `sku`. */
import * as v from 'valibot';
import { products } from '../../db/records/products.ts';
import { productEdits } from '../../domain/product/changes.ts';
import { type ProductRecord, productInputSchema, productRecordSchema } from '../../domain/product/schema.ts';
import { booleanText } from '../validate.ts';
import { timeFilter } from './reads.ts';
import type { Resource } from './resource.ts';

export const productResource: Resource<ProductRecord> = {
  mapping: products,
  listed: '. A change of `stock` is not an update of the product.',
  filter: { active: v.optional(booleanText), ...timeFilter },
  creates: 'Create',
  onCreation: ' Only `sku` and `name` are required.',
  inputSchema: productInputSchema,
  recordSchema: productRecordSchema,
  ...productEdits,
  actions: [],
  operations: [],
};
