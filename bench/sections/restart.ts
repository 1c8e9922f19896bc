/** A restart in mid-burst: many deliveries wait for their workflow, and fresh ones come. */
import { createBacklog } from '../backlog.ts';
import { figure, ratio } from '../criteria.ts';
import { firstDelivery, openLine } from '../rounds.ts';
import { percentile } from '../statistics.ts';
import { probeLatency } from '../trial.ts';
import { untilWorkflowsEnded } from '../workflows.ts';
import { type Bench, mainSetting, type Section } from './section.ts';

const PER_SECOND = 10;
const PATIENCE_MS = 600_000;
const PERCENTS = [50, 95] as const;

const latencyName = (when: 'before' | 'after', percent: number) =>
  `fresh deliveries ${when === 'before' ? 'before' : 'after a restart in mid-burst'}, p${percent}, ms`;

const undeliveredName = 'fresh deliveries undelivered';

export const restart: Section = {
  name: 'restart',
  about: 'fresh deliveries after a restart in mid-burst, while thousands wait for their workflow',
  criteria: [
    ratio(
      'fresh deliveries after a restart, p95 over that before',
      latencyName('after', 95),
      latencyName('before', 95),
      {
        most: 3,
      },
    ),
    figure(undeliveredName, undeliveredName, { most: 0 }),
  ],
  async run(bench: Bench) {
    const setting = mainSetting(bench);
    for (let run = 0; run < bench.runs; run += 1) {
      const stack = await bench.stack();
      const env = { WORKFLOWS: setting };
      await stack.startWorker(env);
      const line = await openLine(stack);
      await firstDelivery(line);
      const { pending, steadySeconds: seconds } = bench.sizes;
      const patienceMs = bench.patience(PATIENCE_MS);
      const pace = { perSecond: PER_SECOND, seconds, patienceMs };
      await probeLatency(stack, line, { ...pace, seconds: Math.min(5, seconds) });
      const before = await probeLatency(stack, line, pace);

      const receiver = await stack.startReceiver();
      const backlog = await createBacklog(stack.sql, stack.secretKey, receiver.urlOf);
      await backlog.write(pending * 2);
      await backlog.release();
      backlog.wake();
      await receiver.arrivals(pending, patienceMs);
      await stack.stopWorker();
      const [row] = await stack.sql<{ pending: number }[]>`
        select count(*)::int as pending from deliveries where state = 'delivered' and dispatched_at is null`;
      const started = performance.now();
      await stack.startWorker(env);
      const ready = performance.now();
      const after = await probeLatency(stack, line, pace);
      bench.note('deliveries that wait for their workflow', setting, row?.pending ?? Number.NaN);
      bench.note('until the worker is ready, s', setting, (ready - started) / 1_000);
      for (const percent of PERCENTS) {
        bench.note(latencyName('before', percent), setting, percentile(before.latencies, percent));
        bench.note(latencyName('after', percent), setting, percentile(after.latencies, percent));
      }
      bench.note(undeliveredName, setting, before.undelivered + after.undelivered);
      await untilWorkflowsEnded(stack.sql, stack.temporalAddress, patienceMs);
      bench.note('until the last workflow has ended, s', setting, (performance.now() - ready) / 1_000);
      await stack.stop();
    }
  },
};
