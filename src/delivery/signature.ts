/**
 * The signatures of a delivery: `v1` to `v3` of `X-Service-Signature`, and the Standard Webhooks headers, which
 * published libraries verify (docs/interface.md, D11 and D12). Only `v3` covers everything that a receiver bases
 * decisions on; `v1` and `v2` are for receivers that know no other.
 *
 * During the overlap after a rotation both secrets sign, newest first; a receiver accepts either.
 */
import { createHmac, type KeyObject, sign } from 'node:crypto';
import type { Origin } from '../domain/origin.ts';

const SECRET_PREFIX = 'whsec_';

export interface SignatureInput {
  /** One or two secrets, newest first. */
  readonly secrets: readonly string[];
  /** The e-shop's private keys (Ed25519) where the webhook is asymmetric, newest first. */
  readonly signingKeys?: readonly KeyObject[] | undefined;
  /** Unix seconds at which the attempt was signed; receivers refuse old ones. */
  readonly timestamp: number;
  /** `X-Service-Delivery`: the same on every attempt, so that a receiver can drop duplicates. */
  readonly deliveryId: string;
  /** `X-Service-Event-Id`: the same at every webhook, in redeliveries and recoveries. */
  readonly eventId: string;
  /** `X-Service-Event`: the webhook type of the event, `CREATE_ORDER` … */
  readonly eventType: string;
  /** `X-Service-Sequence`: puts the events of a record in order, from 1, rising, with gaps. */
  readonly sequence: number;
  /** `X-Service-Webhook`. */
  readonly webhookId: number;
  /** `X-Service-Origin`: who made the write. */
  readonly origin: Origin;
  /** `X-Service-Changed`: the fields that the write changed, joined by commas; null, and not sent, for no update. */
  readonly changed: string | null;
  /** Whether `X-Service-Test: true` is sent. */
  readonly test: boolean;
  readonly method: 'POST' | 'GET';
  /** Path and query as on the request line. */
  readonly target: string;
  /** The body as sent, text or its bytes in UTF-8; empty on GET. */
  readonly body: string | Uint8Array;
}

/**
 * The value of `X-Service-Signature`: `t=<unix seconds>,v1=<hex>,v2=<hex>,v3=<hex>`, with one signature of each
 * version per secret. Each is HMAC-SHA256 with the UTF-8 bytes of the whole secret as the key: `v1` over
 * `<t>.<body>`, on GET `<t>.<path and query>`; `v2` and `v3` over the lines of {@link linesOf} and the body.
 */
export function serviceSignature(input: SignatureInput): string {
  const { secrets, timestamp, method, target, body } = input;
  const signed = (version: string, before: string, content: string | Uint8Array) =>
    secrets.map(
      (secret) => `${version}=${createHmac('sha256', secret).update(before).update(content).digest('hex')}`,
    );
  return [
    `t=${timestamp}`,
    ...signed('v1', `${timestamp}.`, method === 'GET' ? target : body),
    ...signed('v2', linesOf(input, []), body),
    ...signed('v3', linesOf(input, [input.origin, input.changed ?? '']), body),
  ].join(',');
}

/**
 * The lines that are signed before the body, each ended. None can hold a line break: all are from headers or the
 * request line.
 * @param made the lines about the write, which `v2` lacks
 */
function linesOf(input: Omit<SignatureInput, 'secrets' | 'body'>, made: readonly string[]): string {
  const { timestamp, deliveryId, eventId, eventType, sequence, webhookId, test, method, target } = input;
  const event = [deliveryId, eventId, eventType, sequence, webhookId, ...made, test ? 'true' : ''];
  return `${[timestamp, ...event, method, target].join('\n')}\n`;
}

/**
 * The value of `webhook-signature`: one `v1,<base64>` per secret and one `v1a,<base64>` per signing key, separated
 * by spaces, all over `<deliveryId>.<t>.<body>`. `v1` is HMAC-SHA256 with the decoded base64 part of the secret as
 * the key, or the bytes of a secret without `whsec_`; `v1a` is Ed25519.
 */
export function standardSignature(
  input: Pick<SignatureInput, 'secrets' | 'signingKeys' | 'timestamp' | 'deliveryId' | 'body'>,
): string {
  const { secrets, signingKeys = [], timestamp, deliveryId, body } = input;
  const before = `${deliveryId}.${timestamp}.`;
  const symmetric = secrets.map((secret) => {
    const key = secret.startsWith(SECRET_PREFIX)
      ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
      : Buffer.from(secret, 'utf8');
    // Not concatenated first: a large body would be copied for each signature.
    return `v1,${createHmac('sha256', key).update(before).update(body).digest('base64')}`;
  });
  if (signingKeys.length === 0) return symmetric.join(' ');
  // Ed25519 takes the content as a whole.
  const content = Buffer.concat([Buffer.from(before), Buffer.from(body)]);
  const asymmetric = signingKeys.map((key) => `v1a,${sign(null, content, key).toString('base64')}`);
  return [...symmetric, ...asymmetric].join(' ');
}
