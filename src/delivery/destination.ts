import type { AddressGuard } from './address-guard.ts';

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
