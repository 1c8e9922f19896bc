/**
 * The operator's proxy on the way out. It is asked for a tunnel (CONNECT) to receivers with https, in which TLS is
 * verified as without it, and gets whole requests (absolute-form, RFC 9112, 3.2.2) for those with http.
 */
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { buildConnector, errors } from 'undici';
import type { WireRequest } from './request.ts';

export type OutboundProxy = ReturnType<typeof outboundProxy>;

/**
 * @param url http or https, with percent-encoded credentials or none
 * @returns `authorization`: `Basic …`; null without credentials
 */
export function outboundProxy(url: string) {
  const { origin, username, password } = new URL(url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return { url: new URL(origin), authorization: username === '' && password === '' ? null : authorization };
}

/** No connection to the receiver was made through the proxy. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  /** Whether the failure is internal and says nothing about the receiver. */
  readonly internal: boolean;

  /** @param message why there is no connection to a receiver */
  constructor(message: string, internal: boolean, options?: ErrorOptions) {
    super(message, options);
    this.internal = internal;
  }
}

/** A request as the proxy gets it. */
export function throughProxy({ authorization }: OutboundProxy, wire: WireRequest): WireRequest {
  if (!wire.origin.startsWith('http:')) return wire;
  const names = Object.keys(wire.headers).map((name) => name.toLowerCase());
  return {
    ...wire,
    path: `${wire.origin}${wire.path}`,
    headers: {
      ...wire.headers,
      // An answer from a cache would be taken for the receiver's.
      ...(names.includes('cache-control') ? {} : { 'cache-control': 'no-cache, no-store' }),
      ...(authorization === null ? {} : { 'proxy-authorization': authorization }),
    },
  };
}

/** Connects to the proxy. @param ca certificates to trust instead of Node's own, in PEM @throws ProxyError */
export function connectToProxy({ url }: OutboundProxy, timeoutMs: number, ca?: string): Promise<Socket> {
  const connect = buildConnector({
    timeout: timeoutMs,
    autoSelectFamily: true,
    maxCachedSessions: 0,
    ...(ca === undefined ? {} : { ca }),
    port: 0,
  });
  const { protocol, host, hostname, port } = url;
  return new Promise((resolve, reject) =>
    connect({ protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port }, (error, socket) => {
      if (error === null) return resolve(socket);
      const timedOut = error instanceof errors.ConnectTimeoutError;
      const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
      const message = `our proxy cannot be reached${timedOut ? ' in time' : code}`;
      reject(new ProxyError(message, true, { cause: error }));
    }),
  );
}

/**
 * Makes a tunnel of a connection to the proxy.
 * @param authority host and port of the receiver
 * @throws ProxyError if the proxy refuses; ConnectTimeoutError if it does not answer, since it is still connecting
 */
export function tunnelTo(
  authority: string,
  { authorization }: OutboundProxy,
  socket: Socket,
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const connectRequest = request({
      method: 'CONNECT',
      path: authority,
      createConnection: () => socket,
      headers: {
        host: authority,
        ...(authorization === null ? {} : { 'proxy-authorization': authorization }),
      },
    });
    const refuse = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    // Handle an arrived answer first: this process may have been busy with something else.
    const timer = setTimeout(
      () => setImmediate(() => refuse(new errors.ConnectTimeoutError())),
      Math.max(1, timeoutMs),
    );
    connectRequest.once('error', (cause) =>
      refuse(new ProxyError('our proxy closed the connection without an answer', true, { cause })),
    );
    connectRequest.once('connect', ({ statusCode = 0 }, tunnel, head) => {
      if (statusCode < 200 || statusCode > 299) return refuse(problemOf(statusCode));
      clearTimeout(timer);
      if (head.length > 0) tunnel.unshift(head);
      resolve(tunnel);
    });
    connectRequest.end();
  });
}

/** A proxy answers 5xx if it could not reach the receiver, and anything else if it refuses to connect. */
function problemOf(status: number): ProxyError {
  return status >= 500
    ? new ProxyError(`our proxy could not make one (HTTP ${status})`, false)
    : new ProxyError(`our proxy refused it (HTTP ${status})`, true);
}
