/** Sends one request with Node.js's own client: it adds none of `fetch`'s headers and follows no redirects. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { TLSSocket } from 'node:tls';

/** A request ready to be sent. */
export interface Outgoing {
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  /** Null on GET. */
  readonly body: string | null;
  readonly timeoutMs: number;
}

/** The response to a request. */
export interface Response {
  /** Null if there was no response. */
  readonly status: number | null;
  /** Why there was none, in words; otherwise null. */
  readonly error: string | null;
  /** Whether the connection was refused, as nobody listens there. */
  readonly refused: boolean;
  /** The time until the head of the response, in whole milliseconds. */
  readonly durationMs: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body, once it has arrived. Never rejects. */
  readonly excerpt: Promise<string>;
  /** When the receiver's certificate expires; null without one. */
  readonly certificateEnd: Date | null;
}

/** How much of a body is stored, in characters: as much as in the delivery log. */
const EXCERPT = 1_024;

/** Sends a request on a connection of its own. Never rejects. */
export async function send({ url, method, headers, body, timeoutMs }: Outgoing): Promise<Response> {
  const bytes = body === null ? null : Buffer.from(body);
  const length = bytes === null ? {} : { 'content-length': String(bytes.length) };
  const start = performance.now();
  const none = {
    status: null,
    refused: false,
    headers: {},
    excerpt: Promise.resolve(''),
    certificateEnd: null,
  };
  return await new Promise<Response>((resolve) => {
    const answered = (response: IncomingMessage) => {
      const durationMs = Math.round(performance.now() - start);
      const { statusCode = null, socket } = response;
      const certificateEnd =
        socket instanceof TLSSocket ? new Date(socket.getPeerCertificate().valid_to) : null;
      const head = { status: statusCode, error: null, refused: false, durationMs, certificateEnd };
      resolve({ ...head, headers: texts(response.headers), excerpt: beginningOf(response) });
    };
    const begin = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    const outgoing = begin(
      url,
      { method, headers: { ...headers, ...length }, agent: false, signal },
      answered,
    );
    outgoing.on('error', (error) => {
      const durationMs = Math.round(performance.now() - start);
      const code = 'code' in error ? String(error.code) : error.name;
      const over = error.name === 'AbortError' || error.name === 'TimeoutError';
      const why = over
        ? `no answer within ${Math.round(timeoutMs / 100) / 10} s`
        : `no answer: ${error.message || code}`;
      resolve({ ...none, error: why, refused: code === 'ECONNREFUSED', durationMs });
    });
    outgoing.end(bytes ?? undefined);
  });
}

/** The beginning of a body; if it breaks off, the part received is enough. */
function beginningOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const end = () => resolve(text);
    response.setEncoding('utf8').on('data', (piece: string) => {
      if (text.length < EXCERPT) text = `${text}${piece}`.slice(0, EXCERPT);
    });
    response.once('close', end).once('error', end);
  });
}

function texts(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
