/** The deliveries of an e-shop across its webhooks (docs/interface.md, L7). */
import { Hono } from 'hono';
import * as v from 'valibot';
import { countAllDeliveries, listAllDeliveries } from '../db/webhooks/all-deliveries.ts';
import type { PayloadVersion } from '../domain/decimal.ts';
import { eventTypeNames } from '../domain/event-types.ts';
import { described, identifier, oneOf } from '../domain/fields.ts';
import { dateOf, timestamp } from '../domain/timestamp.ts';
import { Cursor, cursorQuery, readList, readTwice } from './cursor.ts';
import { Delivery, recordOf, state, tag } from './deliveries/record.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation, inVersion } from './describe.ts';
import { okWith } from './envelope.ts';
import { query } from './validate.ts';
import { webhookId } from './webhooks/record.ts';

/** Filters by what events are about, and when they happened. */
export const eventFilter = {
  webhookType: v.optional(described(oneOf(eventTypeNames), 'The type of the event.')),
  entityId: v.optional(
    v.pipe(
      identifier(),
      v.description('The identifier of the order, product, receiving, return or stock movement.'),
      v.examples(['10001']),
    ),
  ),
  since: v.optional(timestamp('Only events from this time on: any ISO 8601 date-time with an offset.')),
  until: v.optional(timestamp('Only events before this time: any ISO 8601 date-time with an offset.')),
};

/** @param version under which they are mounted; the answers are alike */
export function allDeliveriesRoutes({ sql }: ApiDeps, version: PayloadVersion): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.get(
    '/deliveries',
    describeOperation({
      id: inVersion('listDeliveries', version),
      summary: 'List the deliveries of all webhooks',
      description: `${readTwice} Compare the list with what you have received to find what is missing. \`since\` and \`until\` refer to the time of the event, even if it was redelivered later. Deliveries of deleted webhooks are not listed.`,
      tag,
      data: Delivery,
      list: 'optional',
      beside: { cursor: v.optional(Cursor) },
      message: 'Deliveries found.',
    }),
    query({ ...cursorQuery, webhookId: v.optional(webhookId), state: v.optional(state), ...eventFilter }),
    async (c) => {
      const { eshopId } = c.var.session;
      const { page, items, after, since, until, ...asked } = c.req.valid('query');
      const filter = { ...asked, since: dateOf(since), until: dateOf(until) };
      const { rows, ...beside } = await readList(
        sql,
        { page, items, after },
        {
          list: (part) => listAllDeliveries(sql, eshopId, filter, part),
          count: () => countAllDeliveries(sql, eshopId, filter),
        },
      );
      return okWith(c, 'Deliveries found.', rows.map(recordOf), beside);
    },
  );
  return app;
}
