/**
 * The request of a delivery, signed now, to be inspected or repeated by hand: nothing is sent. The values of its
 * static headers are masked.
 */
import { buildRequest } from '../delivery/request.ts';
import { payloadOf, type SentEvent } from '../domain/payload.ts';
import { masked } from '../domain/static-headers.ts';
import type { WebhookWithSecrets } from '../domain/test-delivery.ts';
import { version } from '../lib/version.ts';
import { type SecretKeys, signersOf, staticHeadersOf } from './prepare.ts';

interface RequestToSign {
  readonly deliveryId: string;
  readonly number: number;
  readonly webhook: WebhookWithSecrets;
  readonly event: SentEvent;
}

export function createSignAgain(keys: SecretKeys) {
  return ({ deliveryId, number, webhook, event }: RequestToSign) => {
    const { method, url, body } = payloadOf(event);
    const { eshopId, webhookId } = webhook;
    const request = {
      ...event,
      eshopId,
      webhookId,
      method,
      ...signersOf(keys, webhook),
      staticHeaders: masked(Object.keys(staticHeadersOf(keys, webhook))),
      deliveryId,
      number,
      body,
      at: new Date(),
    };
    return { method, url, body, headers: buildRequest(request, version).headers };
  };
}
