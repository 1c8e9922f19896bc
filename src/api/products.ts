/**
 * Products: `/products`, key `sku`.
 * @module
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import { changeProduct, createProduct, listProducts, readProduct } from '../db/records/products.ts';
import type { PayloadVersion } from '../domain/decimal.ts';
import { identifier } from '../domain/fields.ts';
import { notFound } from '../domain/problem.ts';
import { newProduct, patchProduct, replaceProduct } from '../domain/product/changes.ts';
import {
  type ProductRecord,
  productInputSchema,
  productRecordSchema,
  productResponseOnly,
} from '../domain/product/schema.ts';
import { renderValue } from '../domain/render.ts';
import { timestamp } from '../domain/timestamp.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describe } from './describe.ts';
import { ok } from './envelope.ts';
import { pageOf, pageQuery, paginationOf } from './pagination.ts';
import { rawBody } from './raw-body.ts';
import { booleanText, params, query } from './validate.ts';

const tag = 'Products';
const skuParams = { sku: identifier() };
const missing = { 404: 'no such product.' };
const responseOnly = { responseOnly: productResponseOnly };

/** The reads, in the form of the version. */
export function productReads(deps: ApiDeps, version: PayloadVersion): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const data = productRecordSchema(version);
  const shown = (record: ProductRecord) => renderValue(record, { version, withPackingLists: false });

  app.get(
    '/products',
    describe({
      summary: 'List products',
      description: 'Oldest first. A change of `stock` is no update of the product.',
      tag,
      data,
      list: true,
      message: 'Products found.',
    }),
    query({
      ...pageQuery,
      active: v.optional(booleanText),
      createdSince: v.optional(timestamp()),
      updatedSince: v.optional(timestamp()),
    }),
    async (c) => {
      const { page: _page, items: _items, ...filter } = c.req.valid('query');
      const page = pageOf(c.req.valid('query'));
      const { records, totalCount } = await listProducts(deps.sql, c.var.session.eshopId, filter, page);
      return ok(c, 'Products found.', records.map(shown), paginationOf(page, totalCount));
    },
  );

  app.get(
    '/products/:sku',
    describe({ summary: 'Read a product', tag, data, message: 'Product found.', errors: missing }),
    params(skuParams),
    query({}),
    async (c) => {
      const { sku } = c.req.valid('param');
      const record = await readProduct(deps.sql, c.var.session.eshopId, sku);
      if (record === null) throw notFound(`There is no product ${sku}.`);
      return ok(c, 'Product found.', shown(record));
    },
  );
  return app;
}

/** The reads and the writes of `/v21`. */
export function productRoutes(deps: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.route('/', productReads(deps, 'v21'));
  const data = productRecordSchema('v21');
  const answer = (record: ProductRecord) => renderValue(record, { version: 'v21', withPackingLists: false });

  app.post(
    '/products',
    describe({
      summary: 'Create a product',
      description: 'Fires CREATE_PRODUCT. Only `sku` and `name` are required.',
      tag,
      data,
      message: 'Product created.',
      errors: { 409: 'a product of this SKU exists already.' },
    }),
    rawBody(productInputSchema, responseOnly),
    async (c) => {
      const record = newProduct(c.req.valid('json'), new Date());
      return ok(c, 'Product created.', answer(await createProduct(deps.sql, c.var.session.eshopId, record)));
    },
  );

  app.put(
    '/products/:sku',
    describe({
      summary: 'Replace a product',
      description:
        'What is left out becomes `null` or its default. Fires UPDATE_PRODUCT, and nothing when nothing changed.',
      tag,
      data,
      message: 'Product updated.',
      errors: missing,
    }),
    params(skuParams),
    rawBody(productInputSchema, { ...responseOnly, optional: ['sku'] }),
    async (c) => {
      const written = await changeProduct(
        deps.sql,
        c.var.session.eshopId,
        c.req.valid('param').sku,
        (record) => replaceProduct(record, c.req.valid('json')),
      );
      return ok(c, 'Product updated.', answer(written));
    },
  );

  app.patch(
    '/products/:sku',
    describe({
      summary: 'Change fields of a product',
      description:
        'Only the fields sent are changed. Fires UPDATE_PRODUCT, and nothing when nothing changed.',
      tag,
      data,
      message: 'Product updated.',
      errors: missing,
    }),
    params(skuParams),
    rawBody(productInputSchema, { ...responseOnly, optional: 'all' }),
    async (c) => {
      const written = await changeProduct(
        deps.sql,
        c.var.session.eshopId,
        c.req.valid('param').sku,
        (record) => patchProduct(record, c.req.valid('json')),
      );
      return ok(c, 'Product updated.', answer(written));
    },
  );
  return app;
}
