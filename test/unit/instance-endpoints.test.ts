/** Which ports an instance knows to be its own, by what it is configured with and what it has started. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { instanceEndpoints } from '../../src/instance-endpoints.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-endpoints-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function endpoints(env: Record<string, string>) {
  const dataDir = await openDataDir(join(directory, 'data'));
  return instanceEndpoints(loadConfig(env), {
    dataDir,
    databaseUrl: 'postgres://waybill:hidden@db.example/waybill',
    temporalAddress: 'temporal.example:7233',
    temporalPorts: [8233],
  });
}

test('the database, Temporal, its UI and the API', async () => {
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

test.each([
  ['http://collector.example:4318', 4318],
  ['http://collector.example', 80],
  ['https://collector.example/otlp', 443],
])('the collector of traces at %s', async (url, port) => {
  const own = await endpoints({ OTEL_EXPORTER_OTLP_ENDPOINT: url });

  expect([own.includes('collector.example', port), own.includes('collector.example', port + 1)]).toEqual([
    true,
    false,
  ]);
});

test.each([
  ['smtp://mail.example', 587],
  ['smtps://mail.example', 465],
  ['smtp://waybill:hidden@mail.example:2525', 2525],
])('the mail server of %s', async (url, port) => {
  const own = await endpoints({ SMTP_URL: url });

  expect([own.includes('mail.example', port), own.includes('mail.example', port + 1)]).toEqual([true, false]);
});
