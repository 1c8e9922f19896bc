/** The request of an attempt, made from the records as they are now. Pure, apart from the keys. */
import type { DeliveryForAttempt } from '../db/deliveries/attempts.ts';
import type { AttemptRequest } from '../delivery/sender.ts';
import { payloadOptions } from '../domain/payload.ts';
import { render } from '../domain/render.ts';
import { setNewest } from '../lib/set-newest.ts';
import { type Keys, ownerName } from '../secrets/keys.ts';
import { privateKeyOf } from '../secrets/signing-keys.ts';
import { openHeaders } from '../secrets/static-headers.ts';

/** Opens a webhook's secrets. */
export type SecretKeys = Pick<Keys, 'decryptSecret'>;

/** Makes the request of an attempt. @throws Error if it cannot be made: a secret does not open, a broken snapshot */
export type Prepare = (delivery: DeliveryForAttempt, number: number) => Omit<AttemptRequest, 'at'>;

/**
 * How long opened secrets and rendered bodies are kept, in milliseconds. Too low: they are opened and rendered again.
 * Too high: secrets stay in memory.
 */
const KEPT_MS = 1_000;
/**
 * How many of the latest renderings are kept: the deliveries of an event follow one another. Too low: bodies are
 * rendered again. Too high: more memory.
 */
const KEPT_BODIES = 16;

/**
 * Prepares the attempts of a process. Within a short time each secret is opened only once, and an event is rendered
 * and encoded only once for all webhooks with the same options. Entries are keyed by the content that was read, not
 * by its owner alone: a replaced secret is a new entry.
 */
export function createPrepare(keys: SecretKeys): Prepare {
  const secrets = new Map<string, string>();
  const bodies = new Map<string, { readonly snapshot: string; readonly body: Uint8Array }>();
  let forgetting: NodeJS.Timeout | undefined;
  function forgetLater(): void {
    if (forgetting !== undefined) return;
    forgetting = setTimeout(() => {
      forgetting = undefined;
      secrets.clear();
      bodies.clear();
    }, KEPT_MS).unref();
  }
  const opened: SecretKeys = {
    decryptSecret(sealed, owner) {
      const key = `${ownerName(owner)} ${sealed.toString('base64')}`;
      const cached = secrets.get(key) ?? keys.decryptSecret(sealed, owner);
      secrets.set(key, cached);
      return cached;
    },
  };
  const bodyOf = (delivery: DeliveryForAttempt) => {
    const key = `${delivery.eventId} ${JSON.stringify(payloadOptions(delivery))}`;
    const { snapshot } = delivery;
    const cached = bodies.get(key);
    // The erasure of a customer changes the snapshots of events.
    const body =
      cached?.snapshot === snapshot ? cached.body : Buffer.from(render(snapshot, payloadOptions(delivery)));
    setNewest(bodies, key, { snapshot, body }, KEPT_BODIES);
    return body;
  };
  return (delivery, number) => {
    forgetLater();
    const { id: deliveryId, eventId, eventType, entityId, sequence, happenedAt, origin, changed } = delivery;
    const addressed = addressedTo(opened, delivery);
    const event = { eventId, eventType, entityId, sequence, happenedAt, origin, changed };
    const body = delivery.method === 'GET' ? null : bodyOf(delivery);
    return { ...addressed, deliveryId, ...event, number, body, ...(delivery.test ? { test: true } : {}) };
  };
}

/** The parts that all requests to a webhook share. @throws Error if its secrets or headers cannot be opened */
export function addressedTo(
  keys: SecretKeys,
  webhook: SealedFor & SealedKeysFor & Pick<DeliveryForAttempt, 'url' | 'method' | 'headers'>,
) {
  const { eshopId, webhookId, url, method, headers } = webhook;
  const staticHeaders = headers === null ? {} : openHeaders(keys, headers, webhook);
  return { eshopId, webhookId, url, method, ...signersOf(keys, webhook), staticHeaders };
}

/** The sealed secrets of a webhook, with its owner, and the time at which they were read. */
type SealedFor = Pick<
  DeliveryForAttempt,
  'eshopId' | 'webhookId' | 'secret' | 'previousSecret' | 'previousSecretUntil' | 'now'
>;
type SealedKeysFor = Pick<DeliveryForAttempt, 'signingKey' | 'previousSigningKey'>;

/** The keys that sign a request to a webhook: its secrets, and those of the e-shop if the webhook is asymmetric. */
export function signersOf(
  keys: SecretKeys,
  webhook: SealedFor & SealedKeysFor,
): Pick<AttemptRequest, 'secrets' | 'signingKeys'> {
  const secrets = signingSecrets(keys, webhook);
  const { signingKey, previousSigningKey, eshopId } = webhook;
  if (signingKey === null) return { secrets };
  const opened = (sealed: Buffer) => privateKeyOf(keys.decryptSecret(sealed, { eshopId, of: 'signing key' }));
  const previous = previousSigningKey === null ? null : openedOrNull(() => opened(previousSigningKey));
  return { secrets, signingKeys: [opened(signingKey), ...(previous === null ? [] : [previous])] };
}

/** The secrets, newest first. The end of a rotation's overlap is computed here, at signing: no clean-up is needed. */
export function signingSecrets(keys: SecretKeys, delivery: SealedFor): string[] {
  const { previousSecret, previousSecretUntil, now } = delivery;
  const secrets = [keys.decryptSecret(delivery.secret, delivery)];
  if (previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now) {
    // A previous secret that can no longer be opened must not stop signing with its successor.
    const previous = openedOrNull(() => keys.decryptSecret(previousSecret, delivery));
    if (previous !== null) secrets.push(previous);
  }
  return secrets;
}

function openedOrNull<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}
