/** kill -9 of everything in mid-delivery: the program, its Postgres and its Temporal. Nothing accepted is lost. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { processesNaming } from '../../faults/stack/processes.ts';
import { login } from '../support/client.ts';
import { quickEnv } from '../support/installation.ts';
import { startProgram } from '../support/program.ts';
import { createReceiver } from '../support/receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test('every delivery of every accepted order arrives after the restart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-killed-'));
  await chmod(directory, 0o755);
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const receiver = await createReceiver({ delayMs: 300 });
  cleanups.push(() => receiver.close());
  const env = { ...quickEnv, DATA_DIR: directory, RETRY_INITIAL_INTERVAL: '200ms' };
  const first = await startProgram(env);
  const credentials = JSON.parse(await readFile(join(directory, 'demonstration.json'), 'utf8'));
  const client = await login(first.url, credentials);
  await client.request('POST', '/webhooks', {
    url: receiver.url,
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });
  const accepted: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    const { statusCode } = await client.createOrder(`order ${index}`);
    if (statusCode === 200) accepted.push(`order ${index}`);
  }
  await receiver.waitFor(3);
  await first.kill();
  for (const pid of await processesNaming(directory)) process.kill(pid, 'SIGKILL');

  const second = await startProgram(env);
  cleanups.push(() => second.stop());
  const names = () =>
    new Set(receiver.requests.map((request) => JSON.parse(request.text).eshopOrderId as string));
  await receiver.waitFor(() => accepted.every((name) => names().has(name)));
  expect(accepted).toHaveLength(30);
  expect([...names()].sort()).toEqual([...accepted].sort());
  expect(await second.stop()).toBe(0);
  expect(await processesNaming(directory)).toEqual([]);
});
