/** Latency in a calm, beside that of another checkout: both with everything of theirs, in turns. */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createDatabase } from '../../src/db/create-database.ts';
import { createPool } from '../../src/db/pool.ts';
import { freePort } from '../../src/embedded/ports.ts';
import { startChild } from '../children.ts';
import { firstDelivery, type Line } from '../rounds.ts';
import { openShop } from '../shop.ts';
import { commitTimesIn, createEshop, type Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { feel } from '../trial.ts';
import type { Bench, Section } from './section.ts';

const PER_SECOND = 10;
const PATIENCE_MS = 120_000;
const COLUMNS = ['before', 'auto'] as const;

export const latencyName = (percent: number) =>
  `COMMIT to first byte at ${PER_SECOND} orders per second, p${percent}, ms`;

export const before: Section = {
  name: 'before',
  about: 'latency in a calm, in turns with another checkout (--before)',
  async run(bench: Bench) {
    const { before: folder, sizes } = bench;
    if (folder === undefined) return;
    const stack = await bench.stack();
    const trees: (Awaited<ReturnType<typeof startTree>> & { column: (typeof COLUMNS)[number] })[] = [];
    // In turn: each looks for free ports of its own.
    for (const column of COLUMNS) trees.push({ column, ...(await startTree(stack, column, folder)) });
    const pace = {
      perSecond: PER_SECOND,
      seconds: sizes.steadySeconds,
      patienceMs: bench.patience(PATIENCE_MS),
    };
    for (let run = 0; run < Math.max(2, bench.runs); run += 1) {
      for (const { column, line, commitTimes } of trees) {
        const { latencies } = await feel({ commitTimes }, line, pace);
        // The first turn of each warms compilers, caches and connections.
        if (run === 0) continue;
        for (const percent of [50, 95, 99])
          bench.note(latencyName(percent), column, percentile(latencies, percent));
      }
    }
  },
};

/** All of it as one process, with its own Temporal, on a database of its own. */
async function startTree(stack: Stack, column: (typeof COLUMNS)[number], folder: string) {
  const cwd = column === 'before' ? folder : process.cwd();
  const name = `tree_${column}`;
  await createDatabase(stack.env.DATABASE_URL ?? '', name);
  const database = new URL(stack.env.DATABASE_URL ?? '');
  database.pathname = `/${name}`;
  const port = await freePort();
  const directory = join(stack.directory, name);
  await mkdir(directory);
  const env = {
    DATABASE_URL: database.href,
    SECRET_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: join(directory, 'data'),
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  };
  const apiUrl = `http://127.0.0.1:${port}`;
  const child = startChild('src/main.ts', { ...env, PORT: String(port) }, join(directory, 'log'), cwd);
  await stack.add(() => child.stop());
  await child.waitUntil(async () => (await fetch(`${apiUrl}/readyz`)).ok);
  const sql = createPool(database.href, 1);
  await stack.add(() => sql.end());
  const receiver = await stack.startReceiver();
  const shop = await openShop(apiUrl, await createEshop(env, cwd));
  await stack.add(() => shop.close());
  await shop.createWebhook('CREATE_ORDER', `${receiver.url}/prompt/orders`);
  const line: Line = { shop, receiver };
  await firstDelivery(line);
  return { line, commitTimes: commitTimesIn(sql) };
}
