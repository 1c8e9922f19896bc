/** The sender of requests, and the check of destinations, as configured. */
import type { Config } from '../config/config.ts';
import { createAddressGuard } from '../delivery/address-guard.ts';
import { destinationProblem } from '../delivery/destination.ts';
import type { OwnEndpoints } from '../delivery/own-endpoints.ts';
import { createSender, type Sender } from '../delivery/sender.ts';
import { version } from '../lib/version.ts';

/** @param own never a destination */
export function configuredSender(
  { settings, retryPolicy, deliveryAllowCidrs }: Config,
  own: OwnEndpoints,
): Sender {
  const { attemptTimeoutMs: timeoutMs } = retryPolicy;
  const { DNS_SERVERS: dnsServers } = settings;
  return createSender({ timeoutMs, allowCidrs: deliveryAllowCidrs, own, dnsServers, version });
}

/** @returns a function that says why a URL is no destination; null if it may be one */
export function configuredGuard(
  { deliveryAllowCidrs }: Config,
  own: OwnEndpoints,
): (url: string) => string | null {
  const guard = createAddressGuard(deliveryAllowCidrs, own);
  return (url) => destinationProblem(guard, url);
}
