/** The part of `node_modules` that the Dockerfile keeps suffices for a program that delivers, and is much smaller. */
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { login } from '../support/api/client.ts';
import { folderOfFile } from '../support/ends.ts';
import { installationOfFile } from '../support/lifetimes.ts';
import { startProgram } from '../support/programs/program.ts';
import { createReceiver } from '../support/servers/receiver.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const run = async (program: string, ...args: string[]) =>
  (await promisify(execFile)(program, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })).stdout;
const megabytes = async () => Number.parseInt(await run('du', '-sm', 'node_modules'), 10);

const installation = await installationOfFile();
const folder = await folderOfFile('waybill-image-');
const copied = [
  'package.json',
  'package-lock.json',
  'patches',
  'bin',
  'dist',
  'test/contract/consumer/package.json',
];
for (const name of copied) await cp(join(root, name), join(folder, name), { recursive: true });
// Hard links if possible: only names are removed.
await run('sh', '-c', `cp -al "${root}node_modules" . 2>/dev/null || cp -a "${root}node_modules" .`);

test('a pruned installation starts and delivers', async ({ onTestFinished }) => {
  await run('npm', 'prune', '--omit=dev', '--no-audit', '--no-fund');
  const before = await megabytes();
  await run(process.execPath, join(root, 'deploy/prune.js'));
  expect(await megabytes()).toBeLessThan(before / 2);

  const receiver = await createReceiver();
  onTestFinished(() => receiver.close());
  const main = join(folder, 'bin/main.js');
  const program = await startProgram(installation.env, undefined, [main]);
  onTestFinished(() => program.kill());
  const client = await login(program.url, installation.credentials);
  const hook = { url: receiver.url, webhookType: 'CREATE_PRODUCT', active: true, method: 'POST' };
  expect((await client.request('POST', '/webhooks', hook)).statusCode).toBe(200);
  await client.request('POST', '/products', { sku: 'TEA', name: 'Tea' });
  await expect.poll(() => receiver.requests.length).toBe(1);

  const alone = promisify(execFile)(process.execPath, [main], {
    env: { PATH: process.env.PATH, DATA_DIR: join(folder, 'data'), PORT: '0' },
  });
  await expect(alone).rejects.toThrow('There is no embedded Postgres here: set DATABASE_URL');
});
