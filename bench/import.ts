/**
 * `npm run bench:import`: how fast a long import goes and how much memory the API uses for it. It starts Postgres and
 * an API process of its own, imports stock movements under keys, checks that each has its event and its delivery,
 * and sends the whole again.
 *
 *     npm run bench:import -- --lines 100000
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { request } from 'undici';
import * as v from 'valibot';
import { createPool } from '../src/db/pool.ts';
import { freePort } from '../src/embedded/ports.ts';
import { stopOnInterruption } from '../src/shutdown.ts';
import { positiveInteger } from './options.ts';
import { residentMiB } from './resources.ts';
import { createEshop, startApi, startDatabase } from './stack.ts';

const SKUS = 100;
const skuOf = (index: number) => `THING-${index}`;

const loginSchema = v.object({ data: v.object({ token: v.string() }) });
const resultSchema = v.object({ statusCode: v.number(), repeated: v.optional(v.boolean()) });

const { lines } = new Command('bench:import')
  .description('Measures the import of stock movements on this machine.')
  .option('--lines <n>', 'lines in the import', positiveInteger, 100_000)
  .parse()
  .opts<{ readonly lines: number }>();

const shutdown = stopOnInterruption();

try {
  await measure();
} finally {
  await shutdown.stop();
}

async function measure(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-bench-import-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const postgres = await startDatabase(join(directory, 'database'));
  await shutdown.add(postgres.stop);
  const port = await freePort();
  const env = {
    DATABASE_URL: postgres.url,
    // Nobody listens there: an API accepts without Temporal.
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    LOG_LEVEL: 'error',
  };
  const apiUrl = `http://127.0.0.1:${port}`;
  const api = await startApi(env, port, directory);
  await shutdown.add(() => api.stop());
  const credentials = await createEshop(env);
  const sql = createPool(postgres.url, 1);
  await shutdown.add(() => sql.end());

  const headers = { 'x-api-key': credentials.apiKey, 'content-type': 'application/json' };
  const post = async (path: string, body: object, token = '') => {
    const request = {
      method: 'POST',
      headers: { ...headers, authorization: token },
      body: JSON.stringify(body),
    };
    const answer = await fetch(`${apiUrl}/v21${path}`, request);
    if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`);
    return answer.json();
  };
  const tokenOf = async (user: { readonly username: string; readonly password: string }) =>
    v.parse(loginSchema, await post('/users/login', { username: user.username, password: user.password }))
      .data.token;
  const shop = await tokenOf(credentials);
  for (let index = 0; index < SKUS; index += 1)
    await post('/products', { sku: skuOf(index), name: 'Thing' }, shop);
  const webhookType = 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION';
  const webhook = { url: 'https://shop.example/', webhookType, active: true, method: 'POST' };
  await post('/webhooks', webhook, shop);

  const authorization = await tokenOf(credentials.warehouse);
  const send = () => importAll(apiUrl, { ...headers, authorization }, api.pid);
  const first = await send();
  const second = await send();
  const [rows] = await sql<{ movements: number; events: number; deliveries: number }[]>`
    select (select count(*)::int from stock_movements) as movements,
      (select count(*)::int from events where type = ${webhookType}) as events,
      (select count(*)::int from deliveries) as deliveries`;
  const row = (name: string, { statuses, repeated, seconds, mib }: Imported) =>
    `| ${name} | ${(lines / seconds).toFixed(0)} | ${[...statuses].map(([code, count]) => `${count} × ${code}`).join(', ')} | ${repeated} | ${mib.map((each) => each.toFixed(0)).join(' ')} |`;
  console.log(`
| ${lines} lines | lines per second | results | repeated | MiB of the API at each tenth, beginning with the start |
| --- | ---: | --- | ---: | --- |
${row('first', first)}
${row('sent again', second)}

Afterwards: ${rows?.movements} movements, ${rows?.events} events, ${rows?.deliveries} deliveries.`);
}

interface Imported {
  /** Results by status. */
  readonly statuses: ReadonlyMap<number, number>;
  readonly repeated: number;
  readonly seconds: number;
  /** The resident set of the API in MiB: at the start, then after each tenth of the results. */
  readonly mib: readonly number[];
}

/** Streams the whole import, reading the results meanwhile. */
async function importAll(apiUrl: string, headers: Record<string, string>, pid: number): Promise<Imported> {
  const statuses = new Map<number, number>();
  let results = 0;
  let repeated = 0;
  const mib = [residentMiB(pid)];
  const started = performance.now();
  const answer = await request(`${apiUrl}/v21/warehouse/events/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
    body: Readable.from(body()),
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  if (answer.statusCode !== 200) throw new Error(await answer.body.text());
  for await (const line of createInterface({ input: answer.body })) {
    const result = v.parse(resultSchema, JSON.parse(line));
    statuses.set(result.statusCode, (statuses.get(result.statusCode) ?? 0) + 1);
    if (result.repeated === true) repeated += 1;
    results += 1;
    if (results % Math.ceil(lines / 10) === 0) mib.push(residentMiB(pid));
  }
  return { statuses, repeated, seconds: (performance.now() - started) / 1000, mib };
}

function* body(): Generator<string> {
  for (let index = 0; index < lines; index += 1) {
    const movement = { type: 'stock_correction', sku: skuOf(index % SKUS), count: '1.5', note: 'counted' };
    const line = { operation: 'stockMovement', idempotencyKey: `line-${index}`, body: movement };
    yield `${JSON.stringify(line)}\n`;
  }
}
