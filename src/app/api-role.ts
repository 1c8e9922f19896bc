/** The API role: the application with its own connections, on a port. */
import { createConsole, withConsole } from '../console/console.tsx';
import type { EmbeddedStack } from '../embedded/index.ts';
import { listen } from '../http/http-server.ts';
import type { Shutdown } from '../lib/shutdown.ts';
import { logStarted } from '../log/log.ts';
import { type Metrics, statusClass } from '../metrics/metrics.ts';
import { createActionRequester } from '../temporal/action-requester.ts';
import { createUiLinks } from '../temporal/ui-links.ts';
import { publicPrefix } from '../theme/public-url.ts';
import { type ApplicationParts, createApplication } from './application.ts';

interface ApiOptions extends Omit<ApplicationParts, 'requestAction' | 'onAnswer' | 'onChangeLoop'> {
  readonly metrics: Metrics;
  /** Temporal and its UI, if started here. */
  readonly embedded: Pick<EmbeddedStack, 'temporalAddress' | 'temporalUiUrl'>;
}

/**
 * @param shutdown gets the functions that stop it
 * @throws UserError when the port is taken, or a data file cannot be used
 * @returns the address: `http://host:port`
 */
export async function startApi(options: ApiOptions, shutdown: Shutdown): Promise<string> {
  const { metrics, embedded, ...parts } = options;
  const { own, log, sql, config } = parts;
  const { settings } = config;
  const { temporalAddress } = embedded;
  const requester = temporalAddress === '' ? null : createActionRequester(config, sql, temporalAddress);
  await shutdown.add(async () => requester?.close());
  const uiUrl = settings.TEMPORAL_UI_URL ?? embedded.temporalUiUrl;
  const application = await createApplication({
    ...parts,
    requestAction: requester?.requestAction ?? null,
    onAnswer: ({ method, status, ms }) =>
      metrics.requests.observe({ method, status: statusClass(status) }, ms / 1_000),
    onChangeLoop: ({ kind }) => metrics.changeLoops.inc({ kind }),
  });
  const pages = createConsole({
    ...application,
    temporal: uiUrl === null ? null : createUiLinks(uiUrl, settings.TEMPORAL_NAMESPACE, sql),
  });
  const { url, close } = await listen(withConsole(application.api, pages), settings.HOST, settings.PORT, {
    maxConnections: settings.MAX_CONNECTIONS,
    keepAliveMs: settings.KEEP_ALIVE_TIMEOUT,
    prefix: publicPrefix(application.publicUrl),
  });
  const stopped = logStarted(log, 'api', { url });
  await shutdown.add(async () => {
    await close();
    stopped();
  });
  own.addUrl(url, 80);
  return url;
}
