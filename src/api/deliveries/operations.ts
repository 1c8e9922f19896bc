/** The payload of a delivery, and redelivery (docs/interface.md, L5 and L6). */
import type { Hono } from 'hono';
import * as v from 'valibot';
import { findDelivery } from '../../db/deliveries/delivery-log.ts';
import { redeliver } from '../../db/outbox/redeliver.ts';
import { findSentRequest } from '../../db/webhooks/request-settings.ts';
import { described } from '../../domain/fields.ts';
import { payloadOf } from '../../domain/payload.ts';
import { badRequest, conflict, orNotFound, recordNotFound } from '../../domain/problem.ts';
import { webhookMethods } from '../../domain/webhook-fields.ts';
import type { ApiDeps, ApiEnv } from '../deps.ts';
import { describeOperation } from '../describe.ts';
import { ok, okText } from '../envelope.ts';
import { idempotent } from '../idempotency.ts';
import { params } from '../validate.ts';
import {
  changed,
  DeliveryWithAttempts,
  deliveryId,
  fullRecordOf,
  noSuchDelivery,
  origin,
  sequence,
  tag,
} from './record.ts';

const payloadRequest = v.pipe(
  v.object({
    method: v.picklist(webhookMethods),
    url: described(
      v.string(),
      'The whole URL; on GET it ends with the percent-encoded identifier of the record.',
    ),
    contentType: described(
      v.nullable(v.literal('application/json')),
      'The `Content-Type` of the body; null on GET.',
    ),
    test: described(
      v.optional(v.literal(true)),
      'Present only for a test event, whose record does not exist: `X-Service-Test: true` is sent with it.',
    ),
  }),
  v.description('The request that the body belongs to; on GET, all that is sent.'),
  v.metadata({ ref: 'PayloadRequest' }),
);

export function deliveryOperationRoutes(app: Hono<ApiEnv>, deps: ApiDeps): void {
  const { sql } = deps;

  app.get(
    '/deliveries/:id/payload',
    describeOperation(tag, {
      id: 'getDeliveryPayload',
      summary: 'Read the payload of a delivery',
      description:
        'The body as it is sent: the snapshot of the record at the time of the event, in the form configured for the webhook. `data` is the body itself, byte ' +
        'for byte what the receiver gets; `request`, beside it, gives the method, the URL and the content type. A GET webhook gets no body: `data` is null, and `request.url` ends ' +
        'with the identifier that is appended. For an open delivery, this is what the next attempt will send, with the current settings of the webhook; for an ended one, ' +
        'what its last attempt sent, without personal data erased since. The headers are not included, because each attempt has a new signature; those for the sequence, the origin and the changed fields are headers of this response, too.',
      data: described(
        v.nullable(v.looseObject({})),
        'The body, byte for byte: the record as the `webhooks` section of this document describes it for the type of the event. ' +
          'Null on GET, which has no body.',
      ),
      beside: { request: payloadRequest },
      headers: {
        'X-Service-Sequence': sequence,
        'X-Service-Origin': origin,
        'X-Service-Changed': v.optional(changed),
      },
      message: 'Payload found.',
      errors: { 404: noSuchDelivery },
    }),
    params({ id: deliveryId }),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = orNotFound('delivery', id, await findSentRequest(sql, c.get('session').eshopId, id));
      const { method, url, body } = payloadOf(found);
      const contentType = body === null ? null : 'application/json';
      c.header('x-service-sequence', String(found.sequence));
      c.header('x-service-origin', found.origin);
      if (found.changed !== null) c.header('x-service-changed', found.changed);
      const test = found.test ? { test: true } : {};
      return okText(c, 'Payload found.', body ?? 'null', { request: { method, url, contentType, ...test } });
    },
  );

  app.post(
    '/deliveries/:id/redeliver',
    describeOperation(tag, {
      id: 'redeliver',
      summary: 'Redeliver',
      description:
        'Creates a new delivery of the same event to the same webhook, and returns it. It has its own id (so a receiver that drops duplicates accepts it), its own retries and its own 48 hours, carries the ' +
        'same snapshot of the record, and deactivates the webhook like any other if all its attempts fail. You can also redeliver a delivery that succeeded. A second request creates ' +
        'no second one: while the delivery, or an earlier redelivery of the same event to this webhook, is open, the response is a 409 that names it.',
      data: DeliveryWithAttempts,
      message: 'Delivery created.',
      errors: {
        400: 'the webhook is inactive; activate it first.',
        404: noSuchDelivery,
        409: 'the delivery, or an earlier redelivery of the same event to this webhook, is still open; or its event is no longer kept.',
      },
    }),
    params({ id: deliveryId }),
    idempotent(deps),
    async (c) => {
      const { id } = c.req.valid('param');
      const { eshopId } = c.get('session');
      const connection = c.get('sql') ?? sql;
      const redelivery = await redeliver(connection, eshopId, id);
      if (redelivery.kind === 'notFound') throw recordNotFound('delivery', id);
      if (redelivery.kind === 'inactive') {
        throw badRequest(`Webhook ${redelivery.webhookId} is inactive; activate it, then redeliver.`);
      }
      if (redelivery.kind === 'open') {
        throw conflict(
          redelivery.id === id
            ? `Delivery ${id} is still open.`
            : `Delivery ${redelivery.id}, a redelivery of the same event to this webhook, is still open.`,
        );
      }
      if (redelivery.kind === 'forgotten') {
        throw conflict(`The event of delivery ${id} is no longer kept; there is nothing left to send.`);
      }
      // It is missing if its webhook has just been deleted.
      const found = orNotFound('delivery', id, await findDelivery(connection, eshopId, redelivery.id));
      return ok(c, 'Delivery created.', fullRecordOf(found));
    },
  );
}
