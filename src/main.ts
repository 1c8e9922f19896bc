/** `npm start`: reads the configuration, starts the configured roles, and stops them in order. */
import { banner } from './app/banner.ts';
import { demonstrationEshop } from './app/demonstration.ts';
import { instanceEndpoints } from './app/instance-endpoints.ts';
import { masterKeys } from './app/master-key.ts';
import { startMetricsServer } from './app/metrics-server.ts';
import { configuredSender, plainUrls, proxyNotice } from './app/outgoing.ts';
import { rolesOf } from './app/roles.ts';
import { uncheckedTls } from './app/unchecked-tls.ts';
import type { RunningWorker } from './app/worker-role.ts';
import { type Config, loadConfig } from './config/config.ts';
import { loadDataFiles } from './config/data-files.ts';
import { withSecretFiles } from './config/secret-files.ts';
import { POOL_SIZE } from './config/variables.ts';
import { watchDisk } from './db/disk.ts';
import { noteMailFolder } from './db/mail-folder.ts';
import { migrate } from './db/migrate.ts';
import { notifierOf } from './db/outbox/notify.ts';
import { createPool, type Pool } from './db/pool.ts';
import { createSessionPool, inspectServer } from './db/server.ts';
import { tracedSender } from './delivery/traced-sender.ts';
import { counted } from './domain/text.ts';
import { startEmbedded } from './embedded/index.ts';
import { hiddenAddress } from './embedded/ui-guard.ts';
import { requireHost, requirePorts } from './http/http-server.ts';
import { databaseProblem } from './lib/database-away.ts';
import { createShutdown, INTERRUPTED, onInterruption, onNpmGone } from './lib/shutdown.ts';
import { shownError } from './lib/user-error.ts';
import { createLog } from './log/log.ts';
import { openOutput } from './log/output.ts';
import { createMailer } from './mail/mailer.ts';
import { createMetrics } from './metrics/metrics.ts';
import { makeAhead } from './retention/retain.ts';
import { createActionRequester } from './temporal/action-requester.ts';
import { temporalTarget } from './temporal/target.ts';
import { createUiLinks } from './temporal/ui-links.ts';
import { startTraces, tracesAreOn } from './traces/start-traces.ts';
import { untraced } from './traces/traces.ts';

// Their reader may be slow, or gone: no reason to wait, or to leave servers running.
const stdout = openOutput(process.stdout);
const stderr = openOutput(process.stderr);

function print(text: string): void {
  stdout.write(`${text}\n`);
}

/** The time to stop until the configuration is known, in milliseconds. */
const STARTUP_STOP_TIMEOUT_MS = 10_000;

const shutdown = createShutdown(print);
let config: Config | undefined;
const stop = () => shutdown.stop(config?.shutdownGraceMs ?? STARTUP_STOP_TIMEOUT_MS);

async function main(): Promise<void> {
  config = loadConfig(withSecretFiles(process.env));
  const { settings } = config;
  // Problems with these are reported before databases are created.
  await requireHost(settings.HOST);
  if (settings.ROLE !== 'worker') await loadDataFiles(settings);
  const log = await createLog({
    level: settings.LOG_LEVEL,
    role: settings.ROLE,
    terminal: process.stderr.isTTY,
    colors: process.stderr.isTTY && process.stderr.hasColors(),
    traced: tracesAreOn(settings),
    to: stderr,
  });
  const unchecked = uncheckedTls(process.env);
  if (unchecked !== null) print(unchecked);
  for (const notice of [plainUrls(config), proxyNotice(config)]) if (notice !== null) print(notice);
  const traces = await startTraces(settings, log);
  await shutdown.add(async () => traces?.stop());

  const { HOST, PORT, METRICS_PORT } = settings;
  const ports = {
    ...(settings.ROLE === 'worker' ? {} : { PORT }),
    ...(METRICS_PORT === undefined ? {} : { METRICS_PORT }),
  };
  const loadRoles = () => rolesOf(settings.ROLE);
  const embedded = await startEmbedded(config, print, shutdown, () => requirePorts(HOST, ports), loadRoles);
  const [apiRole, workerRole] = await loadRoles();
  const { databaseUrl } = embedded;
  const { pooled, applied } = await prepareDatabase(databaseUrl);
  const latest = applied.at(-1);
  if (latest !== undefined)
    print(`Database: ${counted(applied.length, 'migration')} applied, up to ${latest}`);
  const session = !pooled;
  const sql = createPool(databaseUrl, POOL_SIZE, { session });
  const healthSql = createPool(databaseUrl, 1, { session });
  for (const pool of [sql, healthSql]) await shutdown.add(() => pool.end({ timeout: 5 }));
  const sessionSql = await sessionPool(sql, pooled, settings.DATABASE_DIRECT_URL);
  await shutdown.add(async () => sessionSql?.end({ timeout: 5 }));
  const disk = watchDisk({
    pools: sessionSql === null || sessionSql === sql ? [sql] : [sql, sessionSql],
    sql: healthSql,
    onChange(isFull) {
      if (isFull) log.error("the database's disk is full: writes fail until there is room");
      else log.info("the database's disk has room again");
    },
  });
  await shutdown.add(() => disk.stop());
  // After weeks without a worker the current week may have no partitions; nothing is lost without them.
  await makeAhead(sql).catch((error: unknown) =>
    log.warn({ err: error }, 'partitions could not be made ahead'),
  );
  const keys = await masterKeys(sql, settings, embedded.dataDir);
  const demonstration = config.unconfigured ? await demonstrationEshop(sql, embedded.dataDir) : null;
  await shutdown.add(() => notifierOf(sql).close());

  const own = instanceEndpoints(config, embedded);
  const sender = tracedSender(configuredSender(config, own), traces ?? untraced);
  await shutdown.add(() => sender.close());
  let worker: RunningWorker | undefined;
  const temporalState = () => worker?.temporalState() ?? 'unknown';
  const hasReachedTemporal = () => settings.ROLE !== 'worker' || (worker?.hasReachedTemporal() ?? false);
  const metrics = createMetrics();
  // It answers under any host name: no foreign page is to guess where.
  const sdkMetrics = settings.ROLE === 'api' ? null : await hiddenAddress();
  const sdkMetricsAddress = sdkMetrics === null ? null : `${sdkMetrics.host}:${sdkMetrics.port}`;
  const sdkUrl = sdkMetricsAddress === null ? null : `http://${sdkMetricsAddress}/metrics`;
  if (sdkUrl !== null) own.addUrl(sdkUrl, 80);
  const shared = { config, sql, healthSql, isDiskFull: disk.isFull, metrics, own, temporalState, log };
  const metricsUrl = await startMetricsServer(
    { ...shared, databaseUrl, session, hasReachedTemporal, sdkUrl, logLinesLost: stderr.lost },
    shutdown,
  );
  if (workerRole !== null) {
    const directory = embedded.dataDir.join('mail');
    const mailer = createMailer({
      from: settings.MAIL_FROM,
      directory,
      ...(settings.SMTP_URL === undefined ? {} : { smtpUrl: settings.SMTP_URL }),
    });
    // With the embedded database this is a trial, and the banner shows the folder.
    const trial = settings.DATABASE_URL === undefined;
    const folder = settings.SMTP_URL === undefined ? directory : null;
    await noteMailFolder(sql, folder, trial);
    if (folder !== null && !trial)
      print(`Mails: SMTP_URL is not set, so nobody gets them: they are written to ${folder}.`);
    const temporal = await temporalTarget(settings, embedded.temporalAddress);
    const starting = workerRole.startWorker({
      retention: { periodMs: settings.RETENTION, scheduled: true },
      sql,
      sessionSql,
      temporal,
      policy: config.retryPolicy,
      workflows: settings.WORKFLOWS,
      keys,
      sender,
      mailer,
      publicUrl: settings.PUBLIC_URL ?? null,
      log,
      metrics,
      onBroken: (error) => void fail(error),
      ...(traces === null ? {} : { traces }),
      ...(sdkMetricsAddress === null ? {} : { sdkMetricsAddress }),
    });
    worker = await shutdown.starting(starting, (running) => running.stop());
  }

  let apiUrl: string | null = null;
  if (apiRole !== null) {
    const address = embedded.temporalAddress;
    const requester = address === '' ? null : createActionRequester(config, sql, address);
    await shutdown.add(async () => requester?.close());
    const requestAction = requester?.requestAction ?? null;
    const uiUrl = settings.TEMPORAL_UI_URL ?? embedded.temporalUiUrl;
    const temporal = uiUrl === null ? null : createUiLinks(uiUrl, settings.TEMPORAL_NAMESPACE, sql);
    apiUrl = await apiRole.startApi({ ...shared, keys, sender, traces, requestAction, temporal }, shutdown);
  }
  await embedded.announce(apiUrl, sdkUrl === null ? [metricsUrl] : [metricsUrl, sdkUrl]);
  print(
    banner({
      apiUrl,
      metricsUrl,
      temporalUiUrl: embedded.temporalUiUrl ?? settings.TEMPORAL_UI_URL ?? null,
      temporalAddress: embedded.temporalAddress,
      mailDirectory:
        settings.ROLE !== 'api' && settings.SMTP_URL === undefined ? embedded.dataDir.join('mail') : null,
      allowCidrs: config.deliveryAllowCidrs,
      demonstration,
      dataDir: settings.DATA_DIR,
    }),
  );
}

/** Inspects the database, and migrates it. */
async function prepareDatabase(url: string) {
  const { pooled } = await inspectServer(url);
  return { pooled, applied: await migrate(url, { say: print }) };
}

/** Direct sessions with the server; null if there are none: work is polled for. */
async function sessionPool(sql: Pool, pooled: boolean, directUrl: string | undefined): Promise<Pool | null> {
  if (directUrl !== undefined) return await createSessionPool(sql, directUrl);
  if (!pooled) return sql;
  print(
    'Database: a pooler is in front of it, and DATABASE_DIRECT_URL is not set: work is looked for once a second.',
  );
  return null;
}

/** Prints the error, stops all started parts, and exits. */
async function fail(error: unknown): Promise<void> {
  // Interrupted while starting: later errors do not matter.
  if (shutdown.signal.aborted) return;
  stderr.write(`${shownError(databaseProblem(error))}\n`);
  await stop();
  process.exit(1);
}

/** Stops in order, and exits. */
function end(): void {
  if (shutdown.signal.aborted) return;
  print('Stopping: waiting for attempts in progress …');
  void stop().then((clean) => process.exit(clean ? 0 : 1));
}

onNpmGone(end);
onInterruption((times) => {
  if (times === 1) end();
  // Hurrying loses nothing but the order; embedded servers are still stopped.
  if (times === 2) shutdown.hurry();
  if (times === 3) process.exit(INTERRUPTED);
});
process.on('uncaughtException', (error) => void fail(error));

main().catch(fail);
