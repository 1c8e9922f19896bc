/** The dev server of `npm start` and of the tests. */
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal.ts';
import { findTemporal } from '../../src/embedded/temporal-binary.ts';
import { folderOfTest } from '../support/ends.ts';
import { freePort } from '../support/servers/ports.ts';
import { until } from '../support/until.ts';

/** A program that records its port, does this, and is then the real one. */
async function pretended(directory: string, first: string): Promise<string> {
  const program = join(directory, 'temporal');
  const real = await findTemporal({ report: () => {} });
  await writeFile(program, `#!/bin/sh\necho "$6" >> '${directory}/ports'\n${first}\nexec '${real}' "$@"\n`);
  await chmod(program, 0o755);
  return program;
}

/** As many as the product makes: a start that the program lets through may find its ports taken by other tests. */
const MAX_STARTS = 3;

test.each([
  [1, 2],
  [MAX_STARTS, MAX_STARTS],
])(
  'a server that exits at once %d times is started at least %d times, each on another port',
  async (failures, starts) => {
    const directory = await folderOfTest('waybill-temporal-');
    // Like one whose port is taken.
    const exits = `[ "$(wc -l < '${directory}/ports')" -le ${failures} ] && exit 1`;
    const started = startTemporal({ binary: await pretended(directory, exits), ui: false });
    if (failures < starts) await (await started).stop();
    else await expect(started).rejects.toThrow(/^Temporal exited immediately\.$/);
    const ports = (await readFile(join(directory, 'ports'), 'utf8')).trim().split('\n');
    expect(ports.length).toBeGreaterThanOrEqual(starts);
    expect(ports.length).toBeLessThanOrEqual(MAX_STARTS);
    expect(new Set(ports).size).toBe(ports.length);
  },
);

test('two servers that begin on one port at the same moment end up on different ones', async () => {
  const directory = await folderOfTest('waybill-temporal-');
  const preferredPort = await freePort();
  const noted = () => readFile(join(directory, 'ports'), 'utf8').catch(() => '');
  const over = new AbortController();
  const running: Promise<EmbeddedTemporal>[] = [];
  try {
    const waits = `while [ ! -e '${directory}/begin' ]; do sleep 0.05; done`;
    const binary = await pretended(directory, waits);
    const late = startTemporal({ binary, ui: false, preferredPort, signal: over.signal });
    running.push(late);
    await until('the port is chosen', async () => (await noted()).endsWith('\n'));
    const early = startTemporal({
      binary: await findTemporal({ report: () => {} }),
      ui: false,
      preferredPort,
    });
    running.push(early);
    expect((await early).port).toBe(preferredPort);
    await writeFile(join(directory, 'begin'), '');

    expect((await late).port).not.toBe(preferredPort);

    const ports = (await noted()).trim().split('\n').map(Number);
    expect(ports).toEqual([preferredPort, (await late).port]);
  } finally {
    over.abort();
    for (const started of running) await started.then((server) => server.stop()).catch(() => {});
  }
});

/** The status of a request for the UI's settings under this host name. */
function statusFor(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, path: '/api/v1/settings', headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once('error', reject);
  });
}

test('the server knows each port it listens on, also internal ones, and after a restart', async () => {
  const server = await startTemporal({ binary: await findTemporal({ report: () => {} }), ui: false });
  onTestFinished(async () => void (await server.stop()));
  // Three for clients; its history, matching and worker services have one each.
  const before = server.ports();
  expect(before).toHaveLength(6);
  for (const port of before) await expect(connected(port)).resolves.toBe(true);
  const pid = server.pid() ?? 0;
  process.kill(pid, 'SIGKILL');
  await until('another process', async () => ![null, pid].includes(server.pid()));
  await until('its ports', async () => server.ports().join() !== before.join());
  expect(server.ports()).toHaveLength(6);
  for (const port of server.ports()) await expect(connected(port)).resolves.toBe(true);
});

/** Whether something listens there. */
function connected(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

test('the UI answers only to names of this machine, and gets nothing confidential', async () => {
  process.env.SECRET_KEY = 'the-secret-key-of-this-test';
  const server = await startTemporal({ binary: await findTemporal({ report: () => {} }) });
  try {
    const port = server.uiPort ?? 0;
    expect(await statusFor(`127.0.0.1:${port}`, port)).toBe(200);
    expect(await statusFor('localhost:9000', port)).toBe(200);
    expect(await statusFor(`rebound.example:${port}`, port)).toBe(403);
    if (process.platform === 'linux') {
      // No other port of 127.0.0.1 bypasses the guard.
      for (const other of server.ports().filter((each) => each !== port)) {
        expect(await statusFor('rebound.example', other).catch(() => 'no HTTP')).not.toBe(200);
      }
      const environment = await readFile(`/proc/${server.pid()}/environ`, 'utf8');
      expect(environment).toContain('PATH=');
      expect(environment).not.toContain('SECRET_KEY');
    }
  } finally {
    delete process.env.SECRET_KEY;
    await server.stop();
  }
});
