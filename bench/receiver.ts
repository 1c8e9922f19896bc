/**
 * The receiver, as a process of its own: answers 200 to everything (`/failing`: 503; `/slow`: after 3 s), and notes when each delivery arrived first.
 * @module
 */
import { createServer, type ServerResponse } from 'node:http';

/** What the parent asks for: the deliveries that came since it last asked, once there are so many or time is up. */
export interface ArrivalsWanted {
  readonly deliveries: number;
  readonly patienceMs: number;
}

/** What it is told: first the port, then arrivals. */
export type ReceiverMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'arrivals'; readonly arrivals: Arrivals };

/** Deliveries that arrived for the first time, and how many requests were repeats of any. */
export interface Arrivals {
  /** Delivery id, and when the head of its request had arrived, in milliseconds since 1970. */
  readonly first: readonly (readonly [deliveryId: string, at: number])[];
  readonly repeats: number;
}

const seen = new Set<string>();
let first: (readonly [string, number])[] = [];
let repeats = 0;
let wanted: number | null = null;
let patience: NodeJS.Timeout | undefined;

function tell(message: ReceiverMessage): void {
  process.send?.(message);
}

function answerParent(): void {
  if (wanted === null || first.length < wanted) return;
  wanted = null;
  clearTimeout(patience);
  tell({ kind: 'arrivals', arrivals: { first, repeats } });
  first = [];
  repeats = 0;
}

/** What `/slow` takes, in milliseconds. */
const SLOW_MS = 3_000;

function answer(path: string, response: ServerResponse): void {
  if (path === '/failing') response.statusCode = 503;
  if (path === '/slow') setTimeout(() => response.end(), SLOW_MS);
  else response.end();
}

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const id = String(request.headers['x-service-delivery']);
  if (seen.has(id)) repeats += 1;
  else first.push([id, at]);
  seen.add(id);
  request.resume();
  request.on('end', () => answer(request.url ?? '', response));
  if (wanted !== null) setImmediate(answerParent);
});
process.on('message', (message: ArrivalsWanted) => {
  wanted = message.deliveries;
  patience = setTimeout(() => {
    wanted = 0;
    answerParent();
  }, message.patienceMs);
  answerParent();
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') tell({ kind: 'listening', port: address.port });
});
