/**
 * Sends one attempt of a delivery (docs/interface.md, D4 and D5). An internal failure (`fault.ts`) is told apart from
 * the receiver's.
 *
 * Module delivery, which imports domain, traces. Begin: then `request.ts`, `exchange.ts` and `address-guard.ts`.
 */
import { lookup } from 'node:dns/promises';
import { createAddressGuard } from './address-guard.ts';
import { certificateEnd } from './certificate.ts';
import { createConnections } from './connections.ts';
import { createConnector } from './connector.ts';
import { type AttemptResult, exchange } from './exchange.ts';
import { isInternalFailure } from './failure-attribution.ts';
import { byEachOf, createOwnEndpoints, followNames, type OwnEndpoints } from './own-endpoints.ts';
import type { AttemptRequest } from './request.ts';
import { createResolver } from './resolver.ts';

export type { AttemptResult } from './exchange.ts';
export type { AttemptRequest } from './request.ts';

export interface Sender {
  /**
   * Makes one attempt. Resolves whatever receiver, DNS or network did.
   * @throws DOMException `AbortError` when `signal` aborts before an answer has arrived
   */
  send(request: AttemptRequest, signal?: AbortSignal): Promise<AttemptResult>;
  /**
   * When the certificate ends that a receiver shows over TLS; null where it shows none. Absent where that cannot be asked.
   * Opens a connection, guarded as those of attempts, and sends nothing.
   */
  certificateEnd?(receiver: Pick<AttemptRequest, 'eshopId' | 'url'>): Promise<Date | null>;
  /** Waits for the attempts under way, then closes every connection. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /** For the whole of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** For the connection alone, in milliseconds (default 5,000). */
  readonly connectTimeoutMs?: number;
  /** Ranges exempt from the guard against private destinations. */
  readonly allowCidrs: readonly string[];
  /** Never called, exempt or not. */
  readonly own?: OwnEndpoints;
  /** Name servers as `address` or `address:port`; none: the system's. */
  readonly dnsServers?: readonly string[];
  /** Waybill's version, for `User-Agent`. */
  readonly version: string;
  /** Certificates to trust instead of Node's own, in PEM. */
  readonly ca?: string;
}

/** Names have to be found well before the connection's time is over, so that it is known why they were not. */
const LOOKUP_SHARE = 0.8;

/** @throws TypeError when `allowCidrs` holds something that is not a range */
export function createSender(options: SenderOptions): Sender {
  const { timeoutMs, connectTimeoutMs = 5_000, allowCidrs, dnsServers = [], version, ca } = options;
  const own = options.own ?? createOwnEndpoints();
  const guard = createAddressGuard(allowCidrs, own);
  const resolver = createResolver({ servers: dnsServers, timeoutMs: connectTimeoutMs * LOOKUP_SHARE });
  const connectorFor = (eshopId: number) =>
    createConnector({
      guard,
      resolve: (hostname) => resolver.resolve(hostname, String(eshopId)),
      timeoutMs: connectTimeoutMs,
      ...(ca === undefined ? {} : { ca }),
    });
  const connections = createConnections(connectorFor);
  const resolveOwn = byEachOf(
    (name) => resolver.resolve(name, 'own endpoints'),
    (name) => lookup(name, { all: true }),
  );
  const stopFollowing = followNames(own, resolveOwn);
  const isInternal = (error: unknown) =>
    isInternalFailure(error, { resolverAnswers: () => resolver.answers() });
  const underWay = new Set<Promise<unknown>>();

  return {
    async send(request, signal) {
      const attempt = connections.use(request.eshopId, (connectionsTo) =>
        exchange({ connectionsTo, timeoutMs, connectTimeoutMs, version, isInternal }, request, signal),
      );
      underWay.add(attempt);
      try {
        return await attempt;
      } finally {
        underWay.delete(attempt);
      }
    },
    certificateEnd: ({ eshopId, url }) => certificateEnd(connectorFor(eshopId), url),
    async close() {
      await Promise.allSettled(underWay);
      stopFollowing();
      await connections.destroy();
      resolver.close();
    },
  };
}
