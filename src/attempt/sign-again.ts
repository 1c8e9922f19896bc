/** The request of a delivery, signed now, to be looked at or repeated by hand: nothing is sent. */
import { buildRequest } from '../delivery/request.ts';
import { type EventForWebhook, payloadOf } from '../domain/payload.ts';
import type { WebhookWithSecrets } from '../domain/test-delivery.ts';
import { type SecretKeys, signingSecrets } from './prepare.ts';

/** What is signed. */
interface Asked {
  readonly deliveryId: string;
  readonly number: number;
  readonly webhook: WebhookWithSecrets;
  readonly event: EventForWebhook;
}

/** A function that signs. @param version Waybill's own, for `User-Agent` */
export function createSignAgain(keys: SecretKeys, version: string) {
  return ({ deliveryId, number, webhook, event }: Asked) => {
    const { method, url, body } = payloadOf(event);
    const { eshopId, now } = webhook;
    const { eventType, entityId } = event;
    const secrets = signingSecrets(keys, webhook);
    const request = {
      eshopId,
      url: event.url,
      method,
      secrets,
      deliveryId,
      eventType,
      entityId,
      number,
      body,
    };
    return { method, url, body, headers: buildRequest(request, now, version).headers };
  };
}
