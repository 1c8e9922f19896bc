/**
 * `webhook-signature` of Standard Webhooks: `v1`, which `v1` of `X-Service-Signature` requires as well, and `v1a`,
 * which a public key verifies. Both cover the id, the time and the body, and nothing else.
 */
import { type Bytes, equalInConstantTime, fromBase64, join } from './bytes.ts';
import { type HeaderValues, header } from './headers.ts';
import type { ReceivedRequest } from './judgment.ts';
import { emptyBody, rewritten, rewrittenBody } from './mistakes.ts';
import type { PublicKeySource } from './public-keys.ts';
import { Refused } from './refused.ts';
import { parseSeconds, parseStandardSignature, standardV1 } from './signature.ts';

/** The time and the signatures of one version. @throws Refused if a header is missing or from another delivery */
function signaturesOf({ headers }: ReceivedRequest, version: 'v1' | 'v1a', { id }: HeaderValues) {
  const signatures = parseStandardSignature(header(headers, 'webhook-signature'), version);
  const timestamp = parseSeconds(header(headers, 'webhook-timestamp'));
  if (timestamp === null) throw new Refused('headers', 401, 'webhook-timestamp is not in Unix seconds.');
  if (header(headers, 'webhook-id') !== id)
    throw new Refused('headers', 401, 'webhook-id is not X-Service-Delivery.');
  return { timestamp, signatures };
}

/** @throws Refused unless the times in both signatures are equal */
function sameTime(timestamp: number, t: number): void {
  if (timestamp !== t)
    throw new Refused('headers', 401, 'webhook-timestamp is not the t of X-Service-Signature.');
}

/**
 * Checks `v1`, which a secret makes.
 * @param t Unix seconds, of `X-Service-Signature`
 * @throws Refused if it does not match
 */
export async function verifyStandard(
  request: ReceivedRequest,
  said: HeaderValues,
  t: number,
  secrets: readonly string[],
): Promise<void> {
  const { timestamp, signatures } = signaturesOf(request, 'v1', said);
  sameTime(timestamp, t);
  const signed = { timestamp, id: said.id, body: request.method === 'GET' ? '' : request.body };
  const made = await Promise.all(secrets.map((secret) => standardV1(secret, signed)));
  const fits = made.filter((expected) => signatures.some((given) => equalInConstantTime(given, expected)));
  if (fits.length > 0) return;
  const what = 'webhook-signature does not match, though X-Service-Signature does';
  throw new Refused('signature', 401, `${what}: webhook-id or that header was changed on its way.`);
}

/**
 * Checks `v1a`, which the sender makes with the private key.
 * @param t Unix seconds, of `X-Service-Signature`; null if no secret has verified it
 * @returns the verified time, in Unix seconds
 * @throws Refused naming the problem, with common causes
 */
export async function verifyAsymmetric(
  request: ReceivedRequest,
  said: HeaderValues,
  t: number | null,
  keys: PublicKeySource,
): Promise<number> {
  const { method, body } = request;
  if (t === null && method === 'GET') {
    const why = 'Of a GET delivery v1a covers no word that says which record changed';
    throw new Refused('setup', 501, `${why}: give the receiver secrets beside publicKeys.`);
  }
  const { timestamp, signatures } = signaturesOf(request, 'v1a', said);
  if (t !== null) sameTime(timestamp, t);
  if (signatures.length === 0) {
    const what = 'webhook-signature has no v1a, which publicKeys verify';
    throw new Refused('headers', 401, `${what}: set "asymmetric" of webhook ${said.webhook} to true.`);
  }
  // With a valid signature, it would be a GET delivery whose method was changed in transit.
  if (method === 'POST' && body.length === 0) throw emptyBody();
  const given = signatures.flatMap(bytesOrNone);
  const fits = (content: Bytes | string) =>
    keys.signed(given, join(`${said.id}.${timestamp}.`, method === 'GET' ? '' : content));
  if (await fits(body)) return timestamp;

  const original = rewritten(body);
  if (original !== null && (await fits(original))) throw rewrittenBody();
  const many = keys.count === 1 ? 'the public key' : `any of the ${keys.count} public keys`;
  throw new Refused(
    'signature',
    401,
    `v1a of webhook-signature does not match ${many}. Does GET /eshop/signing-keys show ${keys.count === 1 ? 'it' : 'one of them'}? Each e-shop has its own, and POST /eshop/signing-keys replaces them. Is the body (${body.length} bytes here) exactly as it came?`,
  );
}

/** A signature; nothing if it is not base64. */
function bytesOrNone(signature: string): Bytes[] {
  try {
    return [fromBase64(signature)];
  } catch {
    return [];
  }
}
