/**
 * `npm start`: reads the configuration, starts the roles asked for, stops them in order.
 * @module
 */
import pino from 'pino';
import { createApp } from './api/app.ts';
import { banner } from './banner.ts';
import { loadConfig, MOST_CONNECTIONS, POOL_SIZE } from './config.ts';
import { loadMarketplaces, loadShipperCatalogue } from './data-files.ts';
import { migrate } from './db/migrate.ts';
import { notifierOf } from './db/outbox/notify.ts';
import { createPool } from './db/pool.ts';
import { createAddressGuard } from './delivery/address-guard.ts';
import { destinationProblem } from './delivery/destination.ts';
import { createSender } from './delivery/sender.ts';
import { demonstrationEshop } from './demonstration.ts';
import { startEmbedded } from './embedded/index.ts';
import { listen } from './http-server.ts';
import { instanceEndpoints } from './instance-endpoints.ts';
import { createMailer } from './mail/mailer.ts';
import { masterKeys } from './master-key.ts';
import { createStops, type Stop } from './stops.ts';
import { temporalTarget } from './temporal/target.ts';
import { version } from './version.ts';
import { type RunningWorker, startWorker } from './worker-role.ts';

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const stops = createStops(say);
/** Until the configuration is known, in milliseconds. */
let graceMs = 10_000;

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const { settings } = config;
  // Log lines go to stderr: stdout is for the person who started us.
  const log = pino(
    { level: settings.LOG_LEVEL, base: { role: settings.ROLE } },
    pino.destination({ fd: 2, sync: false }),
  );

  graceMs = config.shutdownGraceMs;

  const started = (stop: Stop) => stops.add(stop);
  const embedded = await startEmbedded(config, say, (stop) => stops.add(stop, true));

  for (const name of await migrate(embedded.databaseUrl, { say })) say(`Database: applied ${name}`);
  const sql = createPool(embedded.databaseUrl, POOL_SIZE);
  await started(() => sql.end({ timeout: 5 }));
  const keys = await masterKeys(sql, settings, embedded.dataDir);
  const demonstration = config.unconfigured ? await demonstrationEshop(sql, embedded.dataDir) : null;
  await started(() => notifierOf(sql).close());

  const own = instanceEndpoints(config, embedded);

  let worker: RunningWorker | undefined;
  if (settings.ROLE !== 'api') {
    const sender = createSender({
      timeoutMs: config.retryPolicy.attemptTimeoutMs,
      allowCidrs: config.deliveryAllowCidrs,
      own,
      dnsServers: settings.DNS_SERVERS,
      version,
    });
    await started(() => sender.close());
    const mailer = createMailer({
      from: settings.MAIL_FROM,
      directory: embedded.dataDir.join('mail'),
      ...(settings.SMTP_URL === undefined ? {} : { smtpUrl: settings.SMTP_URL }),
    });
    const running = await startWorker({
      sql,
      temporal: await temporalTarget(settings, embedded.temporalAddress),
      policy: config.retryPolicy,
      keys,
      sender,
      mailer,
      log,
    });
    await started(() => running.stop());
    worker = running;
  }

  let apiUrl: string | null = null;
  if (settings.ROLE !== 'worker') {
    const guard = createAddressGuard(config.deliveryAllowCidrs, own);
    const healthSql = createPool(embedded.databaseUrl, 1);
    await started(() => healthSql.end({ timeout: 5 }));
    const app = createApp({
      sql,
      healthSql,
      log,
      keys,
      version,
      temporalState: () => worker?.temporalState() ?? 'unknown',
      loginLimits: { perAddress: settings.LOGIN_LIMIT_PER_ADDRESS },
      trustProxy: settings.TRUST_PROXY,
      destinationProblem: (url) => destinationProblem(guard, url),
      budget: {
        requests: settings.ESHOP_REQUESTS,
        connections: settings.ESHOP_CONNECTIONS,
        allConnections: MOST_CONNECTIONS,
        bytesPerSecond: settings.ESHOP_MIB_PER_SECOND * 1024 * 1024,
      },
      shipperCatalogue: await loadShipperCatalogue(settings.SHIPPER_SERVICES_FILE),
      marketplaces: await loadMarketplaces(settings.MARKETPLACES_FILE),
    });
    const server = await listen(app, settings.HOST, settings.PORT, {
      maxConnections: settings.MAX_CONNECTIONS,
    });
    await started(() => server.close());
    apiUrl = server.url;
    own.addUrl(apiUrl, 80);
  }
  await embedded.announce(apiUrl);
  say(
    banner({
      apiUrl,
      temporalUiUrl: embedded.temporalUiUrl,
      mailDirectory:
        settings.ROLE !== 'api' && settings.SMTP_URL === undefined ? embedded.dataDir.join('mail') : null,
      allowCidrs: config.deliveryAllowCidrs,
      demonstration,
      dataDir: settings.DATA_DIR,
    }),
  );
}

/** One Ctrl-C arrives twice under `npm start`: from the terminal, and passed on by npm. In milliseconds. */
const SAME_KEYSTROKE_MS = 500;
/** What is just being started gets this long to be ready to be stopped, in milliseconds. */
const HALF_STARTED_MS = 15_000;
let askedAt: number | undefined;
let settled: Promise<unknown> = Promise.resolve();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (askedAt !== undefined) {
      // A second Ctrl-C: whoever is in a hurry loses no data, only the order.
      if (signal === 'SIGINT' && Date.now() - askedAt > SAME_KEYSTROKE_MS) process.exit(130);
      return;
    }
    askedAt = Date.now();
    say('Stopping: attempts under way finish …');
    const patience = new Promise((resolve) => setTimeout(resolve, HALF_STARTED_MS));
    void stops.all(graceMs).then(async (clean) => {
      await Promise.race([settled, patience]);
      process.exit(clean ? 0 : 1);
    });
  });
}

settled = main().catch(async (error: unknown) => {
  // Asked to stop while starting: what failed on the way is no news.
  if (stops.stopping) return;
  const foreseen = error instanceof Error && ['ConfigError', 'DataDirError', 'Error'].includes(error.name);
  const text = foreseen ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  await stops.all(graceMs);
  process.exit(1);
});
