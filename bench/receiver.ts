/**
 * The receiver, as its own process: notes when each delivery first arrived, and answers 200, or by path: `/failing`
 * 503, `/later/<milliseconds since 1970>` 503 with that time as `Retry-After`, `/slow-503` 503 after almost two
 * seconds, `/silent` never, `/endless` headers without end.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The parent's request: the deliveries since its last request, once there are this many or time is up. */
export interface ArrivalsWanted {
  readonly deliveries: number;
  readonly patienceMs: number;
}

/** The messages to the parent: first the port, then arrivals. */
export type ReceiverMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'arrivals'; readonly arrivals: readonly Arrival[] };

/** A delivery id, and when the head of its first request arrived, in milliseconds since 1970. */
export type Arrival = readonly [deliveryId: string, at: number];

/** The response time of `/slow-503`, in milliseconds. */
const FAILS_SLOWLY_MS = 1_900;

/** The deliveries that have arrived. */
const seen = new Set<string>();
let first: Arrival[] = [];
let wanted: ArrivalsWanted | null = null;
let patience: NodeJS.Timeout | undefined;

function tell(message: ReceiverMessage): void {
  process.send?.(message);
}

function answerParent(inTime = true): void {
  if (wanted === null) return;
  if (inTime && first.length < wanted.deliveries) return;
  wanted = null;
  clearTimeout(patience);
  tell({ kind: 'arrivals', arrivals: first });
  first = [];
}

function answer(path: string, response: ServerResponse): void {
  if (path.startsWith('/silent')) return;
  if (path.startsWith('/endless')) {
    sendHeaders(response.req.socket);
    return;
  }
  const [, later] = path.split('/later/');
  const failsSlowly = path.startsWith('/slow-503');
  if (path.startsWith('/failing') || failsSlowly || later !== undefined) response.statusCode = 503;
  if (later !== undefined) response.setHeader('retry-after', new Date(Number(later)).toUTCString());
  if (failsSlowly) setTimeout(() => response.end(), FAILS_SLOWLY_MS);
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
  if (!seen.has(id)) first.push([id, at]);
  seen.add(id);
  request.resume();
  request.on('end', () => answer(request.url ?? '', response));
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
