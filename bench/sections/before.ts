/** Latency in a calm and the cost of single workflows, compared with another checkout: each with all its own parts, in turns. */
import { ratio } from '../criteria.ts';
import { startCpuClock } from '../measure.ts';
import { type OneProcess, startInOneProcess } from '../one-process.ts';
import { type Line, sendFlatOut } from '../rounds.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { feel } from '../trial.ts';
import type { Bench, Section } from './section.ts';

const PER_SECOND = 10;
const CLIENTS = 16;
const WARM_UP = 50;
const PATIENCE_MS = 120_000;
const COLUMNS = ['before', 'auto'] as const;

const latencyName = (percent: number) =>
  `COMMIT to first byte at ${PER_SECOND} orders per second, p${percent}, ms`;
/** With FIRST_ATTEMPTS=each, until Temporal has all workflows. */
const eachName = `each: orders delivered per second, ${CLIENTS} clients`;
const eachCpuName = 'each: CPU per order and delivery, ms';

interface Tree extends OneProcess {
  readonly column: (typeof COLUMNS)[number];
  readonly line: Line;
}

export const before: Section = {
  name: 'before',
  about: 'latency in a calm, and the price of a workflow each, in turns with another checkout (--before)',
  criteria: [
    ratio('p50 from COMMIT over that of the other checkout', latencyName(50), [latencyName(50), 'before'], {
      most: 1,
    }),
    ratio('each: throughput over the other checkout’s', eachName, [eachName, 'before'], { least: 1 }),
    ratio('each: CPU over the other checkout’s', eachCpuName, [eachCpuName, 'before'], { most: 1 }),
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
    await inTurns(
      bench,
      await startTrees(stack, folder, 'calm', {}),
      async ({ column, line, commitTimes }) => {
        const { latencies } = await feel({ commitTimes }, line, pace);
        return () => {
          for (const percent of [50, 95, 99])
            bench.note(latencyName(percent), column, percentile(latencies, percent));
        };
      },
    );
    const trees = await startTrees(stack, folder, 'each', { FIRST_ATTEMPTS: 'each' });
    await inTurns(bench, trees, async (tree) => {
      await flatOut(stack, tree, WARM_UP, bench.patience(PATIENCE_MS));
      const { perSecond, cpuMs } = await flatOut(stack, tree, sizes.ordersEach, bench.patience(PATIENCE_MS));
      return () => {
        bench.note(eachName, tree.column, perSecond);
        bench.note(eachCpuName, tree.column, cpuMs);
      };
    });
  },
};

async function startTrees(
  stack: Stack,
  folder: string,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<Tree[]> {
  const trees: Tree[] = [];
  // One after the other: each searches for its own free ports.
  for (const column of COLUMNS) {
    const cwd = column === 'before' ? folder : process.cwd();
    const tree = await startInOneProcess(stack, `${name}_${column}`, cwd, env);
    trees.push({ ...tree, column, line: await tree.openLine() });
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

/** Orders as fast as they are accepted: how many per second are delivered and in Temporal, and the processor time of each in milliseconds. */
async function flatOut(stack: Stack, { pid, line, allDispatched }: Tree, orders: number, patienceMs: number) {
  const clock = startCpuClock(stack, { worker: pid });
  const start = performance.now();
  await sendFlatOut(line.shop, orders, CLIENTS);
  await line.receiver.arrivalsWithin({ deliveries: orders, seconds: 0, patienceMs });
  await allDispatched(patienceMs);
  const seconds = (performance.now() - start) / 1000;
  const { all = Number.NaN } = await clock.stop();
  return { perSecond: orders / seconds, cpuMs: all / orders };
}
