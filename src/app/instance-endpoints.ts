/** Where this instance listens and what it connects to: never a destination of webhooks. */
import type { Config } from '../config/config.ts';
import { createOwnEndpoints, endpointOf, type OwnEndpoints } from '../delivery/own-endpoints.ts';
import { watchedFile } from '../delivery/watched-file.ts';
import { type DataDir, parseInstance } from '../embedded/data-dir.ts';
import type { EmbeddedStack } from '../embedded/index.ts';
import { OPERATOR_CONSOLES, parseConsoles, portsOf } from '../embedded/operator-consoles.ts';

const POSTGRES_PORT = 5432;
const HTTP_PORT = 80;
const HTTPS_PORT = 443;
/** The mail library's ports if the URL has none. */
const SMTP_PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };

type EmbeddedAddresses = Pick<EmbeddedStack, 'databaseUrl' | 'temporalAddress' | 'temporalPorts'> & {
  readonly dataDir: Pick<DataDir, 'join'>;
};

/**
 * The endpoints known from the configuration and from the servers started here. An API in another process of this
 * machine is known from `PORT` or `DATA_DIR`, which also lists operators' consoles.
 */
export function instanceEndpoints(
  { settings }: Pick<Config, 'settings'>,
  embedded: EmbeddedAddresses,
): OwnEndpoints {
  const processes = watchedFile(embedded.dataDir.join('instance.json'), (text): number[] => {
    const { apiUrl, metricsUrls = {} } = parseInstance(text);
    const urls = [...(apiUrl === undefined ? [] : [apiUrl]), ...Object.values(metricsUrls).flat()];
    return urls.map((url) => endpointOf(url, HTTP_PORT).port);
  });
  const consoles = watchedFile(embedded.dataDir.join(OPERATOR_CONSOLES), parseConsoles);
  const endpoints = createOwnEndpoints(() => [
    ...processes(),
    ...portsOf(consoles()),
    ...embedded.temporalPorts(),
  ]);
  if (embedded.databaseUrl !== '') endpoints.addUrl(embedded.databaseUrl, POSTGRES_PORT);
  if (embedded.temporalAddress !== '') endpoints.addUrl(`http://${embedded.temporalAddress}`, HTTP_PORT);
  const { DATABASE_DIRECT_URL, SMTP_URL, HOST, PORT, METRICS_PORT = 0 } = settings;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OUTBOUND_PROXY: proxy } = settings;
  if (DATABASE_DIRECT_URL !== undefined) endpoints.addUrl(DATABASE_DIRECT_URL, POSTGRES_PORT);
  for (const url of [collector, proxy])
    if (url !== undefined) endpoints.addUrl(url, url.startsWith('https:') ? HTTPS_PORT : HTTP_PORT);
  if (SMTP_URL !== undefined) endpoints.addUrl(SMTP_URL, SMTP_PORTS[new URL(SMTP_URL).protocol] ?? 25);
  for (const port of [PORT, METRICS_PORT]) if (port !== 0) endpoints.add(HOST, port);
  return endpoints;
}
