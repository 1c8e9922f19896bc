/**
 * The signatures of a delivery, as the sender makes them.
 *
 * `X-Service-Signature: t=<unix seconds>,v1=<hex>,v2=<hex>,v3=<hex>`: `v3` covers everything that a receiver's
 * decisions depend on, and `v2` the same except who made the change and what it changed. `v1` covers the body, and on
 * GET path and query; `webhook-signature` of Standard Webhooks covers the body and the id of the delivery. While a
 * secret is being replaced, there are two of each.
 */
import { type Bytes, fromBase64, hmac, join, toBase64, toHex } from './bytes.ts';
import { signatureOf } from './private-keys.ts';

/** Prefix of the base64 part of a generated secret, and of a user's own one that Standard Webhooks decodes. */
export const SECRET_PREFIX = 'whsec_';

/** The content that `v2` and `v3` of `X-Service-Signature` sign; headers as in the request. */
export interface JoinedContent {
  /** Unix seconds. */
  readonly timestamp: number;
  /** `X-Service-Delivery`. */
  readonly id: string;
  /** `X-Service-Event-Id`. */
  readonly eventId: string;
  /** `X-Service-Event`. */
  readonly kind: string;
  /** `X-Service-Sequence`. */
  readonly sequence: string;
  /** `X-Service-Webhook`. */
  readonly webhook: string;
  /** `X-Service-Origin`; empty if it is absent. Only `v3` has it and the next. */
  readonly origin: string;
  /** `X-Service-Changed`; empty if it is absent. */
  readonly changed: string;
  /** Whether the request has `X-Service-Test: true`. */
  readonly test: boolean;
  readonly method: string;
  /** Path and query as on the request line. */
  readonly target: string;
  /** Empty on GET. */
  readonly body: string | Bytes;
}

/** One `v2` or `v3` of `X-Service-Signature`: hex. The key is the whole secret, prefix included, as UTF-8. */
export async function serviceJoined(
  version: 'v2' | 'v3',
  secret: string,
  content: JoinedContent,
): Promise<string> {
  const { timestamp, id, eventId, kind, sequence, webhook, origin, changed, test, method, target, body } =
    content;
  const written = version === 'v3' ? [origin, changed] : [];
  const event = [id, eventId, kind, sequence, webhook, ...written, test ? 'true' : ''];
  const lines = [timestamp, ...event, method, target];
  return toHex(await hmac(join(secret), join(`${lines.join('\n')}\n`, body)));
}

/**
 * One `v1` of `X-Service-Signature`: hex. The key is the whole secret, prefix included, as UTF-8.
 * @param timestamp Unix seconds
 * @param content POST: the body as sent. GET: path and query as on the request line
 */
export async function serviceV1(secret: string, timestamp: number, content: string | Bytes): Promise<string> {
  return toHex(await hmac(join(secret), join(`${timestamp}.`, content)));
}

/**
 * One `v1` of `webhook-signature`: base64. The key is the decoded base64 part of the secret, or the secret itself,
 * as UTF-8, if it does not begin with `whsec_`.
 */
export async function standardV1(
  secret: string,
  { timestamp, id, body }: Pick<JoinedContent, 'timestamp' | 'id' | 'body'>,
): Promise<string> {
  const key = secret.startsWith(SECRET_PREFIX)
    ? fromBase64(secret.slice(SECRET_PREFIX.length))
    : join(secret);
  return toBase64(await hmac(key, join(`${id}.${timestamp}.`, body)));
}

/** One `v1a` of `webhook-signature`: base64. @param key private, `whsk_…` */
export async function standardV1a(
  key: string,
  { timestamp, id, body }: Pick<JoinedContent, 'timestamp' | 'id' | 'body'>,
): Promise<string> {
  return await signatureOf(key, join(`${id}.${timestamp}.`, body));
}

/** A parsed `X-Service-Signature`. */
export interface ServiceSignature {
  /** Unix seconds; null if it is not a whole number. */
  readonly timestamp: number | null;
  readonly v1: readonly string[];
  readonly v2: readonly string[];
  readonly v3: readonly string[];
}

/** Parses `t=…,v1=…,v2=…,v3=…`; unknown parts are ignored. */
export function parseServiceSignature(header: string): ServiceSignature {
  const fields = header.split(',').map((field) => field.trim());
  const t = fields.find((field) => field.startsWith('t='))?.slice(2) ?? '';
  return {
    timestamp: parseSeconds(t),
    v1: valuesOf('v1=', fields),
    v2: valuesOf('v2=', fields),
    v3: valuesOf('v3=', fields),
  };
}

function valuesOf(name: string, fields: readonly string[]): string[] {
  return fields.filter((field) => field.startsWith(name)).map((field) => field.slice(name.length));
}

/** Parses the signatures of one version in `v1,… v1a,…`; other parts are ignored. */
export function parseStandardSignature(header: string, version: 'v1' | 'v1a'): readonly string[] {
  return valuesOf(`${version},`, header.split(/\s+/));
}

/** Unix seconds from a header; null for anything else. */
export function parseSeconds(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}
