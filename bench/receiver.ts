/**
 * The receiver, as its own process: notes when each delivery and its second attempt first arrived, and answers 200 at once, or as the
 * path says: `/failing` 503, `/later/<milliseconds since 1970>` 503 with that time as `Retry-After`, `/tired` 503 after almost two
 * seconds, `/slow` after three seconds, `/silent` never; `/closing` closes the connection after the response, which promises to keep
 * it; `/endless` headers without end; and `/records` 503 if the body contains `failing-`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The parent's request: the deliveries since its last request, once there are this many or time is up. */
export interface ArrivalsWanted {
  readonly deliveries: number;
  /** Second attempts. */
  readonly seconds: number;
  readonly patienceMs: number;
}

/** The messages to the parent: first the port, then arrivals. */
export type ReceiverMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'arrivals'; readonly arrivals: Arrivals };

/** A delivery id, and when the head of its request arrived, in milliseconds since 1970. */
export type Arrival = readonly [deliveryId: string, at: number];

/** The arrivals. */
export interface Arrivals {
  /** First arrivals of deliveries. */
  readonly first: readonly Arrival[];
  /** First arrivals of second attempts. */
  readonly second: readonly Arrival[];
  /** Repeated requests of an attempt. */
  readonly repeats: number;
}

/** The response times of `/slow` and `/tired`, in milliseconds. */
const SLOW_MS = 3_000;
const TIRED_MS = 1_900;

/** Delivery → the number of its latest attempt. */
const seen = new Map<string, number>();
let first: Arrival[] = [];
let second: Arrival[] = [];
let repeats = 0;
let wanted: ArrivalsWanted | null = null;
let patience: NodeJS.Timeout | undefined;

function tell(message: ReceiverMessage): void {
  process.send?.(message);
}

function answerParent(inTime = true): void {
  if (wanted === null) return;
  if (inTime && (first.length < wanted.deliveries || second.length < wanted.seconds)) return;
  wanted = null;
  clearTimeout(patience);
  tell({ kind: 'arrivals', arrivals: { first, second, repeats } });
  first = [];
  second = [];
  repeats = 0;
}

function answer(path: string, body: string, response: ServerResponse): void {
  if (path.startsWith('/silent')) return;
  if (path.startsWith('/endless')) {
    sendHeaders(response.req.socket);
    return;
  }
  // The next request on the connection may be under way already.
  if (path.startsWith('/closing')) response.once('finish', () => response.req.socket.end());
  if (path.startsWith('/records') && body.includes('"failing-')) response.statusCode = 503;
  const [, later] = path.split('/later/');
  const tired = path.startsWith('/tired');
  if (path.startsWith('/failing') || tired || later !== undefined) response.statusCode = 503;
  if (later !== undefined) response.setHeader('retry-after', new Date(Number(later)).toUTCString());
  if (tired || path.startsWith('/slow')) setTimeout(() => response.end(), tired ? TIRED_MS : SLOW_MS);
  else response.end();
}

/** A megabyte of the head of a response. */
const HEAD = Buffer.from('x-endless: endless\r\n'.repeat(50_000));

/** Sends headers until the connection is closed. */
function sendHeaders(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\n');
  const more = () => {
    while (!socket.destroyed && socket.write(HEAD));
  };
  socket.on('drain', more).on('error', () => {});
  more();
}

function respond(request: IncomingMessage, response: ServerResponse): void {
  const at = performance.timeOrigin + performance.now();
  const id = String(request.headers['x-service-delivery']);
  const attempt = Number(request.headers['x-service-attempt']);
  const before = seen.get(id) ?? 0;
  if (before === 0) first.push([id, at]);
  else if (attempt <= before) repeats += 1;
  else if (attempt === 2) second.push([id, at]);
  seen.set(id, Math.max(attempt, before));
  let body = '';
  if (request.url?.startsWith('/records')) request.setEncoding('utf8').on('data', (text) => (body += text));
  else request.resume();
  request.on('end', () => answer(request.url ?? '', body, response));
  if (wanted !== null) setImmediate(() => answerParent());
}
process.on('message', (message: ArrivalsWanted) => {
  wanted = message;
  patience = setTimeout(() => answerParent(false), message.patienceMs);
  answerParent();
});
process.on('disconnect', () => process.exit());
const HOSTS = Number(process.argv[2]);

/** Listens on the same port of each of its addresses: 127.0.0.1 and the following ones. */
function listen(port: number, host: number): void {
  const server = createServer(respond).listen(port, `127.0.0.${host + 1}`, () => {
    const address = server.address();
    if (address === null || typeof address !== 'object') return;
    if (host + 1 < HOSTS) listen(address.port, host + 1);
    else tell({ kind: 'listening', port: address.port });
  });
}
listen(0, 0);
