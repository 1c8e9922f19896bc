/** All of Waybill's outgoing connections over TLS, to servers that accept nothing else, under a private authority. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { createEshopWithUsers } from '../../src/app/accounts.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { migrate } from '../../src/db/migrate.ts';
import { login } from '../support/api/client.ts';
import { fireEvent } from '../support/api/recoveries.ts';
import { startPostgresWithTls } from '../support/database/postgres-backup.ts';
import { folderOfTest } from '../support/ends.ts';
import { quickEnv } from '../support/programs/installation.ts';
import { startProgram } from '../support/programs/program.ts';
import { authorityFile, behindTls, certificate } from '../support/servers/behind-tls.ts';
import { startMailServer } from '../support/servers/mail-server.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

test('Postgres, Temporal, the mail server and a receiver are all reached over TLS', async ({
  onTestFinished,
}) => {
  const tls = await certificate();
  const postgres = await startPostgresWithTls(tls);
  onTestFinished(() => postgres.destroy());
  await migrate(postgres.url);
  const sql = createPool(postgres.url, 2);
  onTestFinished(() => sql.end({ timeout: 5 }));
  await sql.unsafe(`alter table eshops alter column id restart with ${randomBytes(3).readUIntBE(0, 3) + 1}`);
  const credentials = await createEshopWithUsers(sql, { name: 'Shop', email: 'shop@example.test' });
  const temporal = await behindTls(inject('temporalAddress'));
  onTestFinished(() => temporal.close());
  const mails = await startMailServer({}, tls);
  onTestFinished(() => mails.close());
  const receiver = await createReceiver({ status: 410 }, { tls });
  onTestFinished(() => receiver.close());
  const directory = await folderOfTest('waybill-tls-');

  const env = {
    ...quickEnv,
    DATABASE_URL: postgres.url.replace('sslmode=require', 'sslmode=verify-full'),
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_TASK_QUEUE: `tls-${randomBytes(4).toString('hex')}`,
    TEMPORAL_TLS: 'true',
    // As in an image without `ca-certificates`: Temporal's core finds no authority there.
    SSL_CERT_FILE: join(directory, 'none.pem'),
    SSL_CERT_DIR: join(directory, 'none'),
    SMTP_URL: `smtps://127.0.0.1:${mails.port}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: directory,
  };
  // Postgres's certificate is verified.
  await expect(startProgram(env)).rejects.toThrow(/certificate/);
  const program = await startProgram({ ...env, NODE_EXTRA_CA_CERTS: authorityFile });
  onTestFinished(() => program.kill());
  const shop = await login(program.url, credentials);
  const url = `https://127.0.0.1:${receiver.port}`;
  await shop.request('POST', '/webhooks', { url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' });
  await fireEvent({ sql, eshopId: credentials.eshopId }, '10001');
  await receiver.waitFor(1);
  await until('the mail that its webhook is inactive', async () => mails.mails.length > 0);
  const [inUse] = await sql`select count(*)::int as plain from pg_stat_ssl join pg_stat_activity using (pid)
    where client_addr is not null and not ssl`;
  expect(inUse).toEqual({ plain: 0 });
});
