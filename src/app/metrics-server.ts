/** The port on which every process, whatever its role, shows its metrics and its health. */
import { Hono } from 'hono';
import type { ApiEnv } from '../api/deps.ts';
import { systemRoutes } from '../api/system.ts';
import type { Limits } from '../concurrency/limits.ts';
import { databaseAnswers } from '../db/connection/health.ts';
import { createPool, type Pool } from '../db/connection/pool.ts';
import { listen, PortInUse } from '../http/http-server.ts';
import { isLocalHost, isLoopback } from '../lib/local-host.ts';
import { processIdentity } from '../lib/process-identity.ts';
import type { Shutdown } from '../lib/shutdown.ts';
import { version } from '../lib/version.ts';
import { logStarted } from '../log/log.ts';
import { readDatabaseMetrics } from '../metrics/database-metrics.ts';
import { type Metrics, watchProcess } from '../metrics/metrics.ts';
import type { ApplicationParts } from './application.ts';

interface MetricsServerOptions
  extends Pick<ApplicationParts, 'config' | 'sql' | 'healthSql' | 'own' | 'temporalState' | 'log'> {
  readonly databaseUrl: string;
  /** Whether `databaseUrl` leads to the server itself, without a pooler. */
  readonly session: boolean;
  readonly isDiskFull: () => boolean;
  readonly metrics: Metrics;
  /** False for a worker that never has. */
  readonly hasReachedTemporal: () => boolean;
  /** Null without a worker. */
  readonly limits: () => Pick<Limits, 'open' | 'hanging'> | null;
  /** Where Temporal's SDK shows its own metrics; null if it does not run. */
  readonly sdkUrl: string | null;
  readonly logLinesLost: () => number;
}

/** The usual port for metrics of a Node program; used if it is free and no other is configured. */
const USUAL_PORT = 9464;
/** The SDK answers from memory, on this machine: after this time its metrics are left out, in milliseconds. */
const SDK_MS = 500;
/** The time limit of a statement and of connecting, in milliseconds: requests wait for neither. */
const STATEMENT_MS = 1_000;
const CONNECT_MS = 2_000;

/**
 * Starts the server.
 * @param shutdown gets the function that stops it
 * @throws UserError when the port is taken
 * @returns the address: `http://host:port`
 */
export async function startMetricsServer(options: MetricsServerOptions, shutdown: Shutdown): Promise<string> {
  const { config, databaseUrl, session, sql, healthSql, isDiskFull, metrics, own, log } = options;
  const { temporalState, hasReachedTemporal, limits, sdkUrl, logLinesLost } = options;
  const { HOST, METRICS_PORT, ROLE } = config.settings;
  const readSql = createPool(databaseUrl, 1, {
    session,
    statementMs: STATEMENT_MS,
    silenceMs: 2 * STATEMENT_MS,
    connectMs: CONNECT_MS,
  });
  await shutdown.add(() => readSql.end({ timeout: 5 }));
  watchProcess(metrics);
  metrics.info.set({ version, role: ROLE }, 1);
  const refresh = [
    readDatabaseMetrics(
      metrics,
      readSql,
      async () => (await databaseAnswers(healthSql, sql)) && !isDiskFull(),
    ),
    () => showConnections(metrics, sql),
    () => showAttempts(metrics, limits()),
    () => {
      metrics.logLinesLost.reset();
      metrics.logLinesLost.inc(logLinesLost());
    },
    () => {
      const state = temporalState();
      if (state !== 'unknown') metrics.temporalUp.set({ worker: processIdentity }, state === 'up' ? 1 : 0);
    },
  ];

  const app = new Hono<ApiEnv>();
  // Until the socket has an address, treated as if it were for this machine alone.
  let isPublic = false;
  app.use('/metrics', async (c, next) => {
    const host = c.req.header('host');
    if (isPublic || isLocalHost(host) || host?.replace(/:\d*$/, '') === HOST) return await next();
    // A foreign name that leads here may be that of a foreign page (DNS rebinding).
    return c.text('Ask for the metrics at 127.0.0.1 or localhost.\n', 403);
  });
  app.get('/metrics', async (c) => {
    const [sdk] = await Promise.all([
      sdkUrl === null ? '' : sdkMetrics(sdkUrl),
      ...refresh.map((each) => each()),
    ]);
    c.header('content-type', metrics.registry.contentType);
    return c.body(`${await metrics.registry.metrics()}${sdk}`);
  });
  systemRoutes(app, { sql, healthSql, isDiskFull, temporalState, hasReachedTemporal, version });
  const { url, address, close } = await listenSomewhere(app, HOST, METRICS_PORT);
  isPublic = !isLoopback(address);
  const stopped = logStarted(log, 'metrics', { url });
  await shutdown.add(async () => {
    await close();
    stopped();
  });
  own.addUrl(url, 80);
  return url;
}

async function sdkMetrics(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(SDK_MS) });
    return response.ok ? await response.text() : '';
  } catch {
    return '';
  }
}

async function listenSomewhere(app: Hono<ApiEnv>, host: string, port: number | undefined) {
  const variable = 'METRICS_PORT';
  if (port !== undefined) return await listen(app, host, port, { variable });
  try {
    return await listen(app, host, USUAL_PORT, { variable });
  } catch (error) {
    if (!(error instanceof PortInUse)) throw error;
    return await listen(app, host, 0, { variable });
  }
}

function showConnections(metrics: Metrics, sql: Pool): void {
  const { open, busy } = sql.connections.use();
  metrics.connections.set({ state: 'busy' }, busy);
  metrics.connections.set({ state: 'idle' }, open - busy);
  metrics.connectionsMost.set(sql.options.max);
}

function showAttempts({ attemptsOpen }: Metrics, limits: Pick<Limits, 'open' | 'hanging'> | null): void {
  if (limits === null) return;
  const hanging = limits.hanging();
  attemptsOpen.set({ receivers: 'hanging' }, hanging);
  attemptsOpen.set({ receivers: 'other' }, limits.open() - hanging);
}
