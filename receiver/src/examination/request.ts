/** Makes the requests of an examination. */
import { send } from '../send.ts';
import { encoded, sign } from '../testing.ts';
import type { Answer } from './examine.ts';
import type { Signer, TestRequest } from './series.ts';

/** The parts of a webhook that its requests depend on. */
export interface Target {
  /** As registered; on GET the identifier is appended to it. */
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly kind: string;
  readonly webhookId: number;
  /** The private key that signs too, and another that signs wrongly; null if none does. */
  readonly privateKeys: Readonly<Record<Signer, string>> | null;
  /** Added to every request, besides those of a delivery: for receivers behind a gateway. */
  readonly headers: Readonly<Record<string, string>>;
}

const SIGNATURES = ['x-service-signature', 'webhook-signature'];

export interface Requester {
  /** Makes one request, on its own connection. Never rejects. */
  send(request: TestRequest, timeoutMs: number): Promise<Answer>;
  /** When the certificate last shown by the receiver expires; null if there was none. */
  certificateEnd(): Promise<Date | null>;
}

/** @param now the time of signing (default: the clock) */
export function createRequester(target: Target, now: () => Date = () => new Date()): Requester {
  let certificateEnd: Date | null = null;
  return {
    async send(request, timeoutMs) {
      const { url, headers } = await signed(target, request, now());
      const body = target.method === 'GET' ? null : (request.body ?? '');
      const { method } = target;
      const sent = await send({ url, method, headers: { ...target.headers, ...headers }, body, timeoutMs });
      certificateEnd = sent.certificateEnd ?? certificateEnd;
      const { status, error, durationMs } = sent;
      return { status, error, durationMs, headers: sent.headers };
    },
    certificateEnd: async () => certificateEnd,
  };
}

/** The whole URL and the headers of a request. */
async function signed(target: Target, request: TestRequest, now: Date) {
  const { method, kind, webhookId, privateKeys } = target;
  const { secrets, signers, deliveryId: id, eventId, number: attempt, age, signedAs = {} } = request;
  const at = new Date(now.getTime() - age * 1_000);
  const made = async ({
    sequence,
    entityId,
    body,
  }: Required<Pick<TestRequest, 'sequence' | 'entityId' | 'body'>>) => {
    const url = method === 'GET' ? `${target.url}${encoded(entityId)}` : target.url;
    const text = body === null ? {} : { body };
    const headers = await sign({
      secrets,
      privateKeys: privateKeys === null ? [] : signers.map((signer) => privateKeys[signer]),
      method,
      url,
      kind,
      id,
      eventId,
      sequence,
      webhookId,
      attempt,
      at,
      origin: 'service',
      test: true,
      ...text,
    });
    return { url, headers };
  };
  const sent = await made(request);
  const { headers: others } = await made({ ...request, ...signedAs });
  const headers = { ...sent.headers, 'user-agent': 'waybill-receiver examine' };
  for (const name of SIGNATURES) {
    if (request.unsigned === true) Reflect.deleteProperty(headers, name);
    else Reflect.set(headers, name, others[name]);
  }
  return { url: sent.url, headers };
}
