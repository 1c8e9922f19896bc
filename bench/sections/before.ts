/** Latency in a calm, beside that of another checkout: both with everything of theirs, in turns. */
import { startInOneProcess } from '../one-process.ts';
import type { Line } from '../rounds.ts';
import type { Stack } from '../stack.ts';
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
    const trees: (Pick<Stack, 'commitTimes'> & { column: (typeof COLUMNS)[number]; line: Line })[] = [];
    // In turn: each looks for free ports of its own.
    for (const column of COLUMNS) {
      const cwd = column === 'before' ? folder : process.cwd();
      const { openLine, commitTimes } = await startInOneProcess(stack, `tree_${column}`, cwd);
      trees.push({ column, commitTimes, line: await openLine() });
    }
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
