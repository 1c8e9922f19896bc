/**
 * A real HTTP receiver for tests: records every request and answers as configured.
 *
 * @example
 * const receiver = await createReceiver(({ count }) => (count < 3 ? { status: 503 } : { status: 200 }));
 * // … register `${receiver.url}/hook` …
 * await receiver.waitFor(3);
 * await receiver.close();
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { PATIENCE_MS } from '../until.ts';
import { listenLocally } from './ports.ts';

/** A request as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query exactly as on the request line. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
  /** The arrival of the request's headers: milliseconds since 1970, with fractions. */
  readonly at: number;
  /** 1 for this receiver's first request. */
  readonly count: number;
  /** The number of its connection, from 1. */
  readonly connection: number;
  /** Aborted when the sender closes the connection before the answer. */
  readonly signal: AbortSignal;
}

/** The receiver's answer to a request; by default 200 with an empty body, at once. */
export interface ReceiverAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Milliseconds until anything is sent. */
  readonly delayMs?: number;
  /** `headers`: never answers. `body`: sends status, headers and `body`, then never ends. */
  readonly hang?: 'headers' | 'body';
  /** Resets the connection (RST) instead of answering. */
  readonly reset?: boolean;
  /** Repeats `body` until the sender closes the connection. */
  readonly endless?: boolean;
}

/** Decides the answer to each request; may be asynchronous. */
export type ReceiverHandler = (request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>;

export interface Receiver {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string;
  readonly port: number;
  /** All requests so far, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Changes the answer from now on. */
  respond(handler: ReceiverHandler | ReceiverAnswer): void;
  /**
   * Resolves with the requests once there are this many, or with the matching ones once there is one.
   * @throws Error after `timeoutMs` (default {@link PATIENCE_MS}), naming the requests that arrived
   */
  waitFor(
    wanted: number | ((request: ReceivedRequest) => boolean),
    timeoutMs?: number,
  ): Promise<readonly ReceivedRequest[]>;
  /** Forgets the requests recorded so far. */
  clear(): void;
  /** Ends every connection, all idle, as a restarting receiver does. Resolves once the senders have ended them. */
  endConnections(): Promise<void>;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

/** Options of the listening socket. */
export interface ReceiverOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** How long an idle connection stays open, in milliseconds (default 5,000, as in Node). */
  readonly keepAliveTimeoutMs?: number;
  /** Speaks TLS with this key and certificate, in PEM. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/**
 * Starts a receiver on a free port of 127.0.0.1.
 * @param handler default: 200, empty body
 */
export async function createReceiver(
  handler: ReceiverHandler | ReceiverAnswer = {},
  options: ReceiverOptions = {},
): Promise<Receiver> {
  const { host = '127.0.0.1', port: wantedPort = 0, keepAliveTimeoutMs = 5_000, tls } = options;
  const requests: ReceivedRequest[] = [];
  const watchers = new Set<() => void>();
  const connections = new Map<Socket, number>();
  let current = handler;
  let accepted = 0;
  let count = 0;

  const listener: RequestListener = (incoming, response) => {
    const at = performance.timeOrigin + performance.now();
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    response.on('error', () => {});
    const leaving = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) leaving.abort();
    });
    incoming.on('end', async () => {
      const body = Buffer.concat(chunks);
      count += 1;
      const request: ReceivedRequest = {
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body,
        text: body.toString('utf8'),
        at,
        count,
        connection: connections.get(incoming.socket) ?? 0,
        signal: leaving.signal,
      };
      requests.push(request);
      for (const watcher of watchers) watcher();
      const answer = typeof current === 'function' ? await current(request) : current;
      if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
      if (answer.reset === true) return incoming.socket.resetAndDestroy();
      if (answer.hang === 'headers') return;
      response.writeHead(answer.status ?? 200, answer.headers);
      const { body: content = '' } = answer;
      if (answer.hang === 'body') {
        response.flushHeaders();
        response.write(content);
        return;
      }
      if (answer.endless !== true) return response.end(content);
      const pump = () => {
        while (!response.destroyed && response.write(content));
      };
      response.on('drain', pump);
      pump();
    });
  };
  const settings = { keepAliveTimeout: keepAliveTimeoutMs };
  const server =
    tls === undefined ? createServer(settings, listener) : createTlsServer({ ...settings, ...tls }, listener);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    accepted += 1;
    connections.set(socket, accepted);
    socket.on('error', () => {});
    socket.on('close', () => connections.delete(socket));
  });
  const port = await listenLocally(server, wantedPort, host);

  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    get requests() {
      return requests;
    },
    get connections() {
      return accepted;
    },
    respond(next) {
      current = next;
    },
    waitFor(wanted, timeoutMs = PATIENCE_MS) {
      return new Promise((resolve, reject) => {
        const done = () => {
          clearTimeout(timer);
          watchers.delete(check);
        };
        const check = () => {
          const found = typeof wanted === 'number' ? [...requests] : requests.filter(wanted);
          if (found.length < (typeof wanted === 'number' ? wanted : 1)) return;
          done();
          resolve(found);
        };
        const timer = setTimeout(() => {
          done();
          const seen = requests.slice(-25).map(describe).join(', ');
          const what = typeof wanted === 'number' ? `${wanted} requests` : 'a matching request';
          reject(
            new Error(`Waited ${timeoutMs} ms for ${what}; ${requests.length} arrived: ${seen || 'none'}`),
          );
        }, timeoutMs);
        watchers.add(check);
        check();
      });
    },
    clear() {
      requests.length = 0;
    },
    async endConnections() {
      const ends = [...connections.keys()].map((socket) => once(socket, 'close'));
      for (const socket of connections.keys()) socket.end();
      await Promise.all(ends);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      for (const socket of connections.keys()) socket.destroy();
      await closed;
    },
  };
}

function describe({ method, path, headers }: ReceivedRequest): string {
  const delivery = headers['x-service-delivery'];
  return `${method} ${path}${delivery === undefined ? '' : ` (${delivery} #${headers['x-service-attempt']})`}`;
}
