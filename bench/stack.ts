/**
 * Everything that the bench measures, started for it alone in a temporary folder: Postgres, Temporal's dev server,
 * Waybill as two processes (api, worker) and a receiver.
 * @module
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { createPool } from '../src/db/pool.ts';
import { openDataDir } from '../src/embedded/data-dir.ts';
import { freePort } from '../src/embedded/ports.ts';
import { startPostgres } from '../src/embedded/postgres.ts';
import { startTemporal } from '../src/embedded/temporal.ts';
import { findTemporal } from '../src/embedded/temporal-binary.ts';
import { type Shutdown, stopOnInterruption } from '../src/shutdown.ts';
import { startChild } from './children.ts';
import { type Engine, startCluster } from './cluster/cluster.ts';
import type { Arrivals } from './receiver.ts';
import { startReceiver } from './receiver-process.ts';
import { credentialsSchema, openShop, type Shop } from './shop.ts';

/** A process; `bench` is this one, which plays the e-shop. */
type ProcessName = 'api' | 'worker' | 'postgres' | 'temporal' | 'receiver' | 'bench';

/** The running stack. */
export interface Stack {
  readonly shop: Shop;
  /** What uses processor time, each with everything it starts; in a cluster `temporal db` besides. */
  readonly processes: Readonly<Record<ProcessName, number> & Record<string, number>>;
  /** What the receiver got since the last call, once it is so much. */
  arrivals(deliveries: number, patienceMs: number): Promise<Arrivals>;
  /** When the transactions that accepted these deliveries were committed, in milliseconds since 1970, by id. */
  commitTimes(deliveryIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** How many connections Waybill has to Postgres. */
  connections(): Promise<number>;
  /** Ends everything and removes the folder; any number of calls. */
  stop(): Promise<unknown>;
}

/**
 * Starts everything, and logs an e-shop in that has one webhook.
 * @param say receives a line of text for every step
 * @param cluster the full Temporal server on a Postgres of its own, instead of the embedded one
 * @throws Error saying which part did not come up; what had started is stopped
 */
export async function startStack(say: (text: string) => void, cluster = false): Promise<Stack> {
  const shutdown = stopOnInterruption();
  try {
    const directory = await mkdtemp(join(tmpdir(), 'waybill-bench-'));
    await shutdown.add(() => rm(directory, { recursive: true, force: true }));
    // As root, Postgres runs as a user of its own, who has to enter the folder.
    await chmod(directory, 0o755);

    say('Postgres …');
    const postgres = await startDatabase(join(directory, 'database'));
    await shutdown.add(postgres.stop);
    say('Temporal …');
    const temporal = await (cluster ? startCluster : startEmbedded)(directory, say, shutdown);

    say('Waybill …');
    const port = await freePort();
    const apiUrl = `http://127.0.0.1:${port}`;
    const env = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      SECRET_KEY: randomBytes(32).toString('base64'),
      DATA_DIR: join(directory, 'data'),
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'warn',
    };
    const api = await startApi(env, port, directory);
    await shutdown.add(() => api.stop());
    const workerEnv = { ...env, ROLE: 'worker', PORT: String(await freePort()) };
    const worker = startChild('src/main.ts', workerEnv, join(directory, 'worker.log'));
    await shutdown.add(() => worker.stop());

    const receiver = await startReceiver();
    await shutdown.add(async () => receiver.stop());
    const shop = await openShop(apiUrl, await createEshop(env), `${receiver.url}/hooks/orders`);
    await shutdown.add(() => shop.close());
    const sql = createPool(postgres.url, 1);
    await shutdown.add(() => sql.end());

    say('the first delivery …');
    await shop.createOrder();
    await receiver.arrivals(1, 60_000);
    return {
      shop,
      processes: {
        api: api.pid,
        worker: worker.pid,
        postgres: postgres.pid,
        ...temporal.processes,
        receiver: receiver.pid,
        bench: process.pid,
      },
      arrivals: receiver.arrivals,
      async commitTimes(deliveryIds) {
        // The event's row is written once, so that its inserting transaction is the one that accepted the delivery.
        const rows = await sql<{ id: string; at: number }[]>`
          select d.id, extract(epoch from pg_xact_commit_timestamp(e.xmin))::float8 * 1000 as at
          from deliveries d join events e on e.id = d.event_id
          where d.id = any(${[...deliveryIds]}::uuid[])`;
        return new Map(rows.map(({ id, at }) => [id, at]));
      },
      async connections() {
        // One of them is the bench's own.
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity
          where datname = current_database() and application_name = 'waybill' and pid <> pg_backend_pid()`;
        return row?.count ?? Number.NaN;
      },
      stop: shutdown.stop,
    };
  } catch (error) {
    await shutdown.stop();
    throw error;
  }
}

/** Temporal's dev server, as `npm start` runs it. */
async function startEmbedded(
  directory: string,
  say: (text: string) => void,
  shutdown: Shutdown,
): Promise<Engine> {
  const binary = await findTemporal({ report: say, signal: shutdown.signal });
  const server = await startTemporal({ binary, databaseFile: join(directory, 'temporal.db'), ui: false });
  await shutdown.add(() => server.stop());
  const pid = server.pid();
  if (pid === null) throw new Error('Temporal stopped at once.');
  return { address: server.address, processes: { temporal: pid } };
}

/** The API as a process of its own; answers once it serves. */
export async function startApi(env: Readonly<Record<string, string>>, port: number, directory: string) {
  const log = join(directory, 'api.log');
  const api = startChild('src/main.ts', { ...env, ROLE: 'api', PORT: String(port) }, log);
  await api.waitUntil(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
  return api;
}

/** The embedded server as `npm start` runs it; it only notes the time of every commit besides. */
export async function startDatabase(directory: string) {
  const dataDir = await openDataDir(directory);
  const first = await startPostgres(dataDir, () => {});
  const sql = createPool(first.url, 1);
  await sql.unsafe('alter system set track_commit_timestamp = on');
  await sql.end();
  await first.stop();
  const server = await startPostgres(dataDir, () => {});
  const [pid = ''] = (await dataDir.read('postgres/postmaster.pid'))?.split('\n') ?? [];
  return { url: server.url, pid: Number(pid), stop: () => server.stop() };
}

export async function createEshop(env: Readonly<Record<string, string>>) {
  const args = [
    'bin/waybill.js',
    'eshop',
    'create',
    '--name',
    'Bench',
    '--email',
    'bench@shop.example',
    '--json',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env } });
  return v.parse(v.pipe(v.string(), v.parseJson(), credentialsSchema), stdout);
}
