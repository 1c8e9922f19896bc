/**
 * Whether a request is a delivery: its signature, its time and its headers.
 *
 * `v3` of `X-Service-Signature` covers all of that; with `v2`, from an older sender, origin and changed fields stay
 * unknown, whatever the headers say. If the receiver accepts `v1`, `webhook-signature` is required as well: `v1`
 * does not cover the id that identifies repeats, and `webhook-signature` does not cover path and query, which are
 * all that a GET has.
 *
 * With public keys, `v1a` of `webhook-signature` has to match as well; without secrets, only `v1a`.
 */
import { type Bytes, equalInConstantTime } from './bytes.ts';
import { fieldsIn, isOrigin, type Origin } from './delivery.ts';
import { type HeaderValues, header, headersOf } from './headers.ts';
import type { Judgment, ReceivedRequest, SignatureVersion } from './judgment.ts';
import { explainMismatch, wrongTime } from './mistakes.ts';
import { Refused } from './refused.ts';
import type { SecretSource } from './secrets.ts';
import { parseServiceSignature, type ServiceSignature, serviceJoined, serviceV1 } from './signature.ts';
import { verifyAsymmetric, verifyStandard } from './standard.ts';

/** The headers of a delivery. */
export interface VerifiedHeaders {
  /** The id of the delivery; the same on every attempt. */
  readonly id: string;
  /** The id of the event; the same at every webhook, in redeliveries and recoveries. */
  readonly eventId: string;
  readonly kind: string;
  /** The sequence of the event among those of its record: from 1, rising, with gaps. */
  readonly sequence: number;
  readonly webhookId: number;
  /** When the event happened; no signature covers it. */
  readonly happenedAt: Date;
  /** Who made the change; null unless `v3` covers it. */
  readonly origin: Origin | null;
  /** The fields that it changed; null for an event that is not an update, and unless `v3` covers them. */
  readonly changed: readonly string[] | null;
  /** 1 to 21; no signature covers it. */
  readonly attempt: number;
  /** A sample, requested with `POST /webhooks/{id}/test` or triggered by the warehouse: its record does not exist. */
  readonly test: boolean;
  /** When this attempt was signed. */
  readonly signedAt: Date;
}

/**
 * The delivery in a request.
 * @throws Refused naming the problem, with common causes
 */
export async function verify(request: ReceivedRequest, judgment: Judgment): Promise<VerifiedHeaders> {
  const { secrets, publicKeys, accept } = judgment;
  // Checked first: a browser that opens the address should learn that the request is not signed.
  if (secrets !== null) header(request.headers, 'X-Service-Signature');
  const said = headersOf(request.headers);
  const shared = secrets === null ? null : await verifyShared(request, said, secrets, accept);
  const timestamp =
    publicKeys === null
      ? shared?.timestamp
      : await verifyAsymmetric(request, said, shared?.timestamp ?? null, publicKeys);
  // There must be no receiver that verifies nothing.
  if (timestamp === undefined) throw new Refused('setup', 500, 'There are neither secrets nor publicKeys.');
  // Checked last, so that a report of a wrong clock is reliable.
  if (Math.abs(judgment.now / 1_000 - timestamp) > judgment.tolerance) throw wrongTime(timestamp, judgment);
  const { id, eventId, kind, test } = said;
  return {
    id,
    eventId,
    kind,
    sequence: Number(said.sequence),
    webhookId: Number(said.webhook),
    happenedAt: said.happenedAt,
    ...(shared?.version === 'v3' ? writtenOf(said) : { origin: null, changed: null }),
    attempt: Number(said.attempt),
    test,
    signedAt: new Date(timestamp * 1_000),
  };
}

/** Checks `X-Service-Signature`. @returns the version, and the time in Unix seconds. @throws Refused */
async function verifyShared(
  request: ReceivedRequest,
  said: HeaderValues,
  source: SecretSource,
  accept: readonly SignatureVersion[],
): Promise<{ readonly version: SignatureVersion; readonly timestamp: number }> {
  const { method, target, headers, body } = request;
  const signature = parseServiceSignature(header(headers, 'X-Service-Signature'));
  const { timestamp } = signature;
  const version = versionOf(signature, accept);
  if (timestamp === null || version === null) throw malformed(signature);
  const bytes = method === 'GET' ? new Uint8Array() : body;
  const made = (secret: string, by: SignatureVersion, content: Bytes) =>
    by === 'v1'
      ? serviceV1(secret, timestamp, method === 'GET' ? target : content)
      : serviceJoined(by, secret, { ...said, timestamp, method, target, body: content });
  /** Whether a secret made a signature of this version over this body. */
  const fits = (by: SignatureVersion, content: Bytes) => async (secret: string) => {
    const expected = await made(secret, by, content);
    return signature[by].some((given) => equalInConstantTime(given, expected));
  };
  const secrets = await source.of(said.kind, said.webhook);
  if (!(await some(secrets, fits(version, bytes))))
    throw await explainMismatch(request, { ...said, secrets: source, version, fits });
  if (version === 'v1') await verifyStandard(request, said, timestamp, secrets);
  return { version, timestamp };
}

/** Who made the change, and what it changed, as handlers see it. An origin of a later version is unknown. */
function writtenOf({ origin, changed }: { readonly origin: string; readonly changed: string }) {
  return { origin: isOrigin(origin) ? origin : null, changed: fieldsIn(changed) };
}

/** The version with which a request is verified; null if it has none that is accepted. */
function versionOf(
  signature: ServiceSignature,
  accept: readonly SignatureVersion[],
): SignatureVersion | null {
  const usable = (version: SignatureVersion) => accept.includes(version) && signature[version].length > 0;
  return (['v3', 'v2', 'v1'] as const).find(usable) ?? null;
}

function malformed(signature: ServiceSignature): Refused {
  const message =
    signature.timestamp === null || signature.v1.length === 0
      ? 'X-Service-Signature is not of the form t=<unix seconds>,v1=<hex>,v2=<hex>,v3=<hex>.'
      : "X-Service-Signature has neither v3 nor v2, which alone cover the sequence, the webhook and the path. Something between the sender and this receiver removes them. With accept: ['v1'] the receiver requires less.";
  return new Refused('headers', 401, message);
}

/** Whether one of them passes; all are tried, so that the time does not reveal which. */
async function some(secrets: readonly string[], passes: (secret: string) => Promise<boolean>) {
  return (await Promise.all(secrets.map(passes))).includes(true);
}
