/**
 * What the warehouse does to orders: `/warehouse/orders`, for the role `warehouse`.
 * @module
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import { changeOrder } from '../db/records/orders.ts';
import { oneOf, optional, text } from '../domain/fields.ts';
import { moveOrder } from '../domain/order/changes.ts';
import { packingListsSchema, packOrder } from '../domain/order/packing-lists.ts';
import { orderRecordSchema } from '../domain/order/record.ts';
import { orderStatuses, orderTransitions } from '../domain/order/status.ts';
import { renderValue } from '../domain/render.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describe, waysOf } from './describe.ts';
import { ok } from './envelope.ts';
import { orderParams } from './order-reads.ts';
import { body, params } from './validate.ts';

const tag = 'Warehouse';

/** The body of a change of status. */
export const orderStatusBody = v.strictObject({
  status: oneOf(orderStatuses),
  note: v.pipe(optional(text(4000)), v.description("Kept in the order's `statusHistory`.")),
});

const stock = `From \`received\` until it leaves, an order has the units of its lines reserved: the move to \`received\` answers 409 naming every SKU that is short (set \`productsNotAvailable\` then). \`canceled\`, \`suspended\` and \`productsNotAvailable\` free them; \`onTheWay\` takes them out of the stock, one \`order\` movement per line.`;

/** Status and packing lists. */
export function warehouseOrderRoutes(deps: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const data = orderRecordSchema('v21');

  app.put(
    '/warehouse/orders/:eshopOrderId/status',
    describe({
      summary: 'Change the status of an order',
      description: `Fires UPDATE_ORDER_STATUS. Any way that is not in this table answers 409, staying included:\n\n${waysOf(orderTransitions)}\n\n${stock}`,
      tag,
      data,
      message: 'Order status changed.',
      errors: {
        404: 'no such order.',
        409: 'the table of statuses has no such way, or a product is short.',
      },
    }),
    params(orderParams),
    body(orderStatusBody),
    async (c) => {
      const { status, note } = c.req.valid('json');
      const { eshopOrderId } = c.req.valid('param');
      const record = await changeOrder(deps.sql, c.var.session.eshopId, eshopOrderId, (before, now) =>
        moveOrder(before, status, note, now),
      );
      return ok(c, 'Order status changed.', renderValue(record, { version: 'v21', withPackingLists: false }));
    },
  );

  app.put(
    '/warehouse/orders/:eshopOrderId/packing-lists',
    describe({
      summary: 'Replace the packing lists of an order',
      description:
        'Fires UPDATE_ORDER, and nothing when nothing changed. Answers the order with its packing lists.',
      tag,
      data,
      message: 'Packing lists replaced.',
      errors: { 404: 'no such order.' },
    }),
    params(orderParams),
    body(packingListsSchema),
    async (c) => {
      const { eshopOrderId } = c.req.valid('param');
      const record = await changeOrder(deps.sql, c.var.session.eshopId, eshopOrderId, (before) =>
        packOrder(before, c.req.valid('json')),
      );
      return ok(
        c,
        'Packing lists replaced.',
        renderValue(record, { version: 'v21', withPackingLists: true }),
      );
    },
  );
  return app;
}
