/**
 * Opens connections to receivers, only at addresses that the guard allows. Three checks: literal addresses, which need no lookup; the
 * addresses of a name, inside the socket's own lookup, so that no second lookup can differ; and the connected socket's remote address,
 * before a byte is written.
 */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
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

/** A connector for undici that dials only addresses that the guard allows; otherwise it fails with `RefusedDestination`. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { guard, resolve, timeoutMs, maxSessionAgeMs, ca } = options;
  /** One per port: a lookup is not told which port it is for. Each keeps the sessions of its own connections. */
  const connectors = new Map<number, { connect: buildConnector.connector; since: number }>();

  function connectorFor(port: number): buildConnector.connector {
    const known = connectors.get(port);
    if (known !== undefined && performance.now() - known.since < maxSessionAgeMs) return known.connect;
    const connect = buildConnector({
      timeout: timeoutMs,
      lookup: guardedLookup(guard, resolve, port),
      autoSelectFamily: true,
      // With Node's 250 ms, every address of a more distant receiver would be given up.
      autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(timeoutMs / 4)),
      ...(ca === undefined ? {} : { ca }),
      // Only TCP is ever spoken: the type asks for a port, the connector takes it from each request.
      port: 0,
    });
    connectors.set(port, { connect, since: performance.now() });
    return connect;
  }

  return (request, callback) => {
    const host = request.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = Number(request.port) || (request.protocol === 'https:' ? 443 : 80);
    const reason = guard.refusalOfHost(host, port);
    if (reason !== null) return callback(new RefusedDestination(host, reason), null);
    connectorFor(port)(request, (error, socket) => {
      if (error !== null) return callback(error, null);
      const address = socket?.remoteAddress ?? '';
      const refused = guard.refusal(address, port);
      if (refused === null) {
        // In TLS 1.3 the refusal of a client certificate comes after the handshake. The end of the stream, which
        // follows, would replace it as the cause.
        if (socket instanceof TLSSocket) socket.once('error', () => socket.destroy());
        return callback(null, socket);
      }
      socket.destroy();
      callback(new RefusedDestination(address, refused), null);
    });
  };
}

/** A lookup that omits refused addresses and fails with `RefusedDestination` if none is left. */
function guardedLookup(guard: AddressGuard, resolve: Resolve, port: number): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const passed = addresses.filter(({ address }) => guard.refusal(address, port) === null);
        const [first] = passed;
        if (first !== undefined) {
          return options.all === true ? callback(null, passed) : callback(null, first.address, first.family);
        }
        const address = addresses[0]?.address ?? '';
        const reason = guard.refusal(address, port) ?? 'is not an IP address';
        callback(new RefusedDestination(address, reason), []);
      },
      (error: Error) => callback(error, []),
    );
  };
}
