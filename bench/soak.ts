/**
 * `npm run bench:soak`: whether Waybill holds more and more while it works. It measures how much goes through, then sends
 * half of that for a long time, and shows every minute what the processes hold.
 *
 *     npm run bench:soak -- --minutes 30
 * @module
 */
import { Command } from 'commander';
import { median, percentile, shown, table } from './figures.ts';
import { positiveInteger, positiveNumber } from './options.ts';
import { oneLine } from './report.ts';
import { openFiles, residentMiB } from './resources.ts';
import { flatOutRound, type Round, steadyRound } from './rounds.ts';
import { type Stack, startStack } from './stack.ts';

/** Rounds flat out, of which the median is the capacity. */
const CAPACITY_ROUNDS = 3;
const CAPACITY_ORDERS = 300;
const CLIENTS = 16;
const MINUTE_S = 60;

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

async function heldBy({ processes, connections }: Stack): Promise<number[]> {
  const { api, worker, temporal } = processes;
  return [...[api, worker, temporal].map(residentMiB), ...[api, worker].map(openFiles), await connections()];
}

async function capacityOf(stack: Stack): Promise<number> {
  const rounds: Round[] = [];
  // The first one warms compilers, caches and connections, and is not counted.
  for (let index = 0; index <= CAPACITY_ROUNDS; index += 1) {
    const round = await flatOutRound(stack, CAPACITY_ORDERS, CLIENTS);
    say(`${index === 0 ? 'warm-up' : `capacity ${index}`}: ${oneLine(round)}`);
    if (index > 0) rounds.push(round);
  }
  return median(rounds.map(({ deliveries, seconds }) => deliveries / seconds));
}

async function soak({ minutes, rate }: Options): Promise<void> {
  const stack = await startStack((text) => say(`Starting ${text}`));
  try {
    const capacity = rate === undefined ? await capacityOf(stack) : null;
    const perSecond = rate ?? (capacity ?? 0) / 2;
    const rows: number[][] = [];
    let repeats = 0;
    for (let minute = 1; minute <= minutes; minute += 1) {
      const round = await steadyRound(stack, Math.round(perSecond * MINUTE_S), perSecond);
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
    await stack.stop();
  }
}

await new Command('bench:soak')
  .description('Sends orders at half of what this machine can deliver, and shows what the processes hold.')
  .option('--minutes <n>', 'how long', positiveInteger, 30)
  .option('--rate <n>', 'orders per second, instead of half of what is measured first', positiveNumber)
  .action(soak)
  .parseAsync();
