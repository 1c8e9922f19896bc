/**
 * Opens connections to receivers, only at addresses that the guard allows. Three checks: literal addresses, which
 * need no lookup; the addresses of a name, which are passed to the socket, so that it makes no lookup of its own with
 * other results; and the connected socket's remote address, before a byte is written. Through a proxy only the first
 * two are possible: it looks up names itself.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { setNewest } from '../lib/set-newest.ts';
import type { AddressGuard } from './address-guard.ts';
import { connectToProxy, type OutboundProxy, tunnelTo } from './outbound-proxy.ts';
import { areLookupsFull } from './resolver.ts';

/** No address of the destination may be dialled. */
export class BlockedDestination extends Error {
  override readonly name = 'BlockedDestination';
  /** The refused address. If it was found by looking up a name, it must not be shown. */
  readonly address: string;
  /** Such as "is in a private range". */
  readonly reason: string;

  constructor(address: string, reason: string) {
    super(`destination ${address} ${reason}`);
    this.address = address;
    this.reason = reason;
  }
}

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

interface ConnectorOptions {
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  /** The time-out of lookup, TCP and TLS together, in milliseconds. */
  readonly timeoutMs: number;
  /** How long TLS sessions are resumed, in milliseconds: a resumed one does not check the certificate. */
  readonly maxSessionAgeMs: number;
  /** Certificates to trust instead of Node's own, in PEM. */
  readonly ca?: string;
  /** The proxy that all connections go through. */
  readonly proxy?: OutboundProxy;
}

/**
 * The minimum and maximum time that one of several addresses gets, in milliseconds and as a share of the time-out.
 * Too low: all addresses of a distant receiver are given up. Too high: a dead address takes the time of the others.
 */
const MIN_ADDRESS_MS = 250;
const MAX_ADDRESS_SHARE = 1 / 4;

/** A connector for undici that dials only allowed addresses; otherwise it fails with `BlockedDestination`. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { guard, resolve, timeoutMs, maxSessionAgeMs, ca, proxy } = options;
  const sessions = createSessions(maxSessionAgeMs);

  /** The addresses that may be dialled. @throws BlockedDestination if there are none; the errors of the lookup */
  async function addressesOf(host: string, port: number): Promise<LookupAddress[]> {
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
    const addresses = await resolve(host);
    const passed = addresses.filter(({ address }) => guard.problemOf(address, port) === null);
    if (passed.length > 0) return passed;
    const address = addresses[0]?.address ?? '';
    throw new BlockedDestination(address, guard.problemOf(address, port) ?? 'is not an IP address');
  }

  /**
   * Checks the addresses that we know of a name: the proxy may find others, and dial any of them.
   * @throws BlockedDestination if one of them may not be dialled; LookupError if too many lookups are under way
   */
  async function judge(host: string, port: number): Promise<void> {
    const addresses = await resolve(host).catch((error: unknown) => {
      if (areLookupsFull(error)) throw error;
      return [];
    });
    for (const { address } of addresses) {
      const reason = guard.problemOf(address, port);
      if (reason !== null) throw new BlockedDestination(address, reason);
    }
  }

  /** A connection to the receiver, or to the proxy for whole requests. @param remainingMs of the time-out */
  async function throughProxy(
    via: OutboundProxy,
    { host, port, tls }: { host: string; port: number; tls: boolean },
    remainingMs: () => number,
  ): Promise<Socket> {
    if (isIP(host) === 0) await judge(host, port);
    const socket = await connectToProxy(via, remainingMs(), ca);
    const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    return tls ? await tunnelTo(authority, via, socket, remainingMs()) : socket;
  }

  /** @param leftMs what the lookup has left of the time-out */
  function connectorTo(addresses: LookupAddress[], leftMs: number, session: Buffer | undefined) {
    const share = Math.min(leftMs / addresses.length, timeoutMs * MAX_ADDRESS_SHARE);
    return buildConnector({
      timeout: leftMs,
      lookup: (_hostname, _options, callback) => callback(null, addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.max(MIN_ADDRESS_MS, Math.floor(share)),
      // This file keeps the sessions: the connector opens only one connection.
      maxCachedSessions: 0,
      ...(session === undefined ? {} : { session }),
      ...(ca === undefined ? {} : { ca }),
      // Required by the type, but unused: the connector takes the port from each request.
      port: 0,
    });
  }

  return (request, callback) => {
    const startedAt = performance.now();
    const remainingMs = () => Math.max(1, Math.floor(timeoutMs - (performance.now() - startedAt)));
    const host = request.hostname.replace(/^\[(.*)\]$/, '$1');
    const tls = request.protocol === 'https:';
    const port = Number(request.port) || (tls ? 443 : 80);
    const reason = guard.problemOfHost(host, port);
    if (reason !== null) return callback(new BlockedDestination(host, reason), null);

    const connect = (addresses: LookupAddress[], tunnel?: Socket) => {
      const cached = sessions.of(host, port);
      const through = tunnel === undefined ? request : { ...request, httpSocket: tunnel };
      const dial = connectorTo(addresses, remainingMs(), cached?.session);
      dial(through, (error, socket) => {
        if (error !== null) return callback(error, null);
        const address = socket.remoteAddress ?? '';
        // In a tunnel the remote address is the proxy's.
        const refused = tunnel === undefined ? guard.problemOf(address, port) : null;
        if (refused !== null) {
          socket.destroy();
          return callback(new BlockedDestination(address, refused), null);
        }
        if (socket instanceof TLSSocket) {
          sessions.keepOf(socket, host, port, cached);
          // In TLS 1.3 the refusal of a client certificate comes after the handshake. The end of the stream, which
          // follows, would replace it as the cause.
          socket.once('error', () => socket.destroy());
        }
        callback(null, socket);
      });
    };
    const failed = (error: Error) => callback(error, null);
    if (proxy === undefined) addressesOf(host, port).then((addresses) => connect(addresses), failed);
    else
      throughProxy(proxy, { host, port, tls }, remainingMs).then(
        (socket) => (tls ? connect([], socket) : callback(null, socket)),
        failed,
      );
  };
}

/** When the certificate of the server at this URL expires; null if it has none or cannot be reached. */
export function certificateEnd(connect: buildConnector.connector, url: string): Promise<Date | null> {
  const { protocol, hostname, port, host } = new URL(url);
  if (protocol !== 'https:') return Promise.resolve(null);
  return new Promise((resolve) => {
    connect({ protocol, hostname, port, host }, (error, socket) => {
      if (error !== null) return resolve(null);
      const until = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
      socket.destroy();
      resolve(until === undefined ? null : new Date(until));
    });
  });
}

interface KeptSession {
  readonly session: Buffer;
  /** When the certificate was last checked, on the clock of `performance`. */
  readonly since: number;
}

/** The most sessions of one e-shop. Too low: more full handshakes. Too high: more memory, some KiB each. */
const MAX_SESSIONS = 100;

/** TLS sessions, by host and port, resumed for `maxAgeMs` at most: a resumed one does not check the certificate. */
function createSessions(maxAgeMs: number) {
  const stored = new Map<string, KeptSession>();
  const keyOf = (host: string, port: number) => `${host}:${port}`;
  return {
    of(host: string, port: number): KeptSession | undefined {
      const cached = stored.get(keyOf(host, port));
      return cached !== undefined && performance.now() - cached.since < maxAgeMs ? cached : undefined;
    },
    /** Keeps the sessions that a connection gets. @param offered the session that it may have resumed */
    keepOf(socket: TLSSocket, host: string, port: number, offered: KeptSession | undefined): void {
      const since = socket.isSessionReused() && offered !== undefined ? offered.since : performance.now();
      socket.on('session', (session) => {
        setNewest(stored, keyOf(host, port), { session, since }, MAX_SESSIONS);
      });
    },
  };
}
