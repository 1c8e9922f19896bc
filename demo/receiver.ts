/**
 * A receiver as an e-shop would write it: verifies every delivery, and counts the good ones per kind.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type EventType, eventTypeNames } from '../src/domain/event-types.ts';

/** The oldest signature that counts, in seconds. */
const MAX_AGE_S = 300;

/** A receiver that listens. */
export interface DemoReceiver {
  /** `http://127.0.0.1:<port>`; the kind is the path below it. */
  readonly url: string;
  /** Tells it the secret of the webhook of this kind. */
  trust(kind: EventType, secret: string): void;
  /** Deliveries with a good signature, each counted once however often it came. */
  delivered(): Map<EventType, number>;
  /** Requests whose signature did not fit. */
  refused(): number;
  close(): Promise<void>;
}

/**
 * Whether `X-Service-Signature` was made with the secret, not long ago.
 * @param header `t=<unix seconds>,v1=<hex>`, with a second `v1=` while a secret is being replaced
 * @param content POST: the body as received; GET: path and query as requested
 * @param now unix seconds
 */
export function isSigned(header: string, secret: string, content: string, now: number): boolean {
  const fields = header.split(',').map((field) => field.split('='));
  const t = fields.find(([name]) => name === 't')?.[1] ?? '';
  if (!(Math.abs(now - Number(t)) <= MAX_AGE_S)) return false;
  const expected = createHmac('sha256', secret).update(`${t}.${content}`).digest();
  return fields.some(([name, hex = '']) => {
    const given = Buffer.from(name === 'v1' ? hex : '', 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const one = (header: string | string[] | undefined) => (typeof header === 'string' ? header : '');

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Starts a receiver on a free port of the loopback interface. */
export async function startReceiver(): Promise<DemoReceiver> {
  const secrets = new Map<EventType, string>();
  const seen = new Map<EventType, Set<string>>();
  let refused = 0;

  async function statusFor(request: IncomingMessage): Promise<number> {
    const body = await textOf(request);
    const kind = eventTypeNames.find((name) => request.url === `/${name}`);
    const secret = kind === undefined ? undefined : secrets.get(kind);
    if (kind === undefined || secret === undefined) return 404;
    const { headers } = request;
    if (!isSigned(one(headers['x-service-signature']), secret, body, Date.now() / 1_000)) {
      refused += 1;
      return 401;
    }
    seen.set(kind, (seen.get(kind) ?? new Set()).add(one(headers['x-service-delivery'])));
    return 204;
  }
  const server = createServer((request, response) => {
    // A client that disconnects in the middle of a request needs no answer.
    void statusFor(request).then(
      (status) => response.writeHead(status).end(),
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}`,
    trust: (kind, secret) => void secrets.set(kind, secret),
    delivered: () => new Map([...seen].map(([kind, ids]) => [kind, ids.size])),
    refused: () => refused,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
