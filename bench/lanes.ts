/**
 * `npm run bench:lanes`: a backlog drained with `FIRST_ATTEMPTS=each` and with `batch`, in one run on one stack: deliveries
 * per second, and what each costs in processor time by process.
 *
 *     npm run bench:lanes -- --backlog 20000 --webhooks 50 --slow 2 --failing 5
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { createPool } from '../src/db/pool.ts';
import { startTemporal } from '../src/embedded/temporal.ts';
import { findTemporal } from '../src/embedded/temporal-binary.ts';
import { stopOnInterruption } from '../src/shutdown.ts';
import { createBacklog } from './backlog.ts';
import { startChild } from './children.ts';
import { cpuMilliseconds, difference, type Milliseconds } from './cpu.ts';
import { shown, table } from './figures.ts';
import { positiveInteger, wholeNumber } from './options.ts';
import { startReceiver } from './receiver-process.ts';
import { startDatabase } from './stack.ts';

interface Options {
  readonly backlog: number;
  readonly each: number;
  readonly webhooks: number;
  readonly slow: number;
  readonly failing: number;
  readonly settings: string;
}

const options = new Command('bench:lanes')
  .description(
    'Measures how a backlog of deliveries drains on this machine, each in its own workflow and in batches.',
  )
  .option('--backlog <n>', 'deliveries of a drain in batches', positiveInteger, 10_000)
  .option('--each <n>', 'deliveries of a drain with a workflow each', positiveInteger, 500)
  .option('--webhooks <n>', 'webhooks that they go to', positiveInteger, 50)
  .option('--slow <percent>', 'of the webhooks answer after 3 s', wholeNumber, 0)
  .option('--failing <percent>', 'of the webhooks answer with 503', wholeNumber, 0)
  .option('--settings <list>', 'of FIRST_ATTEMPTS, in the order of the drains', 'each,batch')
  .parse()
  .opts<Options>();

/** How long a drain may take, in milliseconds. */
const PATIENCE_MS = 600_000;
/** Deliveries end after their arrival: results are recorded, workflows closed and indexed. */
const SETTLE_MS = 1_000;
/** Drained before the measurement, with the same setting: compilers, caches and connections are warm then. */
const WARM_UP = 200;

const say = (text: string) => console.error(text);
const shutdown = stopOnInterruption();
try {
  await bench();
} finally {
  await shutdown.stop();
}

async function bench(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'waybill-bench-lanes-'));
  await shutdown.add(() => rm(directory, { recursive: true, force: true }));
  // As root, Postgres runs as a user of its own, who has to enter the folder.
  await chmod(directory, 0o755);
  const postgres = await startDatabase(join(directory, 'database'));
  await shutdown.add(postgres.stop);
  const temporal = await startTemporal({
    binary: await findTemporal({ report: say }),
    databaseFile: join(directory, 'temporal.db'),
    ui: false,
  });
  await shutdown.add(() => temporal.stop());
  const receiver = await startReceiver();
  await shutdown.add(async () => receiver.stop());
  const secretKey = randomBytes(32);
  const sql = createPool(postgres.url, 4);
  await shutdown.add(() => sql.end());

  async function startWorker(setting: string) {
    const env = {
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      SECRET_KEY: secretKey.toString('base64'),
      DATA_DIR: join(directory, 'data'),
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      LOG_LEVEL: 'warn',
      ROLE: 'worker',
      FIRST_ATTEMPTS: setting,
    };
    const worker = startChild('src/main.ts', env, join(directory, `worker-${setting}.log`));
    await shutdown.add(() => worker.stop());
    return worker;
  }

  const lines: { setting: string; deliveries: number; seconds: number; cpu: Milliseconds }[] = [];
  for (const setting of options.settings.split(',')) {
    const worker = await startWorker(setting);
    await worker.waitUntil(async () => (await sql`select from webhooks limit 1`).length >= 0);
    const backlog = await createBacklog(sql, secretKey, receiver.url, options);
    await backlog.write(WARM_UP);
    await backlog.release();
    await receiver.arrivals(WARM_UP, PATIENCE_MS);

    const deliveries = setting === 'each' ? options.each : options.backlog;
    say(`${setting}: writing ${deliveries} deliveries …`);
    await backlog.write(deliveries);
    await sleep(SETTLE_MS);
    const roots = {
      worker: worker.pid,
      postgres: postgres.pid,
      temporal: temporal.pid() ?? Number.NaN,
      receiver: receiver.pid,
    };
    const before = cpuMilliseconds(roots);
    const start = performance.timeOrigin + performance.now();
    const arrived = receiver.arrivals(deliveries, PATIENCE_MS);
    await backlog.release();
    const { first, repeats } = await arrived;
    await sleep(SETTLE_MS);
    const cpu = difference(cpuMilliseconds(roots), before);
    const times = first.map(([, at]) => at - start).sort((a, b) => a - b);
    const seconds = (times.at(-1) ?? Number.NaN) / 1000;
    const most = (times[Math.floor(times.length * 0.9)] ?? Number.NaN) / 1000;
    say(
      `${setting}: ${deliveries} in ${shown(seconds)} s (nine tenths in ${shown(most)} s), ${repeats} requests repeated`,
    );
    lines.push({
      setting,
      deliveries,
      seconds,
      cpu: Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, ms / deliveries])),
    });
    await worker.stop();
    await backlog.retire();
  }
  const names = ['worker', 'temporal', 'postgres'];
  console.log(
    table(
      ['FIRST_ATTEMPTS', 'deliveries', 'per second', 'CPU, ms', ...names, 'beside: receiver'],
      lines.map(({ setting, deliveries, seconds, cpu }) => [
        setting,
        String(deliveries),
        shown(deliveries / seconds),
        shown(names.reduce((sum, name) => sum + (cpu[name] ?? 0), 0)),
        ...names.map((name) => shown(cpu[name] ?? Number.NaN)),
        shown(cpu.receiver ?? Number.NaN),
      ]),
    ),
  );
}
