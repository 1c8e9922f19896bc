/**
 * The delivery log, as the e-shop sees it.
 * @module
 */
import { Hono } from 'hono';
import * as v from 'valibot';
import {
  type AttemptLogRow,
  type DeliveryLogRow,
  findDelivery,
  listDeliveries,
} from '../db/webhooks/delivery-log.ts';
import { findWebhook } from '../db/webhooks/webhooks.ts';
import { deliveryStates } from '../domain/delivery-state.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { notFound } from '../domain/problem.ts';
import { isoTimestamp, timestamp } from '../domain/timestamp.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation } from './describe.ts';
import { ok } from './envelope.ts';
import { pageOf, pageQuery, paginationOf } from './pagination.ts';
import { params, query } from './validate.ts';
import { webhookId, webhookNotFound } from './webhooks/record.ts';

const tag = 'Deliveries';
const integer = v.pipe(v.number(), v.integer());
const time = v.pipe(v.string(), v.isoTimestamp());
const uuid = v.pipe(v.string(), v.uuid('must be a UUID'), v.description('UUIDv7.'));

const state = v.pipe(
  v.picklist(deliveryStates, `must be one of ${deliveryStates.join(', ')}`),
  v.description(
    '`pending`: not attempted yet. `retrying`: every attempt so far has failed. `held`: open, but the webhook is inactive. `delivered`: the receiver responded with a 2xx. ' +
      '`failed`: all retries failed. `expired`: its 48 hours ended without the receiver being at fault. `canceled`: the webhook was deleted, or an operator ended the delivery.',
  ),
);

const deliveryEntries = {
  id: v.pipe(v.string(), v.uuid(), v.description('Also sent as `X-Service-Delivery`, with every attempt.')),
  webhookId: integer,
  eventId: v.pipe(v.string(), v.uuid()),
  webhookType: v.pipe(
    v.picklist(eventTypeNames),
    v.description('The type of the event; the webhook may have another one by now.'),
  ),
  entityId: v.string(),
  state,
  attemptsMade: integer,
  createdAt: time,
  lastAttemptAt: v.nullable(time),
  lastStatus: v.nullable(integer),
  lastError: v.nullable(v.string()),
  nextAttemptAt: v.pipe(
    v.nullable(time),
    v.description('Null if no attempt is planned: the delivery is held or has ended.'),
  ),
  finishedAt: v.nullable(time),
  canceledBy: v.pipe(
    v.nullable(v.picklist(['operator', 'deletion'])),
    v.description(
      'Who canceled it: the operator of the warehouse, or the deletion of the webhook. Null unless the state is `canceled`.',
    ),
  ),
};

const Delivery = v.pipe(v.object(deliveryEntries), v.metadata({ ref: 'Delivery' }));

const DeliveryWithAttempts = v.pipe(
  v.object({
    ...deliveryEntries,
    attempts: v.array(
      v.pipe(
        v.object({
          number: v.pipe(integer, v.description('From 1 to 21.')),
          startedAt: time,
          durationMs: v.nullable(integer),
          outcome: v.pipe(
            v.nullable(v.picklist(['success', 'failure', 'gone'])),
            v.description('Null while the attempt is in progress. `gone`: the receiver responded with 410.'),
          ),
          status: v.pipe(
            v.nullable(integer),
            v.description('The HTTP status of the response; null if there was none.'),
          ),
          error: v.nullable(v.string()),
          responseExcerpt: v.pipe(
            v.nullable(v.string()),
            v.description('The first 1 KiB of the response body, as text.'),
          ),
          nextAttemptAt: v.nullable(time),
        }),
        v.metadata({ ref: 'Attempt' }),
      ),
    ),
  }),
  v.metadata({ ref: 'DeliveryWithAttempts' }),
);

function recordOf(row: DeliveryLogRow): v.InferOutput<typeof Delivery> {
  return {
    id: row.id,
    webhookId: row.webhookId,
    eventId: row.eventId,
    webhookType: row.eventType,
    entityId: row.entityId,
    state: row.state,
    attemptsMade: row.attemptsMade,
    createdAt: row.createdAt.toISOString(),
    lastAttemptAt: isoTimestamp(row.lastAttemptAt),
    lastStatus: row.lastStatus,
    lastError: row.lastError,
    nextAttemptAt: isoTimestamp(row.nextAttemptAt),
    finishedAt: isoTimestamp(row.finishedAt),
    canceledBy: row.canceledBy,
  };
}

function attemptOf(row: AttemptLogRow) {
  return { ...row, startedAt: row.startedAt.toISOString(), nextAttemptAt: isoTimestamp(row.nextAttemptAt) };
}

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

/** The endpoints of the delivery log. */
export function deliveryRoutes({ sql }: ApiDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();

  app.get(
    '/webhooks/:id/deliveries',
    describeOperation({
      summary: 'List the deliveries of a webhook',
      description: 'Newest first.',
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
        v.pipe(
          v.string(),
          v.description('The identifier of the order, product, receiving, return or stock movement.'),
        ),
      ),
      since: v.optional(timestamp()),
      until: v.optional(timestamp()),
    }),
    async (c) => {
      const { eshopId } = c.var.session;
      const { id } = c.req.valid('param');
      const { state, entityId, since, until, ...wanted } = c.req.valid('query');
      if ((await findWebhook(sql, eshopId, id)) === null) throw webhookNotFound(id);
      const page = pageOf(wanted);
      const filter = { state, entityId, since: dateOf(since), until: dateOf(until) };
      const { rows, totalCount } = await listDeliveries(sql, eshopId, id, filter, page);
      return ok(c, 'Deliveries found.', rows.map(recordOf), paginationOf(page, totalCount));
    },
  );

  app.get(
    '/deliveries/:id',
    describeOperation({
      summary: 'Read a delivery with its attempts',
      tag,
      data: DeliveryWithAttempts,
      message: 'Delivery found.',
      errors: { 404: 'the delivery does not exist.' },
    }),
    params({ id: uuid }),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = await findDelivery(sql, c.var.session.eshopId, id);
      if (found === null) throw notFound(`Delivery ${id} does not exist.`);
      return ok(c, 'Delivery found.', {
        ...recordOf(found.delivery),
        attempts: found.attempts.map(attemptOf),
      });
    },
  );
  return app;
}
