/**
 * Both packages as a stranger installs them, each into an empty folder, by another user, with an empty cache, from
 * archive and registry: up to a signed delivery and an examination. No script of any package runs.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { login } from '../support/api/client.ts';
import { folderOfFile } from '../support/ends.ts';
import { banner, npmStart, processesOf, type Started, signalGroup } from '../support/programs/npm-start.ts';
import { runProgram } from '../support/programs/run-program.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

const root = resolve(import.meta.dirname, '../..');
/** `nobody` on most systems. */
const NOBODY = 65_534;
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;

const stop: (() => Promise<unknown>)[] = [];

/** A new folder of the stranger's. */
async function ownFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  if (user !== undefined) await chown(path, user.uid, user.gid);
  return path;
}
const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  HOME: join(folder, 'home'),
  npm_config_cache: join(folder, 'home/cache'),
  npm_config_ignore_scripts: 'true',
  npm_config_update_notifier: 'false',
  ...more,
});
/** Runs a command as the stranger. @throws Error with its output if it fails */
async function run(
  cwd: string,
  command: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [program = '', ...args] = command.split(' ');
  return await runProgram(program, args, { cwd, ...user, env: environment(more) });
}

const folder = await folderOfFile('waybill-installed-');
await chmod(folder, 0o755);
await ownFolder('home');
// Where Temporal comes from is tried elsewhere, and takes a download of 50 MB.
await mkdir(join(folder, 'bin'));
const temporal = join(folder, 'bin/temporal');
await copyFile(await findTemporal({ report: () => {} }), temporal);
await chmod(temporal, 0o755);
const pack = async (from: string) => {
  const args = ['pack', from, '--pack-destination', folder, '--loglevel=error', '--silent'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: root });
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
};
const archives: Readonly<Record<'server' | 'receiver', string>> = {
  server: await pack('.'),
  receiver: await pack('./receiver'),
};
afterAll(async () => {
  for (const each of stop.reverse()) await each();
  for (const pid of await processesOf(folder)) process.kill(pid, 'SIGKILL');
});

it('both packages lead from nothing to a signed and examined delivery', async () => {
  const warehouse = await ownFolder('warehouse');
  await run(warehouse, `npm install ${archives.server} --no-audit --no-fund`);
  expect(await run(warehouse, 'npx --no waybill variables')).toContain('DATABASE_URL');
  const started: Started = npmStart({
    dataDir: join(warehouse, '.waybill'),
    cwd: warehouse,
    command: ['npx', '--no', 'waybill', 'start'],
    env: environment({ METRICS_PORT: '0' }),
    ...(user === undefined ? {} : { user }),
  });
  stop.push(async () => {
    signalGroup(started.pid, 'SIGINT');
    await started.ended;
  });
  const said = await banner(started);

  const shop = await ownFolder('shop');
  await run(shop, `npm install ${archives.receiver} --no-audit --no-fund`);
  await writeFile(
    join(shop, 'receiver.mjs'),
    `import { createServer } from 'node:http';
     import { memoryStore, receiver } from '@waybill-hq/receiver';
     import { nodeListener } from '@waybill-hq/receiver/node';
     const hooks = receiver({ secrets: process.env.WEBHOOK_SECRET, store: memoryStore() })
       .on('CREATE_ORDER', ({ eshopOrderId }) => console.log('got ' + eshopOrderId));
     createServer(nodeListener(hooks)).listen(Number(process.env.PORT), '127.0.0.1');`,
  );
  const port = await freePort();
  const [username = '', password = ''] = (said['Shop user'] ?? '').split(' / ');
  const { API = '', 'x-api-key': apiKey = '' } = said;
  const client = await login(API.replace(/\/v21$/, ''), {
    apiKey,
    username,
    password,
    eshopId: 1,
    warehouse: { username, password },
  });
  const url = `http://127.0.0.1:${port}/`;
  const webhook = { url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  const { secret, id } = (await client.request('POST', '/webhooks', webhook)).data;
  const receiver: Started = npmStart({
    dataDir: '',
    cwd: shop,
    command: ['node', 'receiver.mjs'],
    env: environment({ WEBHOOK_SECRET: secret, PORT: String(port) }),
    ...(user === undefined ? {} : { user }),
  });
  stop.push(async () => {
    signalGroup(receiver.pid, 'SIGKILL');
    await receiver.ended;
  });
  await until('the receiver to listen', () => fetch(url).catch(() => undefined));
  await client.createOrder('10001');
  await until('the delivery', async () => receiver.output().includes('got 10001'));
  await until('its record', async () => {
    const { data } = await client.request('GET', `/webhooks/${id}/deliveries`);
    return data[0]?.state === 'delivered';
  });
  const verdicts = await run(shop, `npx --no waybill-receiver examine ${url}`, { WEBHOOK_SECRET: secret });
  expect(verdicts).not.toMatch(/^(?:fail|warning) /m);
  expect(verdicts).toMatch(/^ok /m);

  // Its own lock: a second start in the same folder knows the first for a Waybill.
  await expect(run(warehouse, 'npx --no waybill start', { PORT: '0', METRICS_PORT: '0' })).rejects.toThrow(
    /is in use by process \d+/,
  );
});

it('the server refuses to start with an unpatched library', async () => {
  const path = join(
    folder,
    'warehouse/node_modules/@waybill-hq/server/node_modules/postgres/src/connection.js',
  );
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('ready', 'ready2'));
  await expect(run(join(folder, 'warehouse'), 'npx --no waybill start')).rejects.toThrow(
    'The package postgres lacks its patch: install Waybill again, with npm.',
  );
});
