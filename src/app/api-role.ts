/** The API role: the application with its own connections, on a port. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createConsole, withConsole } from '../console/console.tsx';
import type { TemporalLinks } from '../console/deps.ts';
import type { Pool } from '../db/pool.ts';
import type { OwnEndpoints } from '../delivery/own-endpoints.ts';
import type { Sender } from '../delivery/sender.ts';
import type { RequestAction } from '../domain/operator-action.ts';
import { listen } from '../http/http-server.ts';
import type { Shutdown } from '../lib/shutdown.ts';
import { started } from '../log/log.ts';
import { type Metrics, statusClass } from '../metrics/metrics.ts';
import type { Keys } from '../secrets/keys.ts';
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
  readonly requestAction: RequestAction | null;
  readonly temporal: TemporalLinks | null;
  readonly log: Logger;
}

/**
 * @param shutdown gets the function that stops it
 * @throws UserError when the port is taken, or a data file cannot be used
 * @returns the address: `http://host:port`
 */
export async function startApi(options: ApiOptions, shutdown: Shutdown): Promise<string> {
  const { metrics, traces, temporal, ...parts } = options;
  const { own, log } = parts;
  const { settings } = parts.config;
  const application = await createApplication({
    ...parts,
    onAnswer: ({ method, status, ms }) =>
      metrics.requests.observe({ method, status: statusClass(status) }, ms / 1_000),
    onChangeLoop: ({ kind }) => metrics.changeLoops.inc({ kind }),
    ...(traces === null ? {} : { traces }),
  });
  const pages = createConsole({
    ...application,
    temporal,
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
