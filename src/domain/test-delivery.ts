/** One request with a sample, to test a receiver (docs/interface.md, W13). */
import * as v from 'valibot';
import { type EventType, eventTypeNames } from './event-types.ts';
import { component, described, oneOf, wholeNumber } from './fields.ts';
import type { SentEvent } from './payload.ts';
import { invalid } from './problem.ts';
import type { RequestSettings } from './webhook.ts';
import { webhookMethods } from './webhook-fields.ts';
import { typesOf } from './webhook-types.ts';

export interface WebhookWithSecrets extends RequestSettings {
  readonly eshopId: number;
  readonly webhookId: number;
  readonly webhookType: EventType;
  readonly additionalTypes: readonly EventType[];
  /** The static headers, sealed; null if it has none. */
  readonly headers: Buffer | null;
  /** Sealed. The previous secret, also sealed, signs beside it until `previousSecretUntil`. */
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousSecretUntil: Date | null;
  /**
   * The e-shop's private signing keys, sealed, if the webhook is asymmetric: the present key, and the previous one
   * while it still signs.
   */
  readonly signingKey: Buffer | null;
  readonly previousSigningKey: Buffer | null;
  /** The database's clock when this was read. */
  readonly now: Date;
}

/** The query parameter with the type of the samples that a test or an examination sends. */
export const testedType = described(
  v.optional(oneOf(eventTypeNames)),
  'The event type of the samples, one of those of the webhook. Default: its `webhookType`.',
);

/**
 * The webhook with one of its types as its `webhookType`, so that its samples are of that type.
 * @param type undefined: its `webhookType`
 * @throws Problem 400 if it has no such type
 */
export function asOfType(webhook: WebhookWithSecrets, type: EventType | undefined): WebhookWithSecrets {
  const types = typesOf(webhook);
  if (type !== undefined && !types.includes(type)) {
    const message = `must be one of the types of webhook ${webhook.webhookId}: ${types.join(', ')}`;
    throw invalid([{ path: 'type', message }]);
  }
  return { ...webhook, webhookType: type ?? webhook.webhookType };
}

const headers = v.record(v.string(), v.string());

export const testResultSchema = component('TestResult', {
  request: component('TestRequest', {
    method: v.picklist(webhookMethods),
    url: described(v.string(), 'The whole URL; on GET it ends with the identifier of the sample.'),
    headers: described(
      headers,
      'The headers that the service sets, with the signature over this very request.',
    ),
    body: described(
      v.nullable(v.string()),
      'The body, byte for byte: use it to test your signature check. Null on GET.',
    ),
  }),
  response: described(
    v.nullable(
      component('TestResponse', {
        status: wholeNumber(),
        headers: described(
          headers,
          'Those headers of the response that help to debug, such as `content-type`, `location` and `server`.',
        ),
        excerpt: described(v.nullable(v.string()), 'The first 1 KiB of the response body, as text.'),
      }),
    ),
    'Null if no response arrived.',
  ),
  durationMs: described(
    wholeNumber(),
    'Until the status line and the headers arrived, or until the failure.',
  ),
  outcome: described(
    v.picklist(['success', 'failure', 'gone', 'inconclusive']),
    '`success`: a 2xx. `gone`: the receiver responded with 410, for which a delivery would deactivate the webhook. `failure`: anything else that counts against the receiver. ' +
      '`inconclusive`: the service itself failed, which says nothing about the receiver; try again.',
  ),
  error: described(v.nullable(v.string()), 'What went wrong, in a sentence; null after a success.'),
});
export type TestDeliveryResult = v.InferOutput<typeof testResultSchema>;
export type SignedRequest = TestDeliveryResult['request'];

/** Signs the request of a delivery now, to be shown: nothing is sent. */
export type SignAgain = (asked: {
  readonly deliveryId: string;
  readonly number: number;
  /** The webhook whose secrets sign. */
  readonly webhook: WebhookWithSecrets;
  readonly event: SentEvent;
}) => SignedRequest;

/** Makes one request to a webhook. Records nothing. @throws Error if its secret cannot be opened */
export type SendTest = (webhook: WebhookWithSecrets) => Promise<TestDeliveryResult>;
