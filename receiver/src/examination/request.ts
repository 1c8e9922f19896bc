/** Makes the requests of an examination, with Node.js alone. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';
import { encoded, sign } from '../testing.ts';
import type { Answer } from './examine.ts';
import type { TestRequest } from './series.ts';

/** A webhook, as far as its requests depend on it. */
export interface Target {
  /** As registered; on GET the identifier is appended to it. */
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly kind: string;
  readonly webhookId: number;
  /** Added to every request, besides those of a delivery: for receivers behind a gateway. */
  readonly headers: Readonly<Record<string, string>>;
}

const SIGNATURES = ['x-service-signature', 'webhook-signature'];

export interface Requester {
  /** Makes one request, on its own connection. Never rejects. */
  send(request: TestRequest, timeoutMs: number): Promise<Answer>;
  /** When the certificate that the receiver showed last expires; null if it showed none. */
  certificateEnd(): Promise<Date | null>;
}

/** @param now the time of signing (default: the clock) */
export function createRequester(target: Target, now: () => Date = () => new Date()): Requester {
  let certificateEnd: Date | null = null;
  return {
    async send(request, timeoutMs) {
      const { url, headers } = await signed(target, request, now());
      const body = target.method === 'GET' ? null : Buffer.from(request.body ?? '');
      const length = body === null ? {} : { 'content-length': String(body.length) };
      const start = performance.now();
      const elapsed = () => Math.round(performance.now() - start);
      return await new Promise<Answer>((resolve) => {
        const answered = (response: IncomingMessage) => {
          const { statusCode = null, socket } = response;
          if (socket instanceof TLSSocket) certificateEnd = new Date(socket.getPeerCertificate().valid_to);
          response.resume().on('error', () => {});
          resolve({
            status: statusCode,
            error: null,
            durationMs: elapsed(),
            headers: texts(response.headers),
          });
        };
        const begin = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
        const outgoing = begin(
          url,
          {
            method: target.method,
            headers: { ...target.headers, ...headers, ...length },
            agent: false,
            signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
          },
          answered,
        );
        outgoing.on('error', (error) => {
          const why =
            error.name === 'AbortError' || error.name === 'TimeoutError'
              ? `no answer within ${Math.round(timeoutMs / 100) / 10} s`
              : `no answer: ${error.message || ('code' in error ? String(error.code) : error.name)}`;
          resolve({ status: null, error: why, durationMs: elapsed(), headers: {} });
        });
        outgoing.end(body ?? undefined);
      });
    },
    certificateEnd: async () => certificateEnd,
  };
}

/** The whole URL and the headers of a request. */
async function signed(target: Target, request: TestRequest, now: Date) {
  const { method, kind, webhookId } = target;
  const { secrets, deliveryId: id, eventId, number: attempt, age, signedAs = {} } = request;
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

function texts(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
