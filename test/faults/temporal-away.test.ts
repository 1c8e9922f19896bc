/** Temporal away: the API goes on accepting, and everything accepted goes out when it is back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { login } from '../support/client.ts';
import { createInstallation } from '../support/installation.ts';
import { freePort } from '../support/ports.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { allWorkflowIds } from '../support/workflow-ids.ts';
import { untilEnded } from '../support/workflows.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('100 orders accepted without Temporal are 100 deliveries, each once, when it is back', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-temporal-'));
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const binary = await findTemporal({ report: () => {} });
  const databaseFile = join(directory, 'temporal.db');
  let temporal: EmbeddedTemporal | undefined = await startTemporal({
    binary,
    ui: false,
    databaseFile,
    preferredPort: await freePort(),
  });
  const { address, port } = temporal;
  cleanups.push(async () => temporal?.stop());
  const installation = await createInstallation(address);
  cleanups.push(() => installation.remove());
  const receiver = await createReceiver();
  cleanups.push(() => receiver.close());
  const program = await startProgram({ ...installation.env, FIRST_ATTEMPTS: 'each' });
  cleanups.push(() => program.kill());
  const client = await login(program.url, installation.credentials);
  await client.request('POST', '/webhooks', {
    url: receiver.url,
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });
  await client.createOrder('before');
  await receiver.waitFor(1);

  await temporal.stop();
  temporal = undefined;
  const names = Array.from({ length: 100 }, (_, index) => `order ${index}`);
  for (const name of names) expect((await client.createOrder(name)).statusCode).toBe(200);
  expect(receiver.requests).toHaveLength(1);
  await until('readiness to tell', async () => {
    const body = await (await fetch(`${program.url}/readyz`)).json();
    return (body as { temporal: string }).temporal === 'down';
  });

  temporal = await startTemporal({ binary, ui: false, databaseFile, preferredPort: port });
  expect(temporal.port).toBe(port);
  await receiver.waitFor(101);
  await until('all records', async () => {
    const [row] =
      await installation.sql`select count(*)::int as open from deliveries where state <> 'delivered'`;
    return row?.open === 0;
  });
  await untilEnded(address, await allWorkflowIds(installation.sql));
  expect(receiver.requests).toHaveLength(101);
  expect(new Set(receiver.requests.map((request) => request.headers['x-service-delivery'])).size).toBe(101);
});
