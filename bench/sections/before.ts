/**
 * Light load, single orders, a rush and an import, compared in turns with another checkout, each with its own parts.
 * The other one predates WORKFLOWS and runs with its defaults.
 */
import { ratio } from '../criteria.ts';
import { startCpuClock } from '../measure.ts';
import { type OneProcess, startInOneProcess } from '../one-process.ts';
import { type Line, sendFlatOut } from '../rounds.ts';
import { MOVEMENT } from '../shop.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { probeLatency } from '../trial.ts';
import type { Bench, Section } from './section.ts';

const PER_SECOND = 10;
const CLIENTS = 16;
const WARM_UP = 50;
const PATIENCE_MS = 3_600_000;
/** The webhooks of an order in a rush. */
const RUSH_WEBHOOKS = 10;
/** The variables of each column. */
const COLUMNS = {
  before: {},
  all: { WORKFLOWS: 'all' },
  undelivered: { WORKFLOWS: 'undelivered' },
} as const;
type Tried = keyof typeof COLUMNS;

const latencyName = (percent: number) =>
  `COMMIT to first byte at ${PER_SECOND} orders per second, p${percent}, ms`;
/** The figures of each kind of load. */
const rateName = (load: string) => `${load}: deliveries per second until the last arrival`;
const endedName = (load: string) => `${load}: until the last workflow has ended, s`;
const cpuName = (load: string) => `${load}: CPU of all processes per delivery until then, ms`;
const SINGLE = `single orders, ${CLIENTS} clients`;
const RUSH = `a rush of orders with ${RUSH_WEBHOOKS} webhooks`;
const IMPORT = 'an import';

interface Tree extends OneProcess {
  readonly column: Tried;
  readonly line: Line;
}

export const before: Section = {
  name: 'before',
  about: 'light load, single orders, a rush and an import, in turns with another checkout (--before)',
  criteria: [
    ratio('p50 from COMMIT over that of the other checkout', latencyName(50), [latencyName(50), 'before'], {
      most: 1,
    }),
    ...[SINGLE, RUSH, IMPORT].map((load) =>
      ratio(`${load}: throughput over the other checkout’s`, rateName(load), [rateName(load), 'before'], {
        least: 1,
      }),
    ),
    ratio(`${SINGLE}: CPU over the other checkout’s`, cpuName(SINGLE), [cpuName(SINGLE), 'before'], {
      most: 1,
    }),
  ],
  async run(bench: Bench) {
    const { before: folder, sizes } = bench;
    if (folder === undefined) return;
    const stack = await bench.stack();
    const pace = {
      perSecond: PER_SECOND,
      seconds: sizes.steadySeconds,
      patienceMs: bench.patience(PATIENCE_MS),
    };
    const trees = await startTrees(bench, stack, folder);
    await inTurns(bench, trees, async ({ column, line, commitTimes }) => {
      const { latencies } = await probeLatency({ commitTimes }, line, pace);
      return () => {
        for (const percent of [50, 95, 99])
          bench.note(latencyName(percent), column, percentile(latencies, percent));
      };
    });
    await inTurns(bench, trees, (tree) => {
      const { orders } = sizes;
      return loaded(bench, stack, tree, SINGLE, {
        line: tree.line,
        deliveries: orders,
        send: () => sendFlatOut(tree.line.shop, orders, CLIENTS),
      });
    });
    await inTurns(bench, trees, async (tree) => {
      const line = await tree.openLine();
      for (let index = 1; index < RUSH_WEBHOOKS; index += 1)
        await line.shop.createWebhook('CREATE_ORDER', `${line.receiver.url}/prompt/${index}`);
      const { orders } = sizes;
      const send = () => sendFlatOut(line.shop, orders, CLIENTS);
      return await loaded(bench, stack, tree, RUSH, { line, deliveries: orders * RUSH_WEBHOOKS, send });
    });
    await inTurns(bench, trees, async (tree) => {
      const line = await tree.openLine();
      await line.shop.createWebhook(MOVEMENT, `${line.receiver.url}/prompt/movements`);
      const { importLines } = sizes;
      const send = () => line.shop.importMovements(importLines);
      return await loaded(bench, stack, tree, IMPORT, { line, deliveries: importLines, send });
    });
  },
};

async function startTrees(bench: Bench, stack: Stack, folder: string): Promise<Tree[]> {
  const trees: Tree[] = [];
  // One after the other: each searches for its own free ports.
  for (const column of ['before', ...bench.settings] as const) {
    const cwd = column === 'before' ? folder : process.cwd();
    const tree = await startInOneProcess(stack, `tree_${column}`, cwd, COLUMNS[column]);
    const line = await tree.openLine();
    await sendFlatOut(line.shop, WARM_UP, CLIENTS);
    // Its work must not count against the next tree.
    await tree.untilWorkflowsEnded(bench.patience(PATIENCE_MS));
    trees.push({ ...tree, column, line });
  }
  return trees;
}

/** Measures in turns; the first turn of each warms compilers, caches and connections, and is not noted. */
async function inTurns(
  { runs }: Bench,
  trees: readonly Tree[],
  measure: (tree: Tree) => Promise<() => void>,
): Promise<void> {
  for (let run = 0; run < Math.max(2, runs); run += 1) {
    for (const tree of trees) {
      const note = await measure(tree);
      if (run > 0) note();
    }
  }
}

interface Load {
  readonly line: Line;
  readonly deliveries: number;
  readonly send: () => Promise<unknown>;
}

/** Sends as fast as accepted, until the last arrival and the last workflow's end. @returns notes what was measured */
async function loaded(
  bench: Bench,
  stack: Stack,
  { pid, column, untilWorkflowsEnded }: Tree,
  load: string,
  { line, deliveries, send }: Load,
): Promise<() => void> {
  const patienceMs = bench.patience(PATIENCE_MS);
  // Work that an earlier turn has left must not count here.
  await untilWorkflowsEnded(patienceMs);
  await line.receiver.arrivalsWithin({ deliveries: 0, patienceMs: 0 });
  const clock = startCpuClock(stack, { worker: pid });
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1_000;
  await send();
  await line.receiver.arrivals(deliveries, patienceMs);
  const arrived = seconds();
  await untilWorkflowsEnded(patienceMs);
  const ended = seconds();
  const { all = Number.NaN } = await clock.stop();
  bench.say(`${load}, ${column}: arrived after ${arrived.toFixed(1)} s, ended after ${ended.toFixed(1)} s`);
  return () => {
    bench.note(rateName(load), column, deliveries / arrived);
    bench.note(endedName(load), column, ended);
    bench.note(cpuName(load), column, all / deliveries);
  };
}
