/**
 * Waybill's own ports (API, consoles, databases, Temporal and its UI, mail server, proxy) are never destinations,
 * even if exempt: a webhook must not make Waybill call them.
 */
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export type OwnEndpoints = ReturnType<typeof createOwnEndpoints>;

/**
 * The endpoints that Waybill listens on and connects to.
 * @param passing further ports of this machine, read each time: they count as own only while they are listed
 */
export function createOwnEndpoints(passing: () => readonly number[] = () => []) {
  /** Ports of this machine, on any of its addresses. */
  const local = new Set<number>();
  const elsewhere = new Map<string, Set<number>>();
  /** The addresses of names: when each was last found, on a monotonic clock, and whether it is this machine's. */
  const leadsTo = new Map<string, Map<string, { readonly at: number; readonly here: boolean }>>();

  const endpoints = {
    /** @param host an address or a name; `0.0.0.0` and `::` stand for every address of this machine */
    add(host: string, port: number): void {
      const key = normalized(host);
      if (key === 'localhost' || isThisMachine(key)) local.add(port);
      else elsewhere.set(key, (elsewhere.get(key) ?? new Set()).add(port));
    },
    /** Adds the endpoint of a URL; `defaultPort` if the URL names no port. */
    addUrl(url: string, defaultPort: number): void {
      const { host, port } = endpointOf(url, defaultPort);
      if (host !== '') endpoints.add(host, port);
    },
    /** Whether this is one of them. @param host an address, or a name as in a URL */
    includes(host: string, port: number): boolean {
      const key = normalized(host);
      if (elsewhere.get(key)?.has(port) === true) return true;
      let isHere = local.has(port) || passing().includes(port);
      for (const [name, addresses] of leadsTo) {
        if (elsewhere.get(name)?.has(port) !== true) continue;
        if (addresses.has(key)) return true;
        isHere ||= [...addresses.values()].some(({ here }) => here);
      }
      return isHere && (key === 'localhost' || isThisMachine(key));
    },
    /** The hosts that are names, whose addresses have to be looked up. */
    names() {
      return [...elsewhere]
        .filter(([host]) => !ipaddr.isValid(host))
        .map(([name, ports]) => ({ name, ports: [...ports] }));
    },
    /** Sets the present addresses of one of these names; older ones are forgotten after a while. */
    found(name: string, addresses: readonly string[]): void {
      const at = performance.now();
      const before = [...(leadsTo.get(name) ?? [])].filter((each) => at - each[1].at < ADDRESS_CACHE_MS);
      const now = addresses.map(normalized).map((each) => [each, { at, here: isThisMachine(each) }] as const);
      leadsTo.set(name, new Map([...before, ...now]));
    },
  };
  return endpoints;
}

export function endpointOf(url: string, defaultPort: number): Endpoint {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: port === '' ? defaultPort : Number(port) };
}

/** The time between two lookups of hosts with names, in milliseconds. */
const FOLLOW_INTERVAL_MS = 30_000;
/**
 * How long an address counts as own after it was last found, in milliseconds: a lookup may return only a few of a
 * name's addresses, and a cloud soon reassigns an address.
 */
const ADDRESS_CACHE_MS = 10 * 60_000;

type Resolve = (name: string) => Promise<readonly { readonly address: string }[]>;

/**
 * All addresses of a name, from our own lookup and from the system's. Webhooks use ours, without search domains;
 * the clients of databases and of Temporal use the system's.
 * @throws AggregateError if neither answers
 */
export function combinedResolver(...ways: readonly Resolve[]): Resolve {
  return async (name) => {
    const lookups = ways.map((way) => way(name));
    await Promise.any(lookups);
    return (await Promise.all(lookups.map((each) => each.catch(() => [])))).flat();
  };
}

/** Follows the addresses of hosts with names: another name may lead there, too. @returns a function that stops it */
export function followNames(endpoints: OwnEndpoints, resolve: Resolve): () => void {
  async function refresh(): Promise<void> {
    for (const { name } of endpoints.names()) {
      const addresses = await resolve(name).catch(() => null);
      // If the resolver is unavailable, the addresses found before stay.
      if (addresses !== null)
        endpoints.found(
          name,
          addresses.map(({ address }) => address),
        );
    }
  }
  void refresh();
  const timer = setInterval(() => void refresh(), FOLLOW_INTERVAL_MS).unref();
  return () => clearInterval(timer);
}

/** The one form of an address, without brackets, IPv4-mapped ones as IPv4; a name in lower case. */
function normalized(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare.replace(/\.$/, '');
}

function isThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const range = ipaddr.process(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  return Object.values(networkInterfaces()).some((found) =>
    found?.some((each) => normalized(each.address) === address),
  );
}
