/**
 * Stock movements: `/stock-movements`, key `id`; the warehouse records them.
 * @module
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import { createMovement, listMovements, readMovement } from '../db/records/stock-movements.ts';
import type { PayloadVersion } from '../domain/decimal.ts';
import { stockMovementTypes } from '../domain/event-types.ts';
import { identifier, oneOf } from '../domain/fields.ts';
import { notFound } from '../domain/problem.ts';
import { renderValue } from '../domain/render.ts';
import {
  newMovement,
  type StockMovementRecord,
  stockMovementInputSchema,
  stockMovementRecordSchema,
  stockMovementResponseOnly,
} from '../domain/stock/movement.ts';
import { timestamp } from '../domain/timestamp.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describe } from './describe.ts';
import { ok } from './envelope.ts';
import { pageOf, pageQuery, paginationOf } from './pagination.ts';
import { rawBody } from './raw-body.ts';
import { params, query } from './validate.ts';

const tag = 'Stock movements';

/** The path parameter of one movement. */
const movementParams = {
  id: v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, 'must be a whole number'),
    v.metadata({ jsonSchema: { type: 'integer', minimum: 0, maximum: 999_999_999_999_999 } }),
    v.transform(Number),
  ),
};

/** The list and the detail. */
export function stockMovementReads(deps: ApiDeps, version: PayloadVersion): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const data = stockMovementRecordSchema(version);
  const shown = (record: StockMovementRecord) => renderValue(record, { version, withPackingLists: false });

  app.get(
    '/stock-movements',
    describe({
      summary: 'List stock movements',
      description: 'Oldest first. `since` is the earliest `createdAt`, itself included.',
      tag,
      data,
      list: true,
      message: 'Stock movements found.',
    }),
    query({
      ...pageQuery,
      sku: v.optional(identifier()),
      type: v.optional(oneOf(stockMovementTypes)),
      since: v.optional(timestamp()),
    }),
    async (c) => {
      const { page: _page, items: _items, ...filter } = c.req.valid('query');
      const page = pageOf(c.req.valid('query'));
      const { records, totalCount } = await listMovements(deps.sql, c.var.session.eshopId, filter, page);
      return ok(c, 'Stock movements found.', records.map(shown), paginationOf(page, totalCount));
    },
  );

  app.get(
    '/stock-movements/:id',
    describe({
      summary: 'Read a stock movement',
      tag,
      data,
      message: 'Stock movement found.',
      errors: { 404: 'no such stock movement.' },
    }),
    params(movementParams),
    query({}),
    async (c) => {
      const { id } = c.req.valid('param');
      const record = await readMovement(deps.sql, c.var.session.eshopId, id);
      if (record === null) throw notFound(`There is no stock movement ${id}.`);
      return ok(c, 'Stock movement found.', shown(record));
    },
  );
  return app;
}

/** The reads and the warehouse's write of `/v21`. */
export function stockMovementRoutes(deps: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.route('/', stockMovementReads(deps, 'v21'));

  app.post(
    '/warehouse/stock-movements',
    describe({
      summary: 'Record a stock movement',
      description: `Changes the product's \`stock\` at once and fires CREATE_STOCK_MOVEMENT_<TYPE>, but no UPDATE_PRODUCT.

- \`quality_hold\` moves \`count\` units from \`available\` to \`onHold\`, \`quality_release\` moves them back.
- Every other type adds \`count\` to \`available\`: below zero it takes units away.
- \`available\` and \`onHold\` never go below zero, and a product stays below 1,000,000,000 units: else 409.

Some movements are recorded by themselves, one per line: an order that goes \`onTheWay\` (from its reserved units), a receiving that is stocked, a return that is completed.`,
      tag: 'Warehouse',
      data: stockMovementRecordSchema('v21'),
      message: 'Stock movement recorded.',
      errors: { 409: 'the product has too few units.' },
    }),
    rawBody(stockMovementInputSchema, { responseOnly: stockMovementResponseOnly }),
    async (c) => {
      const movement = newMovement(c.req.valid('json'));
      const record = await createMovement(deps.sql, c.var.session.eshopId, movement);
      return ok(
        c,
        'Stock movement recorded.',
        renderValue(record, { version: 'v21', withPackingLists: false }),
      );
    },
  );
  return app;
}
