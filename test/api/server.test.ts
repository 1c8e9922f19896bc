/**
 * The application behind a real HTTP server, and its answers while the database is unavailable.
 */
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../src/db/connection/pool.ts';
import { createTestApi } from '../support/api/api.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { freePort } from '../support/servers/ports.ts';

let server: ReturnType<typeof serve>;

const api = await apiOfFile();
const address = await new Promise<AddressInfo>((resolve) => {
  server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, resolve);
});
const base: string = `http://127.0.0.1:${address.port}`;
afterAll(() => new Promise((resolve) => server.close(resolve)));

const credentials = () => ({ 'x-api-key': api.eshop.apiKey, authorization: api.eshop.shop.token });

test('healthz and readyz need no credentials, and a Temporal outage leaves the API ready', async () => {
  const health = await fetch(`${base}/healthz`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok', version: '0.0.0-test' }]);
  const ready = await fetch(`${base}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', database: 'up', temporal: 'unknown' },
  ]);
  const down = await createTestApi({ temporalState: () => 'down' });
  expect((await down.anonymous('GET', '/readyz')).text).toContain('"temporal":"down"');
  expect((await down.anonymous('GET', '/readyz')).status).toBe(200);
  await down.drop();
});

test('without a database, the API is alive but not ready, and its 503 reveals nothing', async () => {
  const port = await freePort();
  const sql = createPool(`postgres://nobody:secret@127.0.0.1:${port}/none`, 1);
  const away = await createTestApi({ sql, healthSql: sql });
  onTestFinished(() => away.drop());
  onTestFinished(() => sql.end({ timeout: 0 }));
  expect((await away.anonymous('GET', '/healthz')).status).toBe(200);
  const ready = await away.anonymous('GET', '/readyz');
  expect(ready.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable', database: 'down' });
  const answer = await away.shop('GET', '/v21/webhooks');
  expect(answer.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable' });
  expect(answer.text).not.toMatch(/nobody|secret|ECONN|127\.0\.0\.1|none/);
  expect(answer.headers.get('x-request-id')).toBeTruthy();
  expect(answer.headers.get('retry-after')).toBeTruthy();
});

test('a body of unknown length is cut off at 1 MiB', async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const request = httpRequest(
      `${base}/v21/webhooks`,
      { method: 'POST', headers: { ...credentials(), 'content-type': 'application/json' } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    request.on('error', reject);
    for (let i = 0; i < 17; i++) request.write('x'.repeat(64 * 1024));
    request.end();
  });
  expect(status).toBe(413);
});

test('HEAD is a GET without a body, and unsupported methods get 405', async () => {
  const head = await fetch(`${base}/v21/webhooks`, { method: 'HEAD', headers: credentials() });
  expect([head.status, await head.text()]).toEqual([200, '']);
  for (const method of ['OPTIONS', 'PATCH', 'DELETE']) {
    const answer = await fetch(`${base}/v21/webhooks`, { method, headers: credentials() });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(await answer.json()).toMatchObject({ statusCode: 405, error: 'Method Not Allowed' });
  }
});

test('a forwarded client address is ignored', async () => {
  const guess = (from: string) =>
    fetch(`${base}/v21/users/login`, {
      method: 'POST',
      headers: { 'x-api-key': api.eshop.apiKey, 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ username: 'somebody', password: 'wrong' }),
    });
  for (let i = 0; i < 10; i++) expect((await guess(`203.0.113.${i}`)).status).toBe(401);
  const blocked = await guess('203.0.113.99');
  expect(blocked.status).toBe(429);
  expect(await blocked.json()).toMatchObject({ statusCode: 429, error: 'Too Many Requests' });
});
