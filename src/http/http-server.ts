/**
 * The API's HTTP server: refuses malformed requests, and limits connections and the time until a request has arrived.
 *
 * Module http, which imports api, lib, theme. Begin: this file.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { baseHeaders, errorBody, reasonPhrase } from '../api/errors.ts';
import { IMPORT_PATH } from '../api/import/path.ts';
import { tryPort } from '../lib/listen.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';
import { withoutPrefix } from '../theme/public-url.ts';
import { watchIdle } from './idle-connections.ts';
import { createPipelines } from './pipelines.ts';

export type HttpServer = Awaited<ReturnType<typeof listen>>;

export class PortInUse extends UserError {}

export interface HttpServerOptions {
  /** The variable that sets the port (default `PORT`). */
  readonly variable?: string;
  /** The prefix of all paths, in case a proxy in front passes it on. */
  readonly prefix?: string;
  /** The maximum number of connections; one more takes the place of the longest idle one, or is closed at once. */
  readonly maxConnections?: number;
  /** How long a connection is kept after a response, in milliseconds (default {@link KEEP_ALIVE_MS}). */
  readonly keepAliveMs?: number;
  /** How long a request may take to arrive completely, except an import: a megabyte on a slow line. */
  readonly uploadMs?: number;
  /** How long the head of a request may take, in milliseconds. */
  readonly headMs?: number;
  /** How long a client may read nothing of a response, in milliseconds; then its connection is closed. */
  readonly unreadMs?: number;
}

/**
 * A proxy must not send a request on a connection that is being closed: it cannot repeat a POST. nginx keeps its own
 * for 60 s. Too low: such requests are answered with 502. Too high: only idle connections.
 */
const KEEP_ALIVE_MS = 75_000;
/** The addresses that stand for all those of the machine → the one at which it reaches itself. */
const ANY: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);
/** How long requests under way may take during a shutdown, in milliseconds. */
const DRAIN_MS = 10_000;
/** How long an import may take to arrive, in milliseconds. */
const IMPORT_MS = 60 * 60 * 1000;

/** Errors of Node's parser → the status; any other is 400. */
const STATUS_OF_PARSER_ERROR: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'This is not a valid HTTP/1.1 request.',
  408: 'The request took too long to arrive.',
  413: 'The body is larger than allowed.',
  417: 'The only expectation supported is 100-continue.',
  431: 'The headers are larger than 16 KiB.',
  501: 'This server is not a proxy: CONNECT is not supported.',
};

function errorResponse(status: number) {
  const body = JSON.stringify(errorBody(status, MESSAGES[status] ?? 'The request was refused.'));
  const headers = {
    ...baseHeaders,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  return { headers, body };
}

/** Answers on the bare connection, if there is no response to write to, and ends it. */
function refuse(socket: Duplex, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { headers, body } = errorResponse(status);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${reasonPhrase(status)}\r\n${head.join('')}\r\n${body}`);
}

function answerError(outgoing: ServerResponse, status: number): void {
  const { headers, body } = errorResponse(status);
  outgoing.writeHead(status, reasonPhrase(status), headers).end(body);
}

/** Ends a request whose body has not arrived in time. Node's own time-out has no exception for the import. */
function endLateUpload(incoming: IncomingMessage, outgoing: ServerResponse, uploadMs: number): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
  if ((length === undefined && encoding === undefined) || incoming.url?.split('?')[0] === IMPORT_PATH) return;
  const timer = setTimeout(() => {
    if (incoming.complete) return;
    if (outgoing.headersSent) incoming.destroy();
    else refuse(incoming.socket, 408);
    // The response has ended the exchange: the rest of the body is not awaited.
    setTimeout(() => incoming.destroy(), 1_000).unref();
  }, uploadMs);
  outgoing.once('close', () => clearTimeout(timer));
}

/** Closes the connection of an unread response, unless the response is not ready, or all of it so far was sent. */
function endUnread({ socket }: IncomingMessage, outgoing: ServerResponse, unreadMs: number): void {
  // Node's time-out restarts with every read or write, and checks the progress of a long write.
  outgoing.setTimeout(unreadMs, () => {
    if (socket.writableLength > 0) socket.destroy();
    else socket.setTimeout(unreadMs);
  });
}

/**
 * Checks the host before anything else starts.
 * @throws UserError if it is not an address of this machine
 */
export async function requireHost(host: string): Promise<void> {
  await tryPort(0, host).catch((error: unknown) => {
    throw new UserError(
      `HOST must be an address of this machine, or a name of one, not ${JSON.stringify(host)}: ${reasonOf(error)}.`,
    );
  });
}

/**
 * Checks ports before servers of this process are started.
 * @param ports by the variables that set them; 0 is any free one
 * @throws PortInUse if one is taken
 */
export async function requirePorts(host: string, ports: Readonly<Record<string, number>>): Promise<void> {
  for (const [variable, port] of Object.entries(ports)) {
    await tryPort(port, host).catch((error: unknown) => {
      throw portProblem(error, variable, host, port);
    });
  }
}

/** A message for users if the error says that the port is taken; any other error is returned as it is. */
function portProblem(error: unknown, variable: string, host: string, port: number): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) return error;
  return new PortInUse(
    `${variable} ${port} on ${host} is in use: choose another one, or 0 for any free one.`,
  );
}

/** @throws PortInUse if the port is taken */
export async function listen(
  app: { fetch(request: Request, env: HttpBindings): Response | Promise<Response> },
  host: string,
  port: number,
  {
    variable = 'PORT',
    prefix = '',
    maxConnections,
    keepAliveMs = KEEP_ALIVE_MS,
    uploadMs = 30_000,
    headMs = 15_000,
    unreadMs = 30_000,
  }: HttpServerOptions = {},
) {
  const answer = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    // HTTP/1.0 needs no host, and the server below checks the rest.
    hostname: 'localhost',
    errorHandler: () =>
      Response.json(errorBody(400, 'The request target is not a valid URL.'), {
        status: 400,
        headers: baseHeaders,
      }),
  });
  const options = {
    requestTimeout: IMPORT_MS,
    headersTimeout: headMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(5_000, headMs),
    // Node would respond without a body.
    requireHostHeader: false,
  };
  const answers = new WeakMap<Duplex, ServerResponse>();
  const enter = createPipelines();
  const server = createServer(options, (incoming, outgoing) => {
    answers.set(incoming.socket, outgoing);
    idle.begin(incoming, outgoing);
    incoming.url = withoutPrefix(incoming.url ?? '/', prefix);
    // RFC 9112, 3.2: exactly one, except before HTTP/1.1.
    const hosts = incoming.headersDistinct.host?.length ?? 0;
    if (hosts > 1 || (hosts === 0 && incoming.httpVersion === '1.1')) {
      answerError(outgoing, 400);
      return;
    }
    enter(incoming.socket, outgoing, () => {
      endLateUpload(incoming, outgoing, uploadMs);
      endUnread(incoming, outgoing, unreadMs);
      void answer(incoming, outgoing);
    });
  });
  const idle = watchIdle(server, maxConnections);
  // One more: a new connection takes the place of an idle one.
  if (maxConnections !== undefined) server.maxConnections = maxConnections + 1;
  // Each of many pipelined requests listens for the end of the connection.
  server.on('connection', (socket) => socket.setMaxListeners(0));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket);
    // Once a response has begun, nothing else can be sent.
    const begun = answer?.headersSent === true && !answer.writableFinished;
    if (error.code === 'ECONNRESET' || begun) socket.destroy();
    else refuse(socket, STATUS_OF_PARSER_ERROR[error.code ?? ''] ?? 400);
  });
  // By default Node closes the connection silently on CONNECT, and responds to an expectation without a body.
  server.on('connect', (_incoming, socket) => refuse(socket, 501));
  server.on('checkExpectation', (_incoming, outgoing) => answerError(outgoing, 417));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(portProblem(error, variable, host, port)));
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('A server of TCP has no address.');
  // If it listens on all addresses, one that a browser can open.
  const reached = ANY.get(bound.address) ?? host;
  const hostText = reached.includes(':') ? `[${reached}]` : reached;
  return {
    /** `http://host:port` */
    url: `http://${hostText}:${bound.port}`,
    /** The address that it listens on, whatever `host` was. */
    address: bound.address,
    /** Accepts no more requests; those under way are answered. */
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      idle.drain();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
