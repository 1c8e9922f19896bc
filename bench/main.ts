/**
 * `npm run bench`: how many deliveries go through per second, what each costs in processor time, and how long one
 * takes from COMMIT to the receiver's first byte. It starts a stack of its own and takes it down again.
 *
 *     npm run bench -- --rounds 5 --orders 200 --clients 16 --rate 10
 * @module
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { cpuMilliseconds, difference, type Milliseconds } from './cpu.ts';
import { positiveInteger, positiveNumber } from './options.ts';
import { oneLine, report } from './report.ts';
import { flatOutRound, type Round, steadyRound } from './rounds.ts';
import { type Stack, startStack } from './stack.ts';

/** No round begins after this, whatever was asked for. */
const BUDGET_MS = 150_000;
const STEADY_SECONDS = 6;
const IDLE_MS = 3_000;

const say = (text: string) => console.error(text);

interface Options {
  readonly cluster: boolean;
  readonly rounds: number;
  readonly orders: number;
  readonly clients: number;
  readonly rate: number;
}

await new Command('bench')
  .description('Measures the delivery of created orders to one POST webhook on this machine.')
  .option('--rounds <n>', 'rounds of each kind; the table shows their medians', positiveInteger, 5)
  .option('--orders <n>', 'orders in a round flat out', positiveInteger, 200)
  .option('--clients <n>', 'clients that send them at once', positiveInteger, 16)
  .option('--rate <n>', `orders per second in a steady round of ${STEADY_SECONDS} s`, positiveNumber, 10)
  .option('--cluster', 'the full Temporal server on Postgres instead of the embedded one', false)
  .action(bench)
  .parseAsync();

async function bench(options: Options): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor times from /proc: Linux only.');
  const started = performance.now();
  const [load = 0] = loadavg();
  const stack = await startStack((text) => say(`Starting ${text}`), options.cluster);
  try {
    const idle = await idleShare(stack);
    const kinds = [
      {
        name: `steady, ${options.rate} orders/s`,
        run: () => steady(stack, options.rate),
        rounds: [] as Round[],
      },
      {
        name: `flat out, ${options.clients} clients`,
        run: () => flatOutRound(stack, options.orders, options.clients),
        rounds: [] as Round[],
      },
    ];
    // A first round of each warms compilers, caches and connections, and is not counted.
    for (let index = 0; index <= options.rounds; index += 1) {
      for (const kind of kinds) {
        if (performance.now() - started > BUDGET_MS) break;
        const round = await kind.run();
        if (index > 0) kind.rounds.push(round);
        say(`${index === 0 ? 'warm-up' : `round ${index}`}, ${kind.name}: ${oneLine(round)}`);
      }
    }
    console.log(report(kinds, idle, load));
  } finally {
    await stack.stop();
  }
}

function steady(stack: Stack, perSecond: number): Promise<Round> {
  return steadyRound(stack, Math.max(1, Math.round(perSecond * STEADY_SECONDS)), perSecond);
}

/** What the stack uses while nothing happens, in per cent of one processor. */
async function idleShare(stack: Stack): Promise<Milliseconds> {
  const before = cpuMilliseconds(stack.processes);
  await sleep(IDLE_MS);
  const used = difference(cpuMilliseconds(stack.processes), before);
  return Object.fromEntries(Object.entries(used).map(([name, ms]) => [name, (100 * ms) / IDLE_MS]));
}
