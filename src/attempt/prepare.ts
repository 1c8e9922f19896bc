/**
 * The request of an attempt, made of what the records say now. Pure, the keys aside.
 * @module
 */
import type { DeliveryForAttempt } from '../db/webhooks/deliveries.ts';
import type { AttemptRequest } from '../delivery/sender.ts';
import { packingListEventTypes } from '../domain/event-types.ts';
import { render } from '../domain/render.ts';
import type { Keys } from '../keys.ts';

/** What opens a webhook's secrets. */
export type SecretKeys = Pick<Keys, 'decryptSecret'>;

/** @throws Error where it cannot be made: a secret that cannot be decrypted, a broken snapshot */
export function prepare(
  keys: SecretKeys,
  delivery: DeliveryForAttempt,
  number: number,
): Omit<AttemptRequest, 'at'> {
  const { id: deliveryId, eshopId, url, method, eventType, entityId } = delivery;
  const secrets = signingSecrets(keys, delivery);
  const body = method === 'GET' ? null : payload(delivery);
  return { eshopId, url, method, secrets, deliveryId, eventType, entityId, number, body };
}

function payload({ snapshot, payloadVersion, parameters, eventType }: DeliveryForAttempt): string {
  const withPackingLists = parameters?.withPackingLists === true && packingListEventTypes.includes(eventType);
  return render(snapshot, { version: payloadVersion, withPackingLists });
}

/** Newest first. The end of a rotation's overlap is computed here, when signing, not by a clean-up. */
function signingSecrets(keys: SecretKeys, delivery: DeliveryForAttempt): string[] {
  const { previousSecret, previousSecretUntil, now } = delivery;
  const secrets = [keys.decryptSecret(delivery.secret, delivery)];
  if (previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now) {
    secrets.push(keys.decryptSecret(previousSecret, delivery));
  }
  return secrets;
}
