/** The events of an e-shop, and their outcomes at every webhook with reasons (docs/interface.md, L8 and L9). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { counted } from '../db/connection/pool.ts';
import { countEvents, findEvent, listEvents } from '../db/event-log.ts';
import type { PayloadVersion } from '../domain/decimal.ts';
import { orNotFound } from '../domain/problem.ts';
import { renderValue } from '../domain/render.ts';
import { dateOf } from '../domain/timestamp.ts';
import { Cursor, cursorQuery, readList, readTwice } from './cursor.ts';
import { deliveryId as eventId } from './deliveries/record.ts';
import type { ApiDeps, ApiEnv } from './deps.ts';
import { describeOperation, inVersion } from './describe.ts';
import { ok } from './envelope.ts';
import { missingEvents, withOutcomes } from './event-outcomes.ts';
import { Event, EventWithRecord, eventFilter, MissingEvent } from './event-schemas.ts';
import { params, query } from './validate.ts';

const tag = 'Events';

/** @param version the form of an event's record */
export function eventRoutes(app: Hono<ApiEnv>, { sql }: ApiDeps, version: PayloadVersion): void {
  app.get(
    '/events',
    describeOperation(tag, {
      id: inVersion('listEvents', version),
      summary: 'List events',
      description: `Every event, whether or not a webhook got it, with its deliveries, or the reason why there are none: \`?entityId=10001\` shows what happened to order 10001. ${readTwice} If the first page is requested with \`entityId\`, \`missing\` says why an event that you expected may be absent.`,
      data: Event,
      list: 'optional',
      beside: { cursor: v.optional(Cursor), missing: v.optional(v.array(MissingEvent)) },
      message: 'Events found.',
    }),
    query({ ...cursorQuery, ...eventFilter }),
    async (c) => {
      const { eshopId } = c.get('session');
      const query = c.req.valid('query');
      const filter = { ...query, since: dateOf(query.since), until: dateOf(query.until) };
      const { rows, ...beside } = await readList(sql, query, {
        list: (part) => listEvents(sql, eshopId, filter, part),
        count: () => counted(countEvents(sql, eshopId, filter)),
      });
      const first = query.after === undefined && (query.page ?? 1) === 1;
      const missing = first ? await missingEvents(sql, eshopId, filter, rows.length) : undefined;
      return ok(c, 'Events found.', await withOutcomes(sql, eshopId, rows), { ...beside, missing });
    },
  );

  app.get(
    '/events/:id',
    describeOperation(tag, {
      id: inVersion('getEvent', version),
      summary: 'Read an event',
      description: 'With the record as it was right after the write, and the outcome at every webhook.',
      data: EventWithRecord,
      message: 'Event found.',
      errors: { 404: 'the event does not exist.' },
    }),
    params({ id: eventId }),
    async (c) => {
      const { eshopId } = c.get('session');
      const { id } = c.req.valid('param');
      const event = orNotFound('event', id, await findEvent(sql, eshopId, id));
      const [shown] = await withOutcomes(sql, eshopId, [event]);
      const record = renderValue(event.snapshot, { version, withPackingLists: true });
      return ok(c, 'Event found.', { ...shown, record });
    },
  );
}
