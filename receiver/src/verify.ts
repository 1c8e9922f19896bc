/**
 * Whether a request is a delivery: both signatures, the time, and what the headers say of it.
 *
 * Both signatures are required, since each leaves something open: `X-Service-Signature` does not cover the id by which
 * repeats are recognized, and `webhook-signature` does not cover path and query, which is all that a GET says.
 */
import { equalInConstantTime } from './bytes.ts';
import type { Judgement, ReceivedRequest } from './judgement.ts';
import { noSignatureFits, wrongTime } from './mistakes.ts';
import { Refused } from './refused.ts';
import {
  parseSeconds,
  parseServiceSignature,
  parseStandardSignature,
  serviceV1,
  standardV1,
} from './signature.ts';

/** What the headers of a delivery say. */
export interface VerifiedHeaders {
  /** Of the delivery; the same on every attempt. */
  readonly id: string;
  readonly kind: string;
  /** 1 to 21. */
  readonly attempt: number;
  /** A sample, asked for with `POST /webhooks/{id}/test` or triggered by the warehouse: there is no such record. */
  readonly test: boolean;
  /** When this attempt was signed. */
  readonly signedAt: Date;
}

/** A header that every delivery has. @throws Refused when it is missing */
function header(headers: Headers, name: string): string {
  const value = headers.get(name);
  if (value !== null && value !== '') return value;
  const why =
    'This is not a delivery, or something between the sender and this receiver (a proxy, a framework) removes it.';
  throw new Refused('headers', 401, `The header ${name} is missing. ${why}`);
}

/**
 * What the request is, if it is a delivery.
 * @throws Refused saying what is wrong, with the usual causes
 */
export async function verify(request: ReceivedRequest, judgement: Judgement): Promise<VerifiedHeaders> {
  const { method, target, headers, body } = request;
  const signature = parseServiceSignature(header(headers, 'X-Service-Signature'));
  const standard = parseStandardSignature(header(headers, 'webhook-signature'));
  const id = header(headers, 'webhook-id');
  const kind = header(headers, 'X-Service-Event');
  const attempt = header(headers, 'X-Service-Attempt');
  const timestamp = parseSeconds(header(headers, 'webhook-timestamp'));
  if (signature.timestamp === null || signature.v1.length === 0)
    throw new Refused('headers', 401, 'X-Service-Signature is not of the form t=<unix seconds>,v1=<hex>.');
  if (timestamp !== signature.timestamp)
    throw new Refused('headers', 401, 'webhook-timestamp is not the t of X-Service-Signature.');
  if (id !== header(headers, 'X-Service-Delivery'))
    throw new Refused('headers', 401, 'webhook-id is not X-Service-Delivery.');
  if (!/^\d{1,9}$/.test(attempt)) throw new Refused('headers', 401, 'X-Service-Attempt is not a number.');

  const content = method === 'GET' ? target : body;
  const secrets = await judgement.secrets.of(kind);
  const fits = async (secret: string) => {
    const expected = await serviceV1(secret, { timestamp, content });
    return signature.v1.some((given) => equalInConstantTime(given, expected));
  };
  if (!(await some(secrets, fits))) throw await noSignatureFits(request, { ...judgement, kind, signature });
  const signed = { timestamp, id, body: method === 'GET' ? '' : body };
  const fitsStandard = async (secret: string) => {
    const expected = await standardV1(secret, signed);
    return standard.some((given) => equalInConstantTime(given, expected));
  };
  if (!(await some(secrets, fitsStandard))) {
    const what = 'webhook-signature does not match, though X-Service-Signature does';
    throw new Refused('signature', 401, `${what}: webhook-id or that header was changed on its way.`);
  }
  // Last: whoever reads that the clock is off can rely on it.
  if (Math.abs(judgement.now / 1_000 - timestamp) > judgement.tolerance)
    throw wrongTime(timestamp, judgement);
  return {
    id,
    kind,
    attempt: Number(attempt),
    test: headers.get('X-Service-Test') === 'true',
    signedAt: new Date(timestamp * 1_000),
  };
}

/** Whether one of them passes; all are tried, so that the time does not tell which. */
async function some(secrets: readonly string[], passes: (secret: string) => Promise<boolean>) {
  return (await Promise.all(secrets.map(passes))).includes(true);
}
