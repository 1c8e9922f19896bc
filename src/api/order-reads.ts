/**
 * Reading orders, in the form of a version (given.md, "Order operations").
 * @module
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import { listOrders, readOrder } from '../db/records/orders.ts';
import type { PayloadVersion } from '../domain/decimal.ts';
import { identifier, oneOf } from '../domain/fields.ts';
import { orderRecordSchema } from '../domain/order/record.ts';
import { orderStatuses } from '../domain/order/status.ts';
import { notFound } from '../domain/problem.ts';
import { renderValue } from '../domain/render.ts';
import { timestamp } from '../domain/timestamp.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describe } from './describe.ts';
import { ok } from './envelope.ts';
import { pageOf, pageQuery, paginationOf } from './pagination.ts';
import { booleanText, params, query } from './validate.ts';

/** The path parameter of one order: percent-encoded in the path, any characters. */
export const orderParams = { eshopOrderId: identifier() };

/** The list and the detail. */
export function orderReads(deps: ApiDeps, version: PayloadVersion): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const data = orderRecordSchema(version);

  app.get(
    '/orders',
    describe({
      summary: 'List orders',
      description: 'Oldest first, without packing lists.',
      tag: 'Orders',
      data,
      list: true,
      message: 'Orders found.',
    }),
    query({
      ...pageQuery,
      status: v.optional(oneOf(orderStatuses)),
      createdSince: v.optional(timestamp()),
      updatedSince: v.optional(timestamp()),
    }),
    async (c) => {
      const { page: _page, items: _items, ...filter } = c.req.valid('query');
      const page = pageOf(c.req.valid('query'));
      const { records, totalCount } = await listOrders(deps.sql, c.var.session.eshopId, filter, page);
      const shown = records.map((record) => renderValue(record, { version, withPackingLists: false }));
      return ok(c, 'Orders found.', shown, paginationOf(page, totalCount));
    },
  );

  app.get(
    '/orders/:eshopOrderId',
    describe({
      summary: 'Read an order',
      description:
        '`withPackingLists=true` adds `orderProducts[].packingLists`: which units are in which package, SSCC codes, serial numbers.',
      tag: 'Orders',
      data,
      message: 'Order found.',
      errors: { 404: 'no such order.' },
    }),
    params(orderParams),
    query({ withPackingLists: v.optional(booleanText) }),
    async (c) => {
      const { eshopOrderId } = c.req.valid('param');
      const record = await readOrder(deps.sql, c.var.session.eshopId, eshopOrderId);
      if (record === null) throw notFound(`There is no order ${eshopOrderId}.`);
      const withPackingLists = c.req.valid('query').withPackingLists ?? false;
      return ok(c, 'Order found.', renderValue(record, { version, withPackingLists }));
    },
  );
  return app;
}
