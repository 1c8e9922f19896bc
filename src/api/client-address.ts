/** The client of a request, as far as the network shows it. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import type pino from 'pino';
import type { ApiEnv } from './deps.ts';

/**
 * Makes a function that returns the client's address in one canonical form, or "unknown" if there is no connection;
 * an IPv6 client counts as its whole /64. Logs once if there seems to be a proxy that is not configured.
 * @param trustProxy true to read the last entry of `X-Forwarded-For`, which our own proxy wrote; earlier entries are
 * mere claims
 */
export function clientAddresses(trustProxy: boolean, log: pino.Logger) {
  let reported = false;
  return <Env extends Pick<ApiEnv, 'Bindings'>>(c: Context<Env>): string => {
    const header = c.req.header('x-forwarded-for');
    if (!reported && !trustProxy && header !== undefined) {
      reported = true;
      log.warn(
        'Requests carry X-Forwarded-For, but TRUST_PROXY is not set: if the header comes from your own proxy, set TRUST_PROXY=true. ' +
          'Until then all clients behind it count as one address and share the limits on failed logins.',
      );
    }
    const forwarded = trustProxy ? header?.split(',').at(-1)?.trim() : undefined;
    const connected = c.env?.incoming === undefined ? undefined : getConnInfo(c).remote.address;
    const text = withoutPort(forwarded ?? connected ?? 'unknown');
    if (!ipaddr.isValid(text)) return 'unknown';
    const address = ipaddr.process(text);
    if (address instanceof ipaddr.IPv4) return address.toString();
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`)}/64`;
  };
}

/** The address without a port, as some proxies add one: `[2001:db8::1]:4711`, `192.0.2.1:4711`, quoted or not. */
function withoutPort(text: string): string {
  const [, v6, v4] = /^"?(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)"?$/.exec(text) ?? [];
  return v6 ?? v4 ?? text;
}
