/** Temporal's data is deleted between two starts of the program: everything open continues by itself. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { login } from '../support/client.ts';
import { quickEnv } from '../support/installation.ts';
import { freePort } from '../support/ports.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { repaired } from '../support/repairs.ts';
import { until } from '../support/until.ts';
import { runWaybill } from '../support/waybill-command.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The time until waiting work is due: longer than a busy machine needs to get there, in milliseconds. */
const WAIT_MS = 120_000;

test('50 deliveries under retry and 3 pre-orders waiting', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-lost-'));
  await chmod(directory, 0o755);
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const receiver = await createReceiver({ status: 503 });
  cleanups.push(() => receiver.close());
  const env = {
    ...quickEnv,
    DATA_DIR: directory,
    RETRY_INITIAL_INTERVAL: `${WAIT_MS}ms`,
  };
  // Its own ports: another instance may use the standard ones.
  for (const name of ['temporal-port', 'temporal-ui-port']) {
    await writeFile(join(directory, name), `${await freePort()}\n`);
  }
  const first = await startProgram(env);
  cleanups.push(() => first.stop());
  const credentials = JSON.parse(await readFile(join(directory, 'demonstration.json'), 'utf8'));
  const before = await login(first.url, credentials);
  await before.request('POST', '/webhooks', {
    url: receiver.url,
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });
  const releaseAt = new Date(Date.now() + WAIT_MS).toISOString();
  const names = Array.from({ length: 50 }, (_, index) => `order ${index}`);
  const preOrders = names.slice(0, 3);
  for (const name of names) {
    const more = preOrders.includes(name) ? { status: 'preOrder', releaseAt } : {};
    expect(await before.createOrder(name, more)).toMatchObject({ statusCode: 200 });
  }
  await receiver.waitFor(50);
  await until('all under retry', async () => {
    const { data } = await before.request('GET', '/webhooks/1/deliveries?state=retrying&items=100');
    return data.length === 50;
  });
  await until('every workflow', async () => {
    const { database } = JSON.parse(await runWaybill(['status', '--json'], { DATA_DIR: directory }));
    return database.outbox.undelivered === 0;
  });
  await first.stop();
  await rm(join(directory, 'temporal'), { recursive: true });

  receiver.respond({ status: 200 });
  const second = await startProgram(env);
  cleanups.push(() => second.stop());
  const after = await login(second.url, credentials);
  await until(
    'all repaired',
    async () => Object.values(repaired(second.output())).reduce((a, b) => a + b, 0) >= 53,
  );
  expect(repaired(second.output())).toEqual({
    'delivery startedAgain missing': 50,
    'release startedAgain missing': 3,
  });
  await receiver.waitFor(100, WAIT_MS + 60_000);
  for (const name of preOrders) {
    await until(`${name} released`, async () => {
      const { data } = await after.request('GET', `/orders/${encodeURIComponent(name)}`);
      return data.status === 'preReceived';
    });
  }
  const attempts = receiver.requests.map(({ headers, text }) => {
    return `${JSON.parse(text).eshopOrderId}: ${headers['x-service-attempt']}`;
  });
  expect(attempts.sort()).toEqual(names.flatMap((name) => [`${name}: 1`, `${name}: 2`]).sort());
});
