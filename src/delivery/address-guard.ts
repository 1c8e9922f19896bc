/**
 * Keeps deliveries away from private and special destinations: registering a webhook must not give access to
 * addresses that only our network can reach. On every connection the guard checks the address that is dialled, not
 * the name.
 *
 * Only global unicast addresses pass. An IPv4-mapped IPv6 address is checked as the IPv4 address that the system
 * dials for it. Every other form that embeds an IPv4 address (NAT64, 6to4, Teredo, IPv4-compatible) is always
 * refused, since a translator along the way could turn it into a private one.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { createOwnEndpoints, type OwnEndpoints } from './own-endpoints.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Addresses of clouds' metadata services. The first, Azure's metadata and DNS address, is in a public range. */
const METADATA: readonly Range[] = [
  ipaddr.parseCIDR('168.63.129.16/32'),
  ipaddr.parseCIDR('169.254.169.254/32'),
  ipaddr.parseCIDR('fd00:ec2::254/128'),
];
/** All of global unicast in IPv6 today; any address outside is special, whether or not its range has a name. */
const GLOBAL_V6: Range = ipaddr.parseCIDR('2000::/3');

/** The library reads this deprecated form as IPv4-mapped; the system dials it as an IPv6 address. */
const IPV4_COMPATIBLE = /^(?:0*:){2,6}\d+\.\d+\.\d+\.\d+$/;

const NAMES: Readonly<Record<string, string>> = {
  private: 'a private range',
  uniqueLocal: 'a private range',
  carrierGradeNat: 'a private range (carrier-grade NAT)',
  deprecatedSiteLocal: 'a private range',
  loopback: 'a loopback range',
  linkLocal: 'a link-local range',
  multicast: 'a multicast range',
  rfc6052: 'a translated range (NAT64)',
  rfc6145: 'a translated range',
  '6to4': 'a translated range (6to4)',
  teredo: 'a translated range (Teredo)',
};

export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** The reason for refusing Waybill's own ports. */
const OWN = 'belongs to this service on that port';

/** @param allowCidrs ranges that may be dialled, such as `127.0.0.0/8` @param own never dialled, even if allowed */
export function createAddressGuard(
  allowCidrs: readonly string[],
  own: Pick<OwnEndpoints, 'includes'> = createOwnEndpoints(),
) {
  const allowed = allowCidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  function rangeOf(text: string): string | null {
    if (!ipaddr.isValid(text)) return 'an unknown form of address';
    if (IPV4_COMPATIBLE.test(text)) return 'a special-purpose range';
    // Turns an IPv4-mapped IPv6 address into the IPv4 address.
    const address = ipaddr.process(text);
    if (isInRanges(address, allowed)) return null;
    if (isInRanges(address, METADATA)) return 'a metadata range';
    const range = address.range();
    if (range !== 'unicast') return NAMES[range] ?? 'a special-purpose range';
    return address.kind() === 'ipv6' && !isInRanges(address, [GLOBAL_V6]) ? 'a special-purpose range' : null;
  }

  /**
   * Why an address must not be dialled, such as "is in a private range"; null if it may be.
   * @param address IPv4 or IPv6 as text, without brackets
   */
  function problemOf(address: string, port: number): string | null {
    if (own.includes(address, port)) return OWN;
    const range = rangeOf(address);
    return range === null ? null : `is in ${range}`;
  }

  return {
    problemOf,
    /** Why a destination is refused regardless of its addresses; null if its addresses have to be checked. */
    problemOfHost(host: string, port: number): string | null {
      if (isIP(host) !== 0) return problemOf(host, port);
      return own.includes(host, port) ? OWN : null;
    },
  };
}

/** The addresses of `localhost` (RFC 6761). */
const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Why a URL can never be called, such as "must not lead to 10.0.0.5, which is in a private range"; null if it may
 * be, or if that depends on its name's addresses.
 */
export function destinationProblem(guard: AddressGuard, url: string): string | null {
  const { hostname, protocol, port: given } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(given) || (protocol === 'https:' ? 443 : 80);
  const reason = guard.problemOfHost(host, port) ?? problemOfLocalhost(guard, host, port);
  return reason === null ? null : `must not lead to ${host}, which ${reason}`;
}

/** A name for loopback is refused only if all its addresses are. */
function problemOfLocalhost(guard: AddressGuard, host: string, port: number): string | null {
  if (!/^(.*\.)?localhost\.?$/.test(host)) return null;
  const reasons = LOOPBACK.map((address) => guard.problemOf(address, port));
  return reasons.includes(null) ? null : (reasons[0] ?? null);
}

function isInRanges(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}
