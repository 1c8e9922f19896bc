/** The roles as separate processes, on a database and a Temporal server run by someone else. */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { transaction } from '../../src/db/transaction.ts';
import { createWebhook } from '../../src/db/webhooks/create.ts';
import { login } from '../support/api/client.ts';
import { recordEvent } from '../support/database/record-event.ts';
import { installationOfFile, programOfTest } from '../support/lifetimes.ts';
import type { Program } from '../support/programs/program.ts';
import { startDnsServer } from '../support/servers/dns-server.ts';
import { freePort } from '../support/servers/ports.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import { testWebhook } from '../support/test-webhook.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
const start = (env: Record<string, string>) => programOfTest({ ...installation.env, ...env });

it('an API and a worker share the work, start no servers, and deliver nothing to the API’s port', async () => {
  const dns = await startDnsServer({ 'here.example': ['127.0.0.1'] });
  onTestFinished(() => dns.close());
  const env = { DNS_SERVERS: dns.address };
  const [api, worker] = await Promise.all([
    start({ ...env, ROLE: 'api' }),
    start({ ...env, ROLE: 'worker' }),
  ]);
  expect(worker.url).toBe('');
  expect(api.output()).not.toContain('Starting');
  expect(worker.output()).not.toContain('Starting');
  // No demonstration e-shop if anything is configured.
  expect(api.output()).not.toContain('x-api-key');

  const receiver = await createReceiver({ status: 200 });
  try {
    const client = await login(api.url, installation.credentials);
    await client.request('POST', '/webhooks', {
      url: receiver.url,
      webhookType: 'CREATE_ORDER',
      active: true,
      method: 'POST',
    });
    const target = `http://here.example:${new URL(api.url).port}/healthz?`;
    const { data } = await client.request('POST', '/webhooks', {
      url: target,
      webhookType: 'CREATE_ORDER',
      active: true,
      method: 'GET',
    });
    expect((await client.createOrder('split')).statusCode).toBe(200);
    await until('the delivery', async () => receiver.requests.length > 0);
    const refused = await until('a failed attempt', async () => {
      const deliveries = await client.request('GET', `/webhooks/${data.id}/deliveries`);
      return deliveries.data.find((each: { attemptsMade: number }) => each.attemptsMade > 0);
    });
    expect(refused.lastError).toMatch(/^the address of here\.example:\d+ is not allowed$/);
  } finally {
    await receiver.close();
  }
  expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0]);
  expect(await readdir(installation.env.DATA_DIR)).not.toContain('postgres');
});

it('the API serves without Temporal, but does not start with another master key', async () => {
  const api = await start({ ROLE: 'api', TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
  await api.stop();
  await expect(start({ ROLE: 'api', SECRET_KEY: randomBytes(32).toString('base64') })).rejects.toThrow(
    'SECRET_KEY is not the one that this database was created with.',
  );
});

it('a worker is ready once it has reached Temporal, and stays so during an outage', async () => {
  const [host = '', port = ''] = installation.env.TEMPORAL_ADDRESS.split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  onTestFinished(() => proxy.close());
  const { eshopId } = installation.credentials;
  const seal = () => ({ secret: randomBytes(60), headers: null, headerNames: null });
  await createWebhook(installation.sql, eshopId, testWebhook(), seal, 1_000);
  const env = { ROLE: 'worker', METRICS_PORT: '0', TEMPORAL_ADDRESS: proxy.host };
  const [misconfigured, worker] = await Promise.all([
    start({ ...env, TEMPORAL_NAMESPACE: 'nowhere' }),
    start(env),
  ]);
  const readiness = (program: Program) =>
    fetch(`${/Metrics\s+(http:\S+)\/metrics/.exec(program.output())?.[1]}/readyz`);
  await until('readiness', async () => (await readiness(worker)).status === 200);
  const refused = await readiness(misconfigured);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({
    message: 'This worker has never reached its namespace in Temporal: the log says why.',
    database: 'up',
  });
  proxy.refuse();
  // An idle worker would not notice.
  await transaction(installation.sql, (tx) =>
    recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId: 'waits', record: {} }),
  );
  await until('the loss to be noticed', async () => {
    const ready = await readiness(worker);
    expect(ready.status).toBe(200);
    return /"temporal":"down"/.test(await ready.text());
  });
  // The SDK's native part uses our log too, but not for every try.
  await until('a line of the SDK', async () => worker.output().includes('"sdkComponent":"core"'));
  expect(worker.output()).not.toContain('\u001b');
});
