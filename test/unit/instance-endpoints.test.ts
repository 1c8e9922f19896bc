/** The ports that an instance knows to be its own, from its configuration and the servers that it has started. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { instanceEndpoints } from '../../src/app/instance-endpoints.ts';
import { loadConfig } from '../../src/config/config.ts';
import { dataDirAt, openDataDir } from '../../src/embedded/data-dir.ts';
import { OPERATOR_CONSOLES, registerConsole } from '../../src/embedded/operator-consoles.ts';
import { folderOfTest } from '../support/ends.ts';

let directory: string;
beforeEach(async () => {
  directory = await folderOfTest('waybill-endpoints-');
});

async function endpoints(env: Record<string, string>) {
  const dataDir = await openDataDir(join(directory, 'data'));
  return instanceEndpoints(loadConfig(env), {
    dataDir,
    databaseUrl: 'postgres://waybill:hidden@db.example/waybill',
    temporalAddress: 'temporal.example:7233',
    temporalPorts: () => [8233],
  });
}

test('the database, Temporal, its UI and the API are own endpoints', async () => {
  const own = await endpoints({ HOST: '192.0.2.7', PORT: '8081' });

  for (const [host, port] of [
    ['db.example', 5432],
    ['temporal.example', 7233],
    ['127.0.0.1', 8233],
    ['192.0.2.7', 8081],
  ] as const) {
    expect([host, own.includes(host, port), own.includes(host, port + 1)]).toEqual([host, true, false]);
  }
});

test('the database behind a pooler is an own endpoint', async () => {
  const own = await endpoints({
    DATABASE_URL: 'postgres://waybill:hidden@pooler.example:6432/waybill',
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATABASE_DIRECT_URL: 'postgres://waybill:hidden@direct.example/waybill',
  });
  expect([5_432, 5_433].map((port) => own.includes('direct.example', port))).toEqual([true, false]);
});

test("another process's API and metrics are own endpoints", async () => {
  const own = await endpoints({});
  const dataDir = await openDataDir(join(directory, 'data'));
  const metricsUrls = { api: ['http://127.0.0.1:8092'] };
  await dataDir.write('instance.json', JSON.stringify({ apiUrl: 'http://127.0.0.1:8091', metricsUrls }));
  expect([8_091, 8_092, 8_093].map((port) => own.includes('127.0.0.1', port))).toEqual([true, true, false]);
});

describe("the operators' console", () => {
  const port = 47_111;
  const folder = () => openDataDir(join(directory, 'data'));

  test('is an own endpoint at any address of this machine, as long as it runs', async () => {
    const [one, other] = [
      await registerConsole(await folder(), port),
      await registerConsole(await folder(), port + 1),
    ];
    const own = await endpoints({});
    expect([own.includes('127.0.0.1', port), own.includes('::1', port + 1)]).toEqual([true, true]);
    expect([own.includes('127.0.0.1', port + 2), own.includes('192.0.2.7', port)]).toEqual([false, false]);

    await one();
    const later = await endpoints({});
    expect([later.includes('127.0.0.1', port), later.includes('127.0.0.1', port + 1)]).toEqual([false, true]);
    await other();
    expect(await readdir((await folder()).path)).toEqual([]);
  });

  test('is readable by the instance, whichever account registers it', async () => {
    const dataDir = await folder();
    const forget = await registerConsole(dataDir, port);
    const { mode } = await stat(dataDir.join(OPERATOR_CONSOLES));
    expect(mode & 0o777).toBe(0o644);
    await forget();
  });

  test('is not counted once killed, and removed by the next one', async () => {
    const gone = spawn(process.execPath, ['-e', '']);
    await once(gone, 'close');
    const dataDir = await folder();
    await dataDir.write(OPERATOR_CONSOLES, JSON.stringify([{ pid: gone.pid, port }]));
    expect((await endpoints({})).includes('127.0.0.1', port)).toBe(false);
    await registerConsole(dataDir, port + 1);
    expect(JSON.parse((await dataDir.read(OPERATOR_CONSOLES)) ?? '')).toEqual([
      { pid: process.pid, port: port + 1 },
    ]);
  });

  test('is ignored in a damaged file, and not registered without a folder', async () => {
    const dataDir = await folder();
    for (const text of ['', '{', '{}', '[{"pid":0,"port":1}]']) {
      await dataDir.write(OPERATOR_CONSOLES, text);
      expect((await endpoints({})).includes('127.0.0.1', 1), text).toBe(false);
    }
    const nowhere = dataDirAt(join(directory, 'nowhere'));
    await (await registerConsole(nowhere, port))();
    expect(await readdir(directory)).toEqual(['data']);
  });
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector.example:4318', 4318],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector.example', 80],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://collector.example/otlp', 443],
  ['OUTBOUND_PROXY', 'http://waybill:hidden@proxy.example:3128', 3128],
  ['OUTBOUND_PROXY', 'http://proxy.example', 80],
  ['OUTBOUND_PROXY', 'https://proxy.example', 443],
  ['SMTP_URL', 'smtp://mail.example', 587],
  ['SMTP_URL', 'smtps://mail.example', 465],
  ['SMTP_URL', 'smtp://waybill:hidden@mail.example:2525', 2525],
])('%s=%s makes port %i an own endpoint', async (name, url, port) => {
  const own = await endpoints({ [name]: url });
  const host = /\w+\.example/.exec(url)?.[0] ?? '';
  expect([own.includes(host, port), own.includes(host, port + 1)]).toEqual([true, false]);
});
