/**
 * `npm run bench:soak`: whether Waybill holds more and more while it works. It measures how much goes through, then sends
 * half of that for a long time, and shows every minute what the processes hold.
 *
 *     npm run bench:soak -- --minutes 30
 */
import { Command } from 'commander';
import type { Pool } from '../src/db/pool.ts';
import { stopOnInterruption } from '../src/lib/shutdown.ts';
import { positiveInteger, positiveNumber } from './options.ts';
import { openFiles, residentMiB } from './resources.ts';
import { firstDelivery, flatOutRound, type Line, openLine, type Round, steadyRound } from './rounds.ts';
import { type Stack, startStack } from './stack.ts';
import { median, percentile, shown, table } from './statistics.ts';

/** Rounds flat out, of which the median is the capacity. */
const CAPACITY_ROUNDS = 3;
const CAPACITY_ORDERS = 300;
const CLIENTS = 16;
const MINUTE_S = 60;
/** For the last delivery of a minute, in milliseconds. */
const PATIENCE_MS = 60_000;

const say = (text: string) => console.error(text);

interface Options {
  readonly minutes: number;
  readonly rate?: number;
}

/** What stands in the table, in its order. */
const HELD = [
  'api, MiB',
  'worker, MiB',
  'Temporal, MiB',
  'api, file descriptors',
  'worker, file descriptors',
  'connections to Postgres',
] as const;

/** Those of Waybill to Postgres. */
async function connections(sql: Pool): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'waybill' and pid <> pg_backend_pid()`;
  return row?.count ?? Number.NaN;
}

function oneLine({ deliveries, seconds, latencies, missing }: Round): string {
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)];
  const late = missing === 0 ? '' : `, ${missing} not delivered`;
  return `${shown(deliveries / seconds)} deliveries/s, p50 ${shown(p50)} ms, p99 ${shown(p99)} ms${late}`;
}

async function heldBy({ processes, sql }: Stack): Promise<number[]> {
  const running = processes();
  const [api = 0, worker = 0, temporal = 0] = ['api', 'worker', 'temporal'].map((name) => running[name]);
  return [
    ...[api, worker, temporal].map(residentMiB),
    ...[api, worker].map(openFiles),
    await connections(sql),
  ];
}

async function capacityOf(stack: Stack, line: Line): Promise<number> {
  const rounds: Round[] = [];
  // The first one warms compilers, caches and connections, and is not counted.
  for (let index = 0; index <= CAPACITY_ROUNDS; index += 1) {
    const round = await flatOutRound(stack, line, {
      orders: CAPACITY_ORDERS,
      clients: CLIENTS,
      patienceMs: PATIENCE_MS,
    });
    say(`${index === 0 ? 'warm-up' : `capacity ${index}`}: ${oneLine(round)}`);
    if (index > 0) rounds.push(round);
  }
  return median(rounds.map(({ deliveries, seconds }) => deliveries / seconds));
}

async function soak({ minutes, rate }: Options): Promise<void> {
  const shutdown = stopOnInterruption();
  const stack = await shutdown.starting(startStack(say), (started) => started.stop(), true);
  try {
    const line = await openLine(stack);
    await stack.startWorkers({});
    await firstDelivery(line);
    const capacity = rate === undefined ? await capacityOf(stack, line) : null;
    const perSecond = rate ?? (capacity ?? 0) / 2;
    const rows: number[][] = [];
    let repeats = 0;
    for (let minute = 1; minute <= minutes; minute += 1) {
      const round = await steadyRound(stack, line, {
        orders: Math.round(perSecond * MINUTE_S),
        perSecond,
        patienceMs: PATIENCE_MS,
      });
      const [p50, p99] = [percentile(round.latencies, 50), percentile(round.latencies, 99)];
      rows.push([minute, round.deliveries, p50, p99, ...(await heldBy(stack))]);
      repeats += round.repeats;
      say(`minute ${minute}: ${oneLine(round)}`);
    }
    const total = rows.reduce((sum, [, deliveries = 0]) => sum + deliveries, 0);
    const heading = ['minute', 'deliveries', 'p50, ms', 'p99, ms', ...HELD];
    console.log(`
${capacity === null ? '' : `Capacity: ${shown(capacity)} deliveries per second. `}Sent: ${shown(perSecond)} orders per second for ${minutes} min, ${total} deliveries, ${repeats} requests repeated.

${table(
  heading,
  rows.map((row) => row.map((value, index) => (index < 2 ? String(value) : shown(value)))),
)}`);
  } finally {
    await shutdown.stop();
  }
}

await new Command('bench:soak')
  .description('Sends orders at half of what this machine can deliver, and shows what the processes hold.')
  .option('--minutes <n>', 'how long', positiveInteger, 30)
  .option('--rate <n>', 'orders per second, instead of half of what is measured first', positiveNumber)
  .action(soak)
  .parseAsync();
