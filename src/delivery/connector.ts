/**
 * Opens connections to receivers, only at addresses that the guard allows. Three checks: literal addresses, which need no lookup; the
 * addresses of a name, which the socket gets instead of a lookup of its own, so that none can differ; and the connected socket's remote
 * address, before a byte is written.
 */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { setNewest } from '../lib/set-newest.ts';
import type { AddressGuard } from './address-guard.ts';

/** No address of the destination may be dialled. */
export class RefusedDestination extends Error {
  override readonly name = 'RefusedDestination';
  /** The refused address: not to be shown if it was found by a name. */
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
}

/**
 * The least and the most time that one of several addresses gets, in milliseconds and as a share of the time-out. Less: all addresses of
 * a distant receiver are given up. More: a dead address takes the time of the others.
 */
const MIN_ADDRESS_MS = 250;
const MAX_ADDRESS_SHARE = 1 / 4;

/** A connector for undici that dials only addresses that the guard allows; otherwise it fails with `RefusedDestination`. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { guard, resolve, timeoutMs, maxSessionAgeMs, ca } = options;
  const sessions = createSessions(maxSessionAgeMs);

  /** The addresses that may be dialled. @throws RefusedDestination if there are none; the errors of the lookup */
  async function addressesOf(host: string, port: number): Promise<LookupAddress[]> {
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }];
    const found = await resolve(host);
    const passed = found.filter(({ address }) => guard.refusal(address, port) === null);
    if (passed.length > 0) return passed;
    const address = found[0]?.address ?? '';
    throw new RefusedDestination(address, guard.refusal(address, port) ?? 'is not an IP address');
  }

  /** @param leftMs of the time-out, after the lookup */
  function connectorTo(addresses: LookupAddress[], leftMs: number, session: Buffer | undefined) {
    const share = Math.min(leftMs / addresses.length, timeoutMs * MAX_ADDRESS_SHARE);
    return buildConnector({
      timeout: leftMs,
      lookup: (_hostname, _options, callback) => callback(null, addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: Math.max(MIN_ADDRESS_MS, Math.floor(share)),
      // They are kept here: this connector opens one connection.
      maxCachedSessions: 0,
      ...(session === undefined ? {} : { session }),
      ...(ca === undefined ? {} : { ca }),
      // Only TCP is ever spoken: the type asks for a port, the connector takes it from each request.
      port: 0,
    });
  }

  return (request, callback) => {
    const startedAt = performance.now();
    const host = request.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = Number(request.port) || (request.protocol === 'https:' ? 443 : 80);
    const reason = guard.refusalOfHost(host, port);
    if (reason !== null) return callback(new RefusedDestination(host, reason), null);

    const connect = (addresses: LookupAddress[]) => {
      const known = sessions.of(host, port);
      const leftMs = Math.max(1, Math.floor(timeoutMs - (performance.now() - startedAt)));
      connectorTo(
        addresses,
        leftMs,
        known?.session,
      )(request, (error, socket) => {
        if (error !== null) return callback(error, null);
        const address = socket.remoteAddress ?? '';
        const refused = guard.refusal(address, port);
        if (refused !== null) {
          socket.destroy();
          return callback(new RefusedDestination(address, refused), null);
        }
        if (socket instanceof TLSSocket) {
          sessions.keepOf(socket, host, port, known);
          // In TLS 1.3 the refusal of a client certificate comes after the handshake. The end of the stream, which
          // follows, would replace it as the cause.
          socket.once('error', () => socket.destroy());
        }
        callback(null, socket);
      });
    };
    addressesOf(host, port).then(connect, (error: Error) => callback(error, null));
  };
}

interface KeptSession {
  readonly session: Buffer;
  /** When the certificate was last checked, on the clock of `performance`. */
  readonly since: number;
}

/** The most sessions of one e-shop. Fewer: more full handshakes. More: memory, some KiB each. */
const MAX_SESSIONS = 100;

/** TLS sessions, by host and port. A resumed one does not check the certificate, so none is resumed for longer than `maxAgeMs`. */
function createSessions(maxAgeMs: number) {
  const kept = new Map<string, KeptSession>();
  const keyOf = (host: string, port: number) => `${host}:${port}`;
  return {
    of(host: string, port: number): KeptSession | undefined {
      const known = kept.get(keyOf(host, port));
      return known !== undefined && performance.now() - known.since < maxAgeMs ? known : undefined;
    },
    /** Keeps the sessions that a connection gets. @param offered the one that it may have resumed */
    keepOf(socket: TLSSocket, host: string, port: number, offered: KeptSession | undefined): void {
      const since = socket.isSessionReused() && offered !== undefined ? offered.since : performance.now();
      socket.on('session', (session) => {
        setNewest(kept, keyOf(host, port), { session, since }, MAX_SESSIONS);
      });
    },
  };
}
