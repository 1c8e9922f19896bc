/** The delivery log, as the e-shop sees it (docs/interface.md, L1 and L2). */
import { Hono } from 'hono';
import * as v from 'valibot';
import { countAllDeliveries, listAllDeliveries } from '../../db/webhooks/all-deliveries.ts';
import { findDelivery } from '../../db/webhooks/delivery-log.ts';
import { findWebhook } from '../../db/webhooks/webhooks.ts';
import { described, identifier } from '../../domain/fields.ts';
import { existing } from '../../domain/problem.ts';
import { dateOf, timestamp } from '../../domain/timestamp.ts';
import { pagesEnd, readPage } from '../cursor.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok } from '../envelope.ts';
import { pageOf, pageQuery } from '../pagination.ts';
import { params, query } from '../validate.ts';
import { webhookId } from '../webhooks/record.ts';
import {
  Delivery,
  DeliveryWithAttempts,
  deliveryId,
  fullRecordOf,
  noSuchDelivery,
  recordOf,
  state,
  tag,
} from './record.ts';

export function deliveryRoutes({ sql }: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();

  app.get(
    '/webhooks/:id/deliveries',
    describeOperation({
      id: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description: `Newest first; ${pagesEnd}. To get at what lies beyond, set \`since\` and \`until\`, or read \`GET /deliveries\` with \`webhookId\` and \`after\`.`,
      tag,
      data: Delivery,
      list: true,
      message: 'Deliveries found.',
      errors: { 404: 'the webhook does not exist.' },
    }),
    params({ id: webhookId }),
    query({
      ...pageQuery,
      state: v.optional(state),
      entityId: v.optional(
        described(identifier(), 'The identifier of the order, product, receiving, return or stock movement.'),
      ),
      since: v.optional(timestamp()),
      until: v.optional(timestamp()),
    }),
    async (c) => {
      const { eshopId } = c.var.session;
      const { id } = c.req.valid('param');
      const { state, entityId, since, until, ...wanted } = c.req.valid('query');
      existing('webhook', id, await findWebhook(sql, eshopId, id));
      const page = pageOf(wanted);
      const made = { since: dateOf(since), until: dateOf(until) };
      const filter = { webhookId: id, state, entityId, made };
      const { rows, pagination } = await readPage(
        page,
        {
          list: (part) => listAllDeliveries(sql, eshopId, filter, part),
          count: () => countAllDeliveries(sql, eshopId, filter),
        },
        'until',
      );
      return ok(c, 'Deliveries found.', rows.map(recordOf), pagination);
    },
  );

  app.get(
    '/deliveries/:id',
    describeOperation({
      id: 'getDelivery',
      summary: 'Read a delivery with its attempts',
      tag,
      data: DeliveryWithAttempts,
      message: 'Delivery found.',
      errors: { 404: noSuchDelivery },
    }),
    params({ id: deliveryId }),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = existing('delivery', id, await findDelivery(sql, c.var.session.eshopId, id));
      return ok(c, 'Delivery found.', fullRecordOf(found));
    },
  );
  return app;
}
