/**
 * A gRPC proxy for tests: it forwards every call, except those that a test refuses.
 *
 * @example
 * const proxy = await startGrpcProxy(temporalAddress);
 * // … connect to proxy.address …
 * proxy.refuse(POLLS, UNAUTHENTICATED);
 * proxy.pass();
 * await proxy.close();
 */
import { once } from 'node:events';
import {
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { listenLocally } from './ports.ts';

/** The calls by which workers ask for tasks. */
export const POLLS = /\/Poll(Workflow|Activity)TaskQueue$/;

/** The answer to a refused call. */
export interface Rejection {
  /** A status of gRPC. */
  readonly status: number;
  readonly message: string;
}

export const NOT_FOUND: Rejection = { status: 5, message: 'refused by the proxy' };
export const PERMISSION_DENIED: Rejection = { status: 7, message: 'refused by the proxy' };
/** The SDK repeats a poll for ever if it is refused with this status. */
export const UNAVAILABLE: Rejection = { status: 14, message: 'refused by the proxy' };
export const UNAUTHENTICATED: Rejection = { status: 16, message: 'refused by the proxy' };
/** The SDK gives up a poll after a minute of refusals, but at once with this status. */
export const TOO_LARGE: Rejection = { status: 8, message: 'grpc: received message larger than max' };

/** A running proxy. */
export interface GrpcProxy {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** Calls passed on so far whose path matches. */
  passed(path: RegExp): number;
  /** Calls answered with a rejection so far. */
  readonly refused: number;
  /** From now on, calls whose path matches get this rejection: new ones, and those under way. */
  refuse(path: RegExp, rejection: Rejection): void;
  /** From now on, every new call is passed on. */
  pass(): void;
  close(): Promise<void>;
}

/**
 * Starts one on a free port of 127.0.0.1 that passes everything.
 * @param target `host:port` of a server without TLS
 */
export async function startGrpcProxy(target: string): Promise<GrpcProxy> {
  let rule: { readonly path: RegExp; readonly rejection: Rejection } | null = null;
  const paths: string[] = [];
  let refused = 0;
  const sessions = new Set<ServerHttp2Session>();
  /** The calls under way, each with a function that ends it with a rejection. */
  const underWay = new Map<(rejection: Rejection) => void, string>();

  function refuseCall(stream: ServerHttp2Stream, { status, message }: Rejection): void {
    refused += 1;
    const trailers = { 'grpc-status': String(status), 'grpc-message': message };
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...trailers }, { endStream: true });
  }

  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    const upstream = connect(`http://${target}`);
    session.on('close', () => {
      sessions.delete(session);
      upstream.destroy();
    });
    for (const each of [session, upstream]) each.on('error', () => session.destroy());
    upstream.on('close', () => session.destroy());
    // Temporal ends every connection after some minutes: calls under way go on, further ones need a new one.
    let ending = false;
    upstream.on('goaway', () => {
      ending = true;
      session.close();
    });
    session.on('stream', (stream, headers) => {
      const path = headers[':path'] ?? '';
      stream.on('error', () => {});
      if (rule?.path.test(path)) return refuseCall(stream, rule.rejection);
      if (ending) return stream.close(constants.NGHTTP2_REFUSED_STREAM);
      paths.push(path);
      const call = upstream.request(headers);
      call.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
      const end = (rejection: Rejection) => {
        call.close(constants.NGHTTP2_CANCEL);
        if (stream.headersSent) stream.close(constants.NGHTTP2_CANCEL);
        else refuseCall(stream, rejection);
      };
      underWay.set(end, path);
      stream.on('close', () => {
        underWay.delete(end);
        call.close(constants.NGHTTP2_CANCEL);
      });
      let trailers: IncomingHttpHeaders = {};
      call.on('trailers', (received) => {
        trailers = received;
      });
      call.on('response', ({ ':status': status = 200, ...rest }, flags) => {
        if (stream.destroyed || stream.headersSent) return;
        const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        stream.respond({ ':status': status, ...rest }, { endStream, waitForTrailers: !endStream });
        stream.on('wantTrailers', () => stream.sendTrailers(trailers));
        if (!endStream) call.pipe(stream);
      });
      stream.pipe(call);
    });
  });
  const port = await listenLocally(server);

  return {
    address: `127.0.0.1:${port}`,
    passed: (path) => paths.filter((each) => path.test(each)).length,
    get refused() {
      return refused;
    },
    refuse(path, rejection) {
      rule = { path, rejection };
      for (const [end, each] of [...underWay]) if (path.test(each)) end(rejection);
    },
    pass() {
      rule = null;
    },
    async close() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
