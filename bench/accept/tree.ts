/**
 * The API of one checkout, with a database of its own on the common Postgres, and the e-shops that use it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { createDatabase } from '../../src/db/create-database.ts';
import { createPool } from '../../src/db/pool.ts';
import { freePort } from '../../src/embedded/ports.ts';
import type { Shutdown } from '../../src/lib/shutdown.ts';
import { endChild, hasEnded } from '../children.ts';
import { createEshop } from '../stack.ts';
import { type Client, createClient } from './client.ts';

/** What a checkout is measured with. */
export interface TreeOptions {
  /** In the table. */
  readonly name: string;
  readonly path: string;
  readonly postgres: { readonly url: string; readonly pid: number };
  /** An e-shop each, with so many webhooks of each kind of event. */
  readonly webhooks: readonly number[];
  readonly profile?: string;
}

/** A running API. */
export interface Tree {
  readonly name: string;
  /** What uses processor time. */
  readonly processes: { readonly api: number; readonly postgres: number };
  /** Of the e-shop with so many webhooks. */
  client(webhooks: number): Client;
  /** The longest that its event loop has been held since the last question, in milliseconds. */
  longestHold(): Promise<number>;
  /** Has Postgres look at its tables, as it does by itself after a minute: plans made for empty ones are forgotten. */
  analyze(): Promise<void>;
}

const loopDelay = fileURLToPath(new URL('./loop-delay.ts', import.meta.url));
const heldSchema = v.object({ heldMs: v.number() });
/** What webhooks of the e-shops subscribe to: all that a round fires. */
const TYPES = ['CREATE_ORDER', 'UPDATE_ORDER_STATUS', 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION'];

/** Starts the API of a checkout. */
export async function startTree(options: TreeOptions, directory: string, shutdown: Shutdown): Promise<Tree> {
  const { name, path, postgres } = options;
  await mkdir(directory);
  await createDatabase(postgres.url, name);
  const database = new URL(postgres.url);
  database.pathname = `/${name}`;
  const port = await freePort();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    DATABASE_URL: database.href,
    // Nobody listens there: an API accepts without Temporal.
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    LOG_LEVEL: 'error',
    PORT: String(port),
    ROLE: 'api',
    ESHOP_MIB_PER_SECOND: '1000',
  };
  const api = await startApi(options, env, directory, shutdown);
  const clients = new Map<number, Client>();
  for (const webhooks of options.webhooks) {
    const credentials = await createEshop(env, path, shutdown.signal);
    const client = await createClient(`http://127.0.0.1:${port}`, credentials);
    await shutdown.add(() => client.close());
    for (const webhookType of TYPES) {
      for (let index = 0; index < webhooks; index += 1)
        await client.shop('/webhooks', {
          url: 'https://shop.example/',
          webhookType,
          active: true,
          method: 'POST',
        });
    }
    clients.set(webhooks, client);
  }
  return {
    name,
    processes: { api: api.pid ?? 0, postgres: postgres.pid },
    client(webhooks) {
      const client = clients.get(webhooks);
      if (client === undefined) throw new RangeError(`No e-shop has ${webhooks} webhooks.`);
      return client;
    },
    async analyze() {
      const sql = createPool(database.href, 1);
      await sql`analyze`;
      await sql.end();
    },
    longestHold: () =>
      new Promise((resolve) => {
        api.once('message', (message) => resolve(v.parse(heldSchema, message).heldMs));
        api.send('held');
      }),
  };
}

/** Answers once the API serves. */
async function startApi(
  { path, profile }: TreeOptions,
  env: NodeJS.ProcessEnv & { readonly PORT: string },
  directory: string,
  shutdown: Shutdown,
): Promise<ChildProcess> {
  const logFile = join(directory, 'api.log');
  const log = openSync(logFile, 'a');
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const args = [...profiling, '--import', 'tsx', '--import', loopDelay, 'src/main.ts'];
  const api = spawn(process.execPath, args, { cwd: path, env, stdio: ['ignore', log, log, 'ipc'] });
  await shutdown.add(() => endChild(api, () => api.kill('SIGTERM')));
  const ready = () =>
    fetch(`http://127.0.0.1:${env.PORT}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    if (hasEnded(api)) break;
    if (await ready()) return api;
  }
  throw new Error(`The API of ${path} did not start.`);
}
