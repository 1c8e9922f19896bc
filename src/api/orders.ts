/**
 * Orders of the e-shop: `/orders`, key `eshopOrderId` (given.md, "Order operations").
 * @module
 */
import { Hono } from 'hono';
import { changeOrder, createOrder } from '../db/records/orders.ts';
import { knownSkus } from '../db/records/products.ts';
import {
  changeableInHand,
  moveOrder,
  newOrder,
  patchOrder,
  releaseOrder,
  replaceOrder,
  skusIn,
} from '../domain/order/changes.ts';
import { orderRecordSchema } from '../domain/order/record.ts';
import type { OrderContext } from '../domain/order/rules.ts';
import { type OrderRecord, orderInputSchema, orderResponseOnly } from '../domain/order/schema.ts';
import { renderValue } from '../domain/render.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describe } from './describe.ts';
import { ok } from './envelope.ts';
import { orderParams, orderReads } from './order-reads.ts';
import { rawBody } from './raw-body.ts';
import { params } from './validate.ts';

const tag = 'Orders';

const rules = `
- \`transferCompany\` is required for \`transfer\` orders; \`sanction\` and \`requiredExpeditionDate\` are allowed only for \`b2b\`.
- \`releaseAt\` is allowed only for a \`preOrder\` and lies in the future.
- \`shipper\` and \`shipperService\` are a pair from \`GET /v2/shipper-service-codes\`; \`pickupPoint\` is given exactly where the service delivers to pickup points.
- \`paymentType\` 0 (cash on delivery) needs a service that offers it, and a \`cashOnDelivery\` above 0 unless the order is \`paid\`.
- \`disableShippingReorder\` needs a \`marketplace\` and a file of type \`shippingAddonLabel\`; \`invoicePrint\` needs a file of type \`invoice\`.
- \`marketplace\` is one of the list that the warehouse keeps; a wrong value is answered with the list.
- Every \`sku\` is a product of the e-shop.
- Billing may be left out altogether: then it is the recipient.`;

const late = `From \`processing\` on only ${changeableInHand.map((field) => `\`${field}\``).join(', ')} can be changed (else 409). \`status\` and the fields of the service are ignored. Fires UPDATE_ORDER, and nothing when nothing changed.`;

/** The reads and the e-shop's writes of `/v21`. */
export function orderRoutes(deps: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.route('/', orderReads(deps, 'v21'));
  const data = orderRecordSchema('v21');
  const updateErrors = { 404: 'no such order.', 409: 'the order is too far on its way for this change.' };

  const contextOf = async (eshopId: number, body: unknown): Promise<OrderContext> => ({
    now: new Date(),
    shipperCatalogue: deps.shipperCatalogue,
    marketplaces: deps.marketplaces,
    knownSkus: await knownSkus(deps.sql, eshopId, skusIn(body)),
  });
  const answer = (record: OrderRecord) => renderValue(record, { version: 'v21', withPackingLists: false });

  app.post(
    '/orders',
    describe({
      summary: 'Create an order',
      description: `Fires CREATE_ORDER.\n${rules}`,
      tag,
      data,
      message: 'Order created.',
      errors: { 409: 'an order of this identifier exists already.' },
    }),
    rawBody(orderInputSchema, { responseOnly: orderResponseOnly }),
    async (c) => {
      const { eshopId } = c.var.session;
      const body = c.req.valid('json');
      const record = newOrder(body, await contextOf(eshopId, body));
      return ok(c, 'Order created.', answer(await createOrder(deps.sql, eshopId, record)));
    },
  );

  app.put(
    '/orders/:eshopOrderId',
    describe({
      summary: 'Replace an order',
      description: `What is left out becomes \`null\` or its default. ${late}\n${rules}`,
      tag,
      data,
      message: 'Order updated.',
      errors: updateErrors,
    }),
    params(orderParams),
    rawBody(orderInputSchema, { responseOnly: orderResponseOnly, optional: ['eshopOrderId'] }),
    async (c) => {
      const { eshopId } = c.var.session;
      const body = c.req.valid('json');
      const context = await contextOf(eshopId, body);
      const written = await changeOrder(deps.sql, eshopId, c.req.valid('param').eshopOrderId, (record, now) =>
        replaceOrder(record, body, { ...context, now }),
      );
      return ok(c, 'Order updated.', answer(written));
    },
  );

  app.patch(
    '/orders/:eshopOrderId',
    describe({
      summary: 'Change fields of an order',
      description: `Only the fields sent are changed, lists as a whole. ${late}\n${rules}`,
      tag,
      data,
      message: 'Order updated.',
      errors: updateErrors,
    }),
    params(orderParams),
    rawBody(orderInputSchema, { responseOnly: orderResponseOnly, optional: 'all' }),
    async (c) => {
      const { eshopId } = c.var.session;
      const body = c.req.valid('json');
      const context = await contextOf(eshopId, body);
      const written = await changeOrder(deps.sql, eshopId, c.req.valid('param').eshopOrderId, (record, now) =>
        patchOrder(record, body, { ...context, now }),
      );
      return ok(c, 'Order updated.', answer(written));
    },
  );

  app.post(
    '/orders/:eshopOrderId/release',
    describe({
      summary: 'Release a pre-order now',
      description: 'Ends its timer. Fires UPDATE_ORDER_STATUS. No body.',
      tag,
      data,
      message: 'Order released.',
      errors: { 404: 'no such order.', 409: 'the order is no preOrder.' },
    }),
    params(orderParams),
    async (c) => {
      const { eshopOrderId } = c.req.valid('param');
      const written = await changeOrder(deps.sql, c.var.session.eshopId, eshopOrderId, releaseOrder);
      return ok(c, 'Order released.', answer(written));
    },
  );

  app.post(
    '/orders/:eshopOrderId/cancel',
    describe({
      summary: 'Cancel an order',
      description: 'Possible until the carrier is waited for. Fires UPDATE_ORDER_STATUS. No body.',
      tag,
      data,
      message: 'Order canceled.',
      errors: { 404: 'no such order.', 409: 'the order can no longer be canceled.' },
    }),
    params(orderParams),
    async (c) => {
      const { eshopOrderId } = c.req.valid('param');
      const written = await changeOrder(deps.sql, c.var.session.eshopId, eshopOrderId, (record, now) =>
        moveOrder(record, 'canceled', null, now),
      );
      return ok(c, 'Order canceled.', answer(written));
    },
  );
  return app;
}
