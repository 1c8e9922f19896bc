/**
 * The two signatures of a delivery: `X-Service-Signature`, and the Standard Webhooks headers, with which published
 * libraries verify (docs/interface.md, D11 and D12).
 *
 * During the overlap after a rotation both secrets sign, the newest first; a receiver accepts either.
 */
import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

export interface SignatureInput {
  /** One or two secrets (`whsec_…`), newest first. */
  readonly secrets: readonly string[];
  /** Unix seconds at which the attempt was signed; receivers refuse old ones. */
  readonly timestamp: number;
  /** POST: the body as sent, text or its bytes in UTF-8. GET: path and query as on the request line. */
  readonly content: string | Uint8Array;
}

/**
 * The value of `X-Service-Signature`: `t=<unix seconds>,v1=<hex>`, with one `v1=` per secret. Each is HMAC-SHA256
 * with the UTF-8 bytes of the whole secret as the key over `<t>.<content>`.
 */
export function serviceSignature({ secrets, timestamp, content }: SignatureInput): string {
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(content).digest('hex')}`,
  );
  return [`t=${timestamp}`, ...signatures].join(',');
}

/** What the Standard Webhooks specification signs: the message id, the time, and the body (empty for GET). */
export interface StandardSignatureInput {
  /** One or two secrets (`whsec_…`), newest first. */
  readonly secrets: readonly string[];
  readonly timestamp: number;
  /** `webhook-id`: the delivery's id. */
  readonly id: string;
  readonly body: string | Uint8Array;
}

/**
 * The value of `webhook-signature`: one `v1,<base64>` per secret, separated by spaces. Each is HMAC-SHA256 with the
 * decoded base64 part of the secret as the key over `<id>.<t>.<body>`.
 */
export function standardSignature({ secrets, timestamp, id, body }: StandardSignatureInput): string {
  return secrets
    .map((secret) => {
      const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
      const key = Buffer.from(encoded, 'base64');
      // Not put together first: a large body would be copied for each of its signatures.
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
