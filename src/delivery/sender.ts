/**
 * Sends one attempt of a delivery (docs/interface.md, D4 and D5). `fault.ts` decides whose failure it was.
 *
 * Module delivery, which imports domain, lib, traces. Begin: this file, then `request.ts`, `exchange.ts` and
 * `address-guard.ts`.
 */
import { lookup } from 'node:dns/promises';
import { createAddressGuard } from './address-guard.ts';
import type { AttemptResult } from './answer.ts';
import { createConnections } from './connections.ts';
import { certificateEnd, createConnector } from './connector.ts';
import { exchange } from './exchange.ts';
import { isInternalFailure } from './failure-attribution.ts';
import { buildNotice, type NoticeRequest } from './notice-request.ts';
import { outboundProxy } from './outbound-proxy.ts';
import { combinedResolver, createOwnEndpoints, followNames, type OwnEndpoints } from './own-endpoints.ts';
import { type AttemptRequest, buildRequest, type WireRequest } from './request.ts';
import { createResolver } from './resolver.ts';

export type { AttemptResult } from './answer.ts';
export type { AttemptRequest } from './request.ts';

export type Sender = ReturnType<typeof createSender>;

export interface SenderOptions {
  /** The time-out of a whole attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** The time-out of the connection alone, in milliseconds (default 5,000, or a share of a short `timeoutMs`). */
  readonly connectTimeoutMs?: number;
  /** How long a connection may be used, in milliseconds (default {@link MAX_CONNECTION_AGE_MS}). */
  readonly maxConnectionAgeMs?: number;
  /** Ranges exempt from the guard against private destinations. */
  readonly allowCidrs: readonly string[];
  /** Endpoints that are never called, even if exempt. */
  readonly own?: OwnEndpoints;
  /** Name servers as `address` or `address:port`; default: the system's. */
  readonly dnsServers?: readonly string[];
  /** Waybill's version, for `User-Agent`. */
  readonly version: string;
  /** Certificates to trust instead of Node's own, in PEM. */
  readonly ca?: string;
  /** The URL of a proxy that all requests go through, with its credentials. */
  readonly proxyUrl?: string;
}

/**
 * The part of a short attempt in which its connection must be made. Too low: a receiver that connects slowly fails.
 * Too high: the time is over before it is known that our proxy does not answer, and the receiver may be blamed.
 */
const CONNECT_SHARE = 0.8;

/** The part of that time for lookups, with the same reasons. */
const LOOKUP_SHARE = 0.8;

/**
 * A connection in steady use never ends by itself. Too low: more handshakes. Too high: it is noticed later that a
 * receiver has moved, or that its certificate has expired.
 */
export const MAX_CONNECTION_AGE_MS = 60_000;

export function createSender(options: SenderOptions) {
  const { timeoutMs, allowCidrs, dnsServers = [], version, ca } = options;
  const { connectTimeoutMs = Math.min(5_000, Math.ceil(timeoutMs * CONNECT_SHARE)) } = options;
  const { maxConnectionAgeMs = MAX_CONNECTION_AGE_MS } = options;
  const proxy = options.proxyUrl === undefined ? {} : { proxy: outboundProxy(options.proxyUrl) };
  const ownEndpoints = options.own ?? createOwnEndpoints();
  const guard = createAddressGuard(allowCidrs, ownEndpoints);
  const resolver = createResolver({ servers: dnsServers, timeoutMs: connectTimeoutMs * LOOKUP_SHARE });
  const connectorFor = (eshopId: number) =>
    createConnector({
      guard,
      resolve: (hostname) => resolver.resolve(hostname, String(eshopId)),
      timeoutMs: connectTimeoutMs,
      maxSessionAgeMs: maxConnectionAgeMs,
      ...(ca === undefined ? {} : { ca }),
      ...proxy,
    });
  const connections = createConnections(connectorFor, maxConnectionAgeMs);
  const resolveOwn = combinedResolver(
    (name) => resolver.resolve(name, 'own endpoints'),
    (name) => lookup(name, { all: true }),
  );
  const stopFollowing = followNames(ownEndpoints, resolveOwn);
  const isInternal = (error: unknown) =>
    isInternalFailure(error, { resolverAnswers: () => resolver.answers() });
  const underWay = new Set<Promise<unknown>>();

  async function attemptOnce(
    request: Pick<AttemptRequest, 'eshopId' | 'timeoutMs' | 'test' | 'staticHeaders' | 'at'>,
    build: () => WireRequest,
    signal?: AbortSignal,
  ): Promise<AttemptResult> {
    const attempt = connections.use(request.eshopId, (connectionsTo) =>
      exchange({ connectionsTo, timeoutMs, connectTimeoutMs, build, isInternal, ...proxy }, request, signal),
    );
    underWay.add(attempt);
    try {
      return await attempt;
    } finally {
      underWay.delete(attempt);
    }
  }

  return {
    /**
     * Makes one attempt. Resolves even if the receiver, DNS or the network fails.
     * @throws DOMException `AbortError` if `signal` aborts before a response has arrived
     */
    send: (request: AttemptRequest, signal?: AbortSignal) =>
      attemptOnce(request, () => buildRequest(request, version), signal),
    /** Sends a notice, guarded and bounded like an attempt. @throws as `send` */
    sendNotice: (notice: NoticeRequest, signal?: AbortSignal) =>
      attemptOnce({ ...notice, staticHeaders: {} }, () => buildNotice(notice, version), signal),
    /**
     * When a receiver's TLS certificate expires; null if it has none or cannot be reached. Opens a connection,
     * guarded like those of attempts, and sends nothing.
     */
    certificateEnd: ({ eshopId, url }: Pick<AttemptRequest, 'eshopId' | 'url'>) =>
      certificateEnd(connectorFor(eshopId), url),
    /** Waits for the attempts under way, then closes every connection. */
    async close(): Promise<void> {
      await Promise.allSettled(underWay);
      stopFollowing();
      await connections.destroy();
      resolver.close();
    },
  };
}
