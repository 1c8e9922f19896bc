/**
 * The request of a delivery, signed now, to be inspected or repeated by hand: nothing is sent. The values of its
 * static headers are masked.
 */
import { buildRequest } from '../delivery/request.ts';
import { payloadOf } from '../domain/payload.ts';
import { masked } from '../domain/static-headers.ts';
import type { SignAgain } from '../domain/test-delivery.ts';
import { version } from '../lib/version.ts';
import { addressedTo, type SecretKeys } from './prepare.ts';

export function createSignAgain(keys: SecretKeys): SignAgain {
  return ({ deliveryId, number, webhook, event }) => {
    const { method, url, body } = payloadOf(event);
    const addressed = addressedTo(keys, webhook);
    const request = {
      ...addressed,
      // Its URL is the one at that time.
      ...event,
      method,
      staticHeaders: masked(Object.keys(addressed.staticHeaders)),
      deliveryId,
      number,
      body,
      at: new Date(),
    };
    return { method, url, body, headers: buildRequest(request, version).headers };
  };
}
