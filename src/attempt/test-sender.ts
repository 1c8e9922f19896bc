/**
 * One request with a sample of the webhook's type: signed, guarded and bounded like an attempt of a delivery, but
 * not recorded (docs/interface.md, W13).
 */
import { v7 as uuidv7 } from 'uuid';
import { buildRequest } from '../delivery/request.ts';
import type { AttemptRequest, Sender } from '../delivery/sender.ts';
import { entryOf, idOf, sampleChangesOf, sampleOf } from '../domain/catalogue.ts';
import { payloadOf } from '../domain/payload.ts';
import { masked } from '../domain/static-headers.ts';
import type { SendTest } from '../domain/test-delivery.ts';
import { version } from '../lib/version.ts';
import { addressedTo, type SecretKeys } from './prepare.ts';

export interface TestSenderDeps {
  readonly sender: Pick<Sender, 'send'>;
  readonly keys: SecretKeys;
}

export function createTestSender({ sender, keys }: TestSenderDeps): SendTest {
  return async (webhook) => {
    const { method, webhookType: eventType } = webhook;
    const snapshot = sampleOf(eventType);
    const entityId = idOf(entryOf(eventType), snapshot);
    const { url: whole, body } = payloadOf({ ...webhook, eventType, entityId, snapshot });
    const request: AttemptRequest = {
      ...addressedTo(keys, webhook),
      deliveryId: uuidv7(),
      eventId: uuidv7(),
      eventType,
      entityId,
      sequence: 1,
      happenedAt: webhook.now,
      origin: 'service',
      changed: sampleChangesOf(eventType),
      number: 1,
      body,
      at: new Date(),
      test: true,
    };
    const { outcome, status, error, durationMs, responseExcerpt, responseHeaders, traceparent } =
      await sender.send(request);
    const shown = { ...request, staticHeaders: masked(Object.keys(request.staticHeaders)) };
    const sent = traceparent === undefined ? shown : { ...shown, traceparent };
    return {
      request: { method, url: whole, headers: buildRequest(sent, version).headers, body },
      response: status === null ? null : { status, headers: responseHeaders ?? {}, excerpt: responseExcerpt },
      durationMs,
      outcome: outcome === 'internal' ? 'inconclusive' : outcome,
      error,
    };
  };
}
