/** The API role: the application with its own connections, on a port. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createConsole, withConsole } from '../console/console.tsx';
import type { Pool } from '../db/pool.ts';
import type { OwnEndpoints } from '../delivery/own-endpoints.ts';
import type { Sender } from '../delivery/sender.ts';
import type { EmbeddedStack } from '../embedded/index.ts';
import { listen } from '../http/http-server.ts';
import type { Shutdown } from '../lib/shutdown.ts';
import { started } from '../log/log.ts';
import { type Metrics, statusClass } from '../metrics/metrics.ts';
import type { Keys } from '../secrets/keys.ts';
import { createActionRequester } from '../temporal/action-requester.ts';
import { createUiLinks } from '../temporal/ui-links.ts';
import { publicPrefix } from '../theme/public-url.ts';
import type { Traces } from '../traces/traces.ts';
import { createApplication } from './application.ts';

interface ApiOptions {
  readonly config: Config;
  readonly sql: Pool;
  readonly healthSql: Pool;
  readonly isDiskFull: () => boolean;
  readonly keys: Keys;
  /** Never a destination of webhooks; the API's own port is added. */
  readonly own: OwnEndpoints;
  /** For tests of webhooks. */
  readonly sender: Sender;
  readonly temporalState: () => 'up' | 'down' | 'unknown';
  readonly metrics: Metrics;
  /** Null if they are off. */
  readonly traces: Traces | null;
  /** Temporal and its UI, if started here. */
  readonly embedded: Pick<EmbeddedStack, 'temporalAddress' | 'temporalUiUrl'>;
  readonly log: Logger;
}

/**
 * @param shutdown gets the functions that stop it
 * @throws UserError when the port is taken, or a data file cannot be used
 * @returns the address: `http://host:port`
 */
export async function startApi(options: ApiOptions, shutdown: Shutdown): Promise<string> {
  const { metrics, traces, embedded, ...parts } = options;
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
    ...(traces === null ? {} : { traces }),
  });
  const pages = createConsole({
    ...application,
    temporal: uiUrl === null ? null : createUiLinks(uiUrl, settings.TEMPORAL_NAMESPACE, sql),
    stopping: shutdown.signal,
  });
  const { url, close } = await listen(withConsole(application.api, pages), settings.HOST, settings.PORT, {
    maxConnections: settings.MAX_CONNECTIONS,
    keepAliveMs: settings.KEEP_ALIVE_TIMEOUT,
    prefix: publicPrefix(application.publicUrl),
  });
  const stopped = started(log, 'api', { url });
  await shutdown.add(async () => {
    await close();
    stopped();
  });
  own.addUrl(url, 80);
  return url;
}
