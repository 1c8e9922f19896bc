/** The delivery log, as the e-shop sees it (docs/interface.md, L1, L2 and L7). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { counted, type Sql } from '../../db/connection/pool.ts';
import { countAllDeliveries, endOfList, listAllDeliveries } from '../../db/deliveries/all-deliveries.ts';
import type { AllDeliveriesFilter } from '../../db/deliveries/delivery-filter.ts';
import { findDelivery } from '../../db/deliveries/delivery-log.ts';
import type { Slice } from '../../db/id-range.ts';
import { findWebhook } from '../../db/webhooks/webhooks.ts';
import type { PayloadVersion } from '../../domain/decimal.ts';
import { described, identifier } from '../../domain/fields.ts';
import { invalid, orNotFound } from '../../domain/problem.ts';
import { attemptsFilter, statusFilter, statusFilterOf } from '../../domain/status-filter.ts';
import { dateOf, timestamp } from '../../domain/timestamp.ts';
import { Cursor, cursorQuery, pagesEnd, readList, readPage, readTwice } from '../cursor.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation, inVersion } from '../describe.ts';
import { ok } from '../envelope.ts';
import { eventFilter } from '../event-schemas.ts';
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

const statusQuery = { lastStatus: v.optional(statusFilter), attempts: v.optional(attemptsFilter) };

/** @throws Problem 400 if `attempts` comes without `lastStatus` */
function statusOf(query: Parameters<typeof statusFilterOf>[0]) {
  if (query.lastStatus === undefined && query.attempts !== undefined)
    throw invalid([{ path: 'attempts', message: 'only together with lastStatus' }]);
  return statusFilterOf(query);
}

const sourceOf = (sql: Sql, eshopId: number, filter: AllDeliveriesFilter) => ({
  list: (part: Slice) => listAllDeliveries(sql, eshopId, filter, part),
  count: (afterId?: string) => counted(countAllDeliveries(sql, eshopId, filter, afterId)),
  endOf: (part: Slice) => endOfList(sql, eshopId, filter, part),
});

export function deliveryRoutes(app: Hono<ApiEnv>, { sql }: ApiDeps): void {
  app.get(
    '/webhooks/:id/deliveries',
    describeOperation(tag, {
      id: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook',
      description: `Newest first; ${pagesEnd}. To read further back, set \`since\` and \`until\`, or read \`GET /deliveries\` with \`webhookId\` and \`after\`.`,
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
      ...statusQuery,
    }),
    async (c) => {
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      const { state, entityId, since, until, lastStatus, attempts, ...wanted } = c.req.valid('query');
      const status = statusOf({ lastStatus, attempts });
      orNotFound('webhook', id, await findWebhook(sql, eshopId, id));
      const page = pageOf(wanted);
      const createdWithin = { since: dateOf(since), until: dateOf(until) };
      const filter: AllDeliveriesFilter = { webhookId: id, state, entityId, created: createdWithin, status };
      const { rows, pagination } = await readPage(page, 'until', sourceOf(sql, eshopId, filter));
      return ok(c, 'Deliveries found.', rows.map(recordOf), { pagination });
    },
  );

  app.get(
    '/deliveries/:id',
    describeOperation(tag, {
      id: 'getDelivery',
      summary: 'Read a delivery with its attempts',
      data: DeliveryWithAttempts,
      message: 'Delivery found.',
      errors: { 404: noSuchDelivery },
    }),
    params({ id: deliveryId }),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = orNotFound('delivery', id, await findDelivery(sql, c.get('session').eshopId, id));
      return ok(c, 'Delivery found.', fullRecordOf(found));
    },
  );
}

/**
 * The deliveries of an e-shop across its webhooks (docs/interface.md, L7).
 * @param version under which they are mounted; the responses are the same
 */
export function allDeliveriesRoutes(app: Hono<ApiEnv>, { sql }: ApiDeps, version: PayloadVersion): void {
  app.get(
    '/deliveries',
    describeOperation(tag, {
      id: inVersion('listDeliveries', version),
      summary: 'List the deliveries of all webhooks',
      description: `${readTwice} Compare the list with what you have received to find what is missing. \`since\` and \`until\` refer to the time of the event, even if it was redelivered later. Deliveries of deleted webhooks are not listed.`,
      data: Delivery,
      list: 'optional',
      beside: { cursor: v.optional(Cursor) },
      message: 'Deliveries found.',
    }),
    query({
      ...cursorQuery,
      webhookId: v.optional(webhookId),
      state: v.optional(state),
      ...eventFilter,
      ...statusQuery,
    }),
    async (c) => {
      const { eshopId } = c.get('session');
      const query = c.req.valid('query');
      const { lastStatus, attempts, ...wanted } = query;
      const filter = {
        ...wanted,
        since: dateOf(wanted.since),
        until: dateOf(wanted.until),
        status: statusOf({ lastStatus, attempts }),
      };
      const { rows, ...beside } = await readList(sql, query, sourceOf(sql, eshopId, filter));
      return ok(c, 'Deliveries found.', rows.map(recordOf), beside);
    },
  );
}
