/**
 * Receivers behind `node:http`, and frameworks built on it (Express, Fastify's raw requests, serverless frameworks).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Refused } from './refused.ts';
import { responseTo } from './responses.ts';

/** A receiver, or any other function from `Request` to `Response`. */
type Answering = (request: Request, context?: { readonly requestTarget?: string }) => Promise<Response>;

const ALREADY_READ =
  'The body was read before it got here, by a body parser such as express.json(): a signature covers the bytes as they came. Mount the receiver before the parser.';

/**
 * A listener for `createServer`, and a handler for Express.
 *
 * @example createServer(nodeListener(hooks)).listen(9000);
 * @example app.all('/hooks', nodeListener(hooks)); // Express: before app.use(express.json())
 */
export function nodeListener(receiver: Answering) {
  return async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const response = await answerTo(receiver, incoming);
    if (outgoing.destroyed) return;
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  };
}

async function answerTo(receiver: Answering, incoming: IncomingMessage): Promise<Response> {
  try {
    return await receiver(toRequest(incoming), { requestTarget: targetOf(incoming) });
  } catch (problem) {
    console.error(problem instanceof Refused ? problem.message : problem);
    return responseTo(problem);
  }
}

/** Path and query as on the request line. Express keeps them as `originalUrl` if it has changed `url`. */
function targetOf(incoming: IncomingMessage): string {
  const original = 'originalUrl' in incoming ? incoming.originalUrl : undefined;
  return typeof original === 'string' ? original : (incoming.url ?? '/');
}

/**
 * A body that the platform has already read, byte for byte, such as `rawBody` of Google's and Firebase's functions.
 */
function rawBodyOf(incoming: IncomingMessage): Uint8Array<ArrayBuffer> | null {
  const raw = 'rawBody' in incoming ? incoming.rawBody : undefined;
  return raw instanceof Uint8Array ? new Uint8Array(raw) : null;
}

/**
 * The request as a web-standard `Request`, its body not read yet.
 * @throws Refused if something else has read the body
 */
export function toRequest(incoming: IncomingMessage): Request {
  const { method = 'GET', headers } = incoming;
  // Only path and query matter; the client's Host header may not even be a valid host.
  const url = new URL('http://receiver.invalid');
  const [path = '/', ...query] = targetOf(incoming).split('?');
  url.pathname = path;
  url.search = query.join('?');
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) copied.append(name, each);
  }
  const init = { method, headers: copied };
  if (method === 'GET' || method === 'HEAD') return new Request(url, init);
  const raw = rawBodyOf(incoming);
  if (raw !== null) return new Request(url, { ...init, body: raw });
  if (incoming.readableDidRead) throw new Refused('body', 500, ALREADY_READ);
  const body: ReadableStream<Uint8Array<ArrayBuffer>> = Readable.toWeb(incoming);
  return new Request(url, { ...init, body, duplex: 'half' });
}
