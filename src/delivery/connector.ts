/**
 * Opens connections to receivers, and only to addresses that the guard lets pass.
 *
 * Three checks, for each closes what the others cannot: a literal address in the URL is never looked up; a name's
 * addresses are filtered inside the lookup that the socket itself makes, so that no second lookup can answer
 * differently; and the connected socket's remote address is looked at before a byte of the request is written.
 * @module
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';

/** No address of the destination may be dialled. */
export class RefusedDestination extends Error {
  /** The address refused. */
  readonly address: string;
  /** As "a private range". */
  readonly range: string;

  constructor(address: string, range: string) {
    super(`destination ${address} is in ${range}`);
    this.name = 'RefusedDestination';
    this.address = address;
    this.range = range;
  }
}

/** Settings of `createConnector`. */
export interface ConnectorOptions {
  readonly guard: AddressGuard;
  /** For lookup, TCP and TLS together, in milliseconds. */
  readonly timeoutMs: number;
  /** Certificates to trust instead of Node's own, in PEM. */
  readonly ca?: string;
}

/** A connector for undici that dials only what the guard lets pass; else it fails with `RefusedDestination`. */
export function createConnector({ guard, timeoutMs, ca }: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardedLookup(guard),
    autoSelectFamily: true,
    // Node's 250 ms would give up every address of a receiver that is further away than that.
    autoSelectFamilyAttemptTimeout: Math.max(250, Math.floor(timeoutMs / 4)),
    ...(ca === undefined ? {} : { ca }),
    // Only TCP is ever spoken: the type asks for a port, the connector takes it from each request.
    port: 0,
  });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const range = isIP(host) === 0 ? null : guard.refusal(host);
    if (range !== null) return callback(new RefusedDestination(host, range), null);
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      const address = socket?.remoteAddress ?? '';
      const refused = guard.refusal(address);
      if (refused === null) return callback(null, socket);
      socket.destroy();
      callback(new RefusedDestination(address, refused), null);
    });
  };
}

/**
 * A lookup that leaves out refused addresses and fails with `RefusedDestination` when none is left. Lookups of one
 * name that are under way at the same time are one: the system's resolver has few threads, and a name whose server
 * is silent must not take them all.
 */
export function guardedLookup(guard: AddressGuard): LookupFunction {
  type Waiting = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;
  const underWay = new Map<string, Waiting[]>();

  function resolve(hostname: string, family: 0 | 4 | 6, done: Waiting): void {
    const key = `${family} ${hostname}`;
    const waiting = underWay.get(key);
    if (waiting !== undefined) {
      waiting.push(done);
      return;
    }
    const all = [done];
    underWay.set(key, all);
    systemLookup(hostname, { all: true, family }, (error, addresses) => {
      underWay.delete(key);
      for (const each of all) each(error, addresses ?? []);
    });
  }

  return (hostname, options, callback) => {
    const family = options.family === 4 || options.family === 'IPv4' ? 4 : familySix(options.family);
    resolve(hostname, family, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const passed = addresses.filter(({ address }) => guard.refusal(address) === null);
      const [first] = passed;
      if (first !== undefined) {
        return options.all === true ? callback(null, passed) : callback(null, first.address, first.family);
      }
      const address = addresses[0]?.address ?? '';
      callback(new RefusedDestination(address, guard.refusal(address) ?? 'an unknown form of address'), []);
    });
  };
}

function familySix(family: number | string | undefined): 0 | 6 {
  return family === 6 || family === 'IPv6' ? 6 : 0;
}
