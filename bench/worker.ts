/** A worker without one of its controls (`bench/conditions.ts`): the worker role with other numbers, as its own process. */
import { pino } from 'pino';
import { startWorker } from '../src/app/worker-role.ts';
import { loadConfig } from '../src/config/config.ts';
import { POOL_SIZE } from '../src/config/variables.ts';
import { createPool } from '../src/db/pool.ts';
import { createSender } from '../src/delivery/sender.ts';
import { version } from '../src/lib/version.ts';
import { createMailer } from '../src/mail/mailer.ts';
import { createKeys } from '../src/secrets/keys.ts';
import { temporalTarget } from '../src/temporal/target.ts';
import { type Control, controls } from './conditions.ts';

const isControl = (name: string): name is Control => name in controls;

const { WITHOUT = '', ...env } = process.env;
const { settings, retryPolicy: policy, deliveryAllowCidrs: allowCidrs } = loadConfig(env);
const sql = createPool(settings.DATABASE_URL ?? '', POOL_SIZE);
const sender = createSender({
  timeoutMs: policy.attemptTimeoutMs,
  allowCidrs,
  dnsServers: settings.DNS_SERVERS,
  version,
});
const worker = await startWorker({
  sql,
  sessionSql: sql,
  sender,
  policy,
  scheduler: isControl(WITHOUT) ? controls[WITHOUT] : {},
  temporal: await temporalTarget(settings, settings.TEMPORAL_ADDRESS ?? ''),
  workflows: settings.WORKFLOWS,
  keys: createKeys(Buffer.from(env.SECRET_KEY ?? '', 'base64')),
  mailer: createMailer({ from: settings.MAIL_FROM, directory: settings.DATA_DIR }),
  publicUrl: null,
  log: pino({ level: 'warn' }, pino.destination({ fd: 2, sync: true })),
  retention: { periodMs: settings.RETENTION, scheduled: false },
});
console.log('Waybill is ready');

process.once('SIGTERM', async () => {
  await worker.stop();
  await sender.close();
  await sql.end();
});
