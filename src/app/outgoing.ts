/** The sender of requests, and the check of destinations, as configured. */
import type { ApiDeps } from '../api/deps.ts';
import type { Config } from '../config/config.ts';
import { createAddressGuard, destinationProblem } from '../delivery/address-guard.ts';
import type { OwnEndpoints } from '../delivery/own-endpoints.ts';
import { userAgentOf } from '../delivery/request.ts';
import { createSender, type Sender } from '../delivery/sender.ts';
import { version } from '../lib/version.ts';

/** @param own never a destination */
export function configuredSender(
  { settings, retryPolicy, deliveryAllowCidrs }: Config,
  own: OwnEndpoints,
): Sender {
  const { attemptTimeoutMs: timeoutMs } = retryPolicy;
  const { DNS_SERVERS: dnsServers, OUTBOUND_PROXY: proxyUrl } = settings;
  const proxy = proxyUrl === undefined ? {} : { proxyUrl };
  return createSender({ timeoutMs, allowCidrs: deliveryAllowCidrs, own, dnsServers, version, ...proxy });
}

export function configuredGuard(
  { settings, deliveryAllowCidrs }: Pick<Config, 'settings' | 'deliveryAllowCidrs'>,
  own: OwnEndpoints,
): ApiDeps['destinationProblem'] {
  const guard = createAddressGuard(deliveryAllowCidrs, own);
  return (url, before) => {
    const plain = settings.WEBHOOK_HTTPS_ONLY && url !== before && new URL(url).protocol !== 'https:';
    return plain ? 'must be https: this service accepts nothing else' : destinationProblem(guard, url);
  };
}

/** What e-shops may know about the origin of deliveries. */
export function deliveriesFrom({ settings }: Pick<Config, 'settings'>) {
  return { addresses: settings.EGRESS_ADDRESSES, userAgent: userAgentOf(version) };
}

/** @returns for the start: how far the guard goes through a proxy; null without one */
export function proxyNotice({ settings }: Pick<Config, 'settings'>): string | null {
  if (settings.OUTBOUND_PROXY === undefined) return null;
  const { origin } = new URL(settings.OUTBOUND_PROXY);
  return `Deliveries: all go through the proxy ${origin}. Waybill checks literal addresses, and names that its resolver knows; for all other names the proxy alone decides, so it has to refuse private addresses.`;
}

/** @returns a warning for the start; null if there is nothing to warn about */
export function plainUrls({ settings }: Pick<Config, 'settings'>): string | null {
  if (settings.ROLE === 'worker' || settings.WEBHOOK_HTTPS_ONLY) return null;
  if (settings.PUBLIC_URL?.startsWith('https:') !== true) return null;
  return 'Webhooks: PUBLIC_URL is https, but the URL of a webhook may be http, so that anyone on the way can read the records: set WEBHOOK_HTTPS_ONLY=true.';
}

/**
 * A setting of Node.js that many examples use, and that opens every connection to a man in the middle.
 * @returns a warning for the start; null if certificates are checked
 */
export function uncheckedTls(env: Readonly<Record<string, string | undefined>>): string | null {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return null;
  return 'TLS: NODE_TLS_REJECT_UNAUTHORIZED=0 is set, so no certificate is checked, neither of receivers nor of the mail server or Postgres: remove it, and name your own authority in NODE_EXTRA_CA_CERTS.';
}
