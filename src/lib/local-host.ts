import ipaddr from 'ipaddr.js';

/** Names of this machine. Any other name that leads here may be an attack (DNS rebinding). */
const LOCAL = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a request's `Host` names this machine, with any port: through a tunnel it may be another. */
export function isLocalHost(host: string | undefined): boolean {
  return LOCAL.has((host ?? '').toLowerCase().replace(/:\d*$/, ''));
}

/**
 * Whether a server that listens on this address can be reached from this machine only.
 * @param address as the socket reports it, IPv4 or IPv6: a configured host has many spellings and names
 */
export function isLoopback(address: string): boolean {
  return ipaddr.process(address).range() === 'loopback';
}
