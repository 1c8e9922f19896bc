/** `npm start`: reads the configuration, starts the parts of the configured roles, and stops them in reverse. */
import type { Logger } from 'pino';
import { banner } from './app/banner.ts';
import { openDatabase } from './app/database.ts';
import { demonstrationEshop } from './app/demonstration.ts';
import { instanceEndpoints } from './app/instance-endpoints.ts';
import { configuredMailer, mailFolderOf } from './app/mails.ts';
import { masterKeys } from './app/master-key.ts';
import { startMetricsServer } from './app/metrics-server.ts';
import { configuredSender, plainUrls, proxyNotice, uncheckedTls } from './app/outgoing.ts';
import type { RunningWorker } from './app/worker-role.ts';
import { type Config, loadConfig } from './config/config.ts';
import { loadDataFiles } from './config/data-files.ts';
import { withSecretFiles } from './config/secret-files.ts';
import { tracedSender } from './delivery/traced-sender.ts';
import { startEmbedded } from './embedded/index.ts';
import { hiddenAddress } from './embedded/ui-guard.ts';
import { requireHost, requirePorts } from './http/http-server.ts';
import { databaseProblem } from './lib/database-away.ts';
import { createShutdown, INTERRUPTED, onInterruption, onNpmGone } from './lib/shutdown.ts';
import { shownError, UserError } from './lib/user-error.ts';
import { createLog } from './log/log.ts';
import { openOutput } from './log/output.ts';
import { createMetrics } from './metrics/metrics.ts';
import { temporalTarget } from './temporal/target.ts';
import { startTraces } from './traces/start-traces.ts';
import { untraced } from './traces/traces.ts';

// Their reader may be slow, or gone: no reason to wait, or to leave servers running.
const stdout = openOutput(process.stdout);
const stderr = openOutput(process.stderr);

function print(text: string): void {
  stdout.write(`${text}\n`);
}

/** The time to stop until the configuration is known, in milliseconds. */
const STARTUP_STOP_TIMEOUT_MS = 10_000;

let config: Config | undefined;
/** Until it is there, an error is a sentence on stderr. */
let openedLog: Logger | undefined;
/** The parts that run, in the order in which they were started. */
const parts = createShutdown(print);
const stop = () => parts.stop(config?.shutdownGraceMs ?? STARTUP_STOP_TIMEOUT_MS);

/** Starts the parts, each after those that it needs: `parts.starting` takes the start of one and its stop. */
async function main(): Promise<void> {
  config = loadConfig(withSecretFiles(process.env));
  const { settings } = config;
  const log = await prepare(config);
  openedLog = log;

  const traces = await parts.starting(startTraces(settings, log), async (it) => it?.stop());
  // That takes longer than loading all the rest of the program.
  const loadRoles = () =>
    Promise.all([
      settings.ROLE === 'worker' ? null : import('./app/api-role.ts'),
      settings.ROLE === 'api' ? null : import('./app/worker-role.ts'),
    ]);
  const embedded = await startEmbedded(config, print, parts, () => requireFreePorts(settings), loadRoles);
  const [apiRole, workerRole] = await loadRoles();
  const opening = openDatabase(embedded.databaseUrl, settings, log, print);
  const database = await parts.starting(opening, (it) => it.close());
  const { sql, healthSql, sessionSql, session, isDiskFull } = database;
  const keys = await masterKeys(sql, settings, embedded.dataDir);
  const demonstration = config.unconfigured ? await demonstrationEshop(sql, embedded.dataDir) : null;
  const own = instanceEndpoints(config, embedded);
  const sender = tracedSender(configuredSender(config, own), traces ?? untraced);
  await parts.add(() => sender.close());

  let worker: RunningWorker | undefined;
  const metrics = createMetrics();
  const temporalState = () => worker?.temporalState() ?? 'unknown';
  const hasReachedTemporal = () => settings.ROLE !== 'worker' || (worker?.hasReachedTemporal() ?? false);
  // It answers under any host name: no foreign page is to guess where.
  const sdkMetrics = workerRole === null ? null : await hiddenAddress();
  const sdkMetricsAddress = sdkMetrics === null ? null : `${sdkMetrics.host}:${sdkMetrics.port}`;
  const sdkUrl = sdkMetricsAddress === null ? null : `http://${sdkMetricsAddress}/metrics`;
  if (sdkUrl !== null) own.addUrl(sdkUrl, 80);
  const shared = { config, sql, healthSql, isDiskFull, metrics, own, temporalState, log };
  const { databaseUrl } = embedded;
  const limits = () => worker?.limits ?? null;
  const sources = { databaseUrl, session, hasReachedTemporal, limits, sdkUrl, logLinesLost: stderr.lost };
  const metricsUrl = await startMetricsServer({ ...shared, ...sources }, parts);
  if (workerRole !== null) {
    const starting = workerRole.startWorker({
      sql,
      sessionSql,
      retention: { periodMs: settings.RETENTION, scheduled: true },
      temporal: await temporalTarget(settings, embedded.temporalAddress),
      policy: config.retryPolicy,
      workflows: settings.WORKFLOWS,
      keys,
      sender,
      isDiskFull,
      mailer: await configuredMailer(sql, settings, embedded.dataDir, print),
      publicUrl: settings.PUBLIC_URL ?? null,
      log,
      metrics,
      onBroken: (error) => void fail(error),
      traces,
      ...(sdkMetricsAddress === null ? {} : { sdkMetricsAddress }),
    });
    worker = await parts.starting(starting, (it) => it.stop());
  }
  const apiUrl =
    apiRole === null ? null : await apiRole.startApi({ ...shared, keys, sender, traces, embedded }, parts);

  await embedded.announce(apiUrl, sdkUrl === null ? [metricsUrl] : [metricsUrl, sdkUrl]);
  print(
    banner({
      apiUrl,
      metricsUrl,
      temporalUiUrl: embedded.temporalUiUrl ?? settings.TEMPORAL_UI_URL ?? null,
      temporalAddress: embedded.temporalAddress,
      mailDirectory: workerRole === null ? null : mailFolderOf(settings, embedded.dataDir),
      allowCidrs: config.deliveryAllowCidrs,
      demonstration,
      dataDir: settings.DATA_DIR,
    }),
  );
}

/** Reports problems with the configuration before databases are created. @returns the log */
async function prepare({ settings }: Config) {
  await requireHost(settings.HOST);
  if (settings.ROLE !== 'worker') await loadDataFiles(settings);
  const log = await createLog({
    level: settings.LOG_LEVEL,
    role: settings.ROLE,
    terminal: process.stderr.isTTY,
    colors: process.stderr.isTTY && process.stderr.hasColors(),
    to: stderr,
  });
  const notices = [uncheckedTls(process.env), plainUrls({ settings }), proxyNotice({ settings })];
  for (const notice of notices) if (notice !== null) print(notice);
  return log;
}

/** @throws UserError if a port on which this process will listen is taken */
async function requireFreePorts({ ROLE, HOST, PORT, METRICS_PORT }: Config['settings']): Promise<void> {
  await requirePorts(HOST, {
    ...(ROLE === 'worker' ? {} : { PORT }),
    ...(METRICS_PORT === undefined ? {} : { METRICS_PORT }),
  });
}

/** Says the error, as a line of the log or to a person; stops all started parts, and exits. */
async function fail(error: unknown): Promise<void> {
  // Interrupted while starting: later errors do not matter.
  if (parts.signal.aborted) return;
  const err = databaseProblem(error);
  if (process.stderr.isTTY || !openedLog?.isLevelEnabled('fatal')) stderr.write(`${shownError(err)}\n`);
  else openedLog.fatal(err instanceof UserError ? { reason: err.message } : { err }, 'the process ends');
  await stop();
  process.exit(1);
}

function end(): void {
  if (parts.signal.aborted) return;
  print('Stopping: waiting for attempts in progress …');
  void stop().then((clean) => process.exit(clean ? 0 : 1));
}

onNpmGone(end);
onInterruption((times) => {
  if (times === 1) end();
  // Hurrying loses nothing but the order; embedded servers are still stopped.
  if (times === 2) parts.hurry();
  if (times === 3) process.exit(INTERRUPTED);
});
process.on('uncaughtException', (error) => void fail(error));

main().catch(fail);
