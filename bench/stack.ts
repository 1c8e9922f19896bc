/** The measured stack, in a temporary folder: Postgres, Temporal, a receiver and, on request, Waybill's processes. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPool, type Pool } from '../src/db/connection/pool.ts';
import { migrate } from '../src/db/migrate.ts';
import { openDataDir } from '../src/embedded/data-dir.ts';
import { freePort } from '../src/embedded/ports.ts';
import { startPostgres } from '../src/embedded/postgres.ts';
import { startTemporal } from '../src/embedded/temporal.ts';
import { findTemporal } from '../src/embedded/temporal-binary.ts';
import { createShutdown, type Shutdown } from '../src/lib/shutdown.ts';
import { temporaryFolder } from '../test/support/harness/temporary-folder.ts';
import { startDnsServer } from '../test/support/servers/dns-server.ts';
import { type Child, startChild } from './children.ts';
import { type Conditions, keepToCores, onCores, SLOW_LINK_MS } from './conditions.ts';
import { type ReceiverProcess, startReceiver } from './receiver-process.ts';
import { openShop, type Shop } from './shop.ts';

/** The acceptance of a delivery. */
export interface Commit {
  readonly entityId: string;
  /** In milliseconds since 1970. */
  readonly committedAt: number;
}

/** The running stack. */
export interface Stack {
  readonly sql: Pool;
  readonly secretKey: Buffer;
  readonly receiver: ReceiverProcess;
  readonly temporalAddress: string;
  /** The database of Temporal. */
  readonly temporalFile: string;
  /** The variables of Waybill's processes. */
  readonly env: Readonly<Record<string, string>>;
  /** For logs and data of further processes. */
  readonly directory: string;
  /** The processes to measure, each with all its descendants; `bench` is this one, which plays the e-shops. */
  processes(): Readonly<Record<string, number>>;
  /**
   * Stops the present worker and starts another.
   * @param more variables in addition to those of every process, such as `WORKFLOWS`
   */
  startWorker(more: Readonly<Record<string, string>>): Promise<void>;
  stopWorker(): Promise<void>;
  /** Creates an e-shop and logs it in. Starts the API unless it runs. */
  openShop(): Promise<Shop>;
  /** Starts a further receiver, which is another host. */
  startReceiver(): Promise<ReceiverProcess>;
  /** Registers a function that runs before the stack is stopped. */
  add(stop: () => Promise<unknown>): Promise<void>;
  /** The records of these deliveries, and when the transactions that accepted them were committed, by id. */
  commits(deliveryIds: readonly string[]): Promise<ReadonlyMap<string, Commit>>;
  /** Stops everything and removes the folder; may be called repeatedly. */
  stop(): Promise<unknown>;
}

/**
 * Starts Postgres with Waybill's tables, Temporal and the receiver.
 * @param say receives a line of text for every step
 * @param conditions the conditions under which Waybill's processes run
 * @throws Error that says which part did not come up; the started parts are stopped
 */
export async function startStack(say: (text: string) => void, conditions: Conditions = {}): Promise<Stack> {
  const shutdown = createShutdown(say);
  try {
    return await startParts(shutdown, say, conditions);
  } catch (error) {
    await shutdown.stop();
    throw error;
  }
}

/** The number of names without an answer. */
const SILENT_NAMES = 1_000;
/** The name with this number, less than a thousand, for which the name server stays silent. */
export const silentName = (index: number) => `silent${index}.example`;

async function startParts(
  shutdown: Shutdown,
  say: (text: string) => void,
  { slowLink = false, cores }: Conditions,
): Promise<Stack> {
  const directory = await temporaryFolder(shutdown);
  say('starting Postgres and Temporal …');
  const postgres = await startDatabase(join(directory, 'database'));
  await shutdown.add(postgres.stop);
  const temporal = await startEmbedded(directory, say, shutdown);
  const receiver = await startReceiver();
  await shutdown.add(async () => receiver.stop());
  await migrate(postgres.url);
  // Filling and vacuuming take longer than Waybill allows a statement.
  const sql = createPool(postgres.url, 4, { statementMs: null, silenceMs: null });
  await shutdown.add(() => sql.end());
  const names = await startDnsServer(
    Object.fromEntries(Array.from({ length: SILENT_NAMES }, (_, index) => [silentName(index), 'silent'])),
  );
  await shutdown.add(names.close);
  const secretKey = randomBytes(32);
  if (cores !== undefined) await keepToCores(cores, [postgres.pid, temporal.pid]);
  const within = cores === undefined ? [] : onCores(cores);

  /** @returns the address of a proxy to this address, if the link is slow; else the address itself */
  async function linkTo(address: string, delayMs: number): Promise<string> {
    if (!slowLink) return address;
    const log = join(directory, `link-${delayMs}.log`);
    const link = startChild('bench/slow-link.ts', { TARGET: address, DELAY_MS: String(delayMs) }, log);
    await shutdown.add(link.stop);
    await link.waitUntil(async () => (await readFile(log, 'utf8')).endsWith('\n'));
    return (await readFile(log, 'utf8')).trim();
  }
  const databaseUrl = new URL(postgres.url);
  databaseUrl.host = await linkTo(databaseUrl.host, SLOW_LINK_MS.postgres);
  const env = {
    DNS_SERVERS: names.address,
    DATABASE_URL: databaseUrl.href,
    TEMPORAL_ADDRESS: await linkTo(temporal.address, SLOW_LINK_MS.temporal),
    SECRET_KEY: secretKey.toString('base64'),
    DATA_DIR: join(directory, 'data'),
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    // One e-shop sends all orders: near the highest throughput, hundreds are in progress for a moment.
    ESHOP_REQUESTS: '2000',
    LOG_LEVEL: 'warn',
  };
  const apiPort = await freePort();
  let api: Child | undefined;
  let worker: Child | undefined;
  let started = 0;

  async function stopWorker(): Promise<void> {
    await worker?.stop();
    worker = undefined;
  }
  await shutdown.add(stopWorker);
  async function startApi(): Promise<void> {
    if (api !== undefined) return;
    const log = join(directory, 'api.log');
    const child = startChild('src/main.ts', { ...env, ROLE: 'api', PORT: String(apiPort) }, log, within);
    api = child;
    await shutdown.add(() => child.stop());
    await child.waitUntil(async () => (await fetch(`http://127.0.0.1:${apiPort}/readyz`)).ok);
  }

  return {
    sql,
    secretKey,
    receiver,
    temporalAddress: temporal.address,
    temporalFile: temporalFileIn(directory),
    env,
    directory,
    processes: () => ({
      ...(api === undefined ? {} : { api: api.pid }),
      ...(worker === undefined ? {} : { worker: worker.pid }),
      postgres: postgres.pid,
      temporal: temporal.pid,
      receiver: receiver.pid,
      bench: process.pid,
    }),
    async startWorker(more) {
      await stopWorker();
      started += 1;
      const log = join(directory, `worker-${started}.log`);
      // Kept before it is ready: an interrupted start must not leave it behind.
      worker = startChild('src/main.ts', { ...env, ROLE: 'worker', ...more }, log, within);
      await worker.waitUntil(async () => (await readFile(log, 'utf8')).includes('Waybill is ready'));
    },
    stopWorker,
    async openShop() {
      await startApi();
      const shop = await openShop(sql, `http://127.0.0.1:${apiPort}`);
      await shutdown.add(() => shop.close());
      return shop;
    },
    async startReceiver() {
      const further = await startReceiver();
      await shutdown.add(async () => further.stop());
      return further;
    },
    add: (stop) => shutdown.add(stop),
    commits: commitsIn(sql),
    stop: shutdown.stop,
  };
}

const temporalFileIn = (directory: string) => join(directory, 'temporal.db');

/** Temporal's dev server, as `npm start` runs it. */
async function startEmbedded(directory: string, say: (text: string) => void, shutdown: Shutdown) {
  const binary = await findTemporal({ report: say, signal: shutdown.signal });
  const server = await startTemporal({ binary, databaseFile: temporalFileIn(directory), ui: false });
  await shutdown.add(() => server.stop());
  const pid = server.pid();
  if (pid === null) throw new Error('Temporal stopped at once.');
  return { address: server.address, pid };
}

/** The embedded server as `npm start` runs it, except that it records the time of every commit. */
async function startDatabase(directory: string) {
  const dataDir = await openDataDir(directory);
  const first = await startPostgres(dataDir, () => {}, { superuser: true });
  const sql = createPool(first.url, 1);
  await sql.unsafe('alter system set track_commit_timestamp = on');
  await sql.end();
  await first.stop();
  const server = await startPostgres(dataDir, () => {});
  const pid = server.pid();
  if (pid === null) throw new Error('Postgres stopped at once.');
  return { url: server.url, pid, stop: () => server.stop() };
}

/** Reads them from a database. */
export function commitsIn(sql: Pool): Stack['commits'] {
  return async (deliveryIds) => {
    // The event's row is written only once, so the transaction that inserted it accepted the delivery.
    const rows = await sql<(Commit & { readonly id: string })[]>`
      select d.id, d.entity_id, extract(epoch from pg_xact_commit_timestamp(e.xmin))::float8 * 1000 as committed_at
      from deliveries d join events e on e.id = d.event_id
      where d.id = any(${[...deliveryIds]}::uuid[])`;
    return new Map(rows.map((row) => [row.id, row]));
  };
}
