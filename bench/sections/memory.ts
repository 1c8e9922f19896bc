/**
 * A worker with a heap of 512 MB and very many open deliveries: the memory of each, restarts, and the effect on fresh deliveries.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createBacklog } from '../backlog.ts';
import { figure } from '../criteria.ts';
import { residentMiB } from '../resources.ts';
import { firstDelivery, openLine } from '../rounds.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { feel } from '../trial.ts';
import { databaseKib } from '../workflows.ts';
import { type Bench, mainSetting, type Section } from './section.ts';

const HEAP_MB = 512;
/** Retries are due only after the measurement: open deliveries wait. */
const FIRST_WAIT = '12h';
const PER_SECOND = 10;
const PATIENCE_MS = 21_600_000;
const POLL_MS = 1_000;
const WEBHOOKS = 100;

const freshName = 'fresh deliveries beside all that are open, p99, ms';
const restartsName = 'ends of the worker';

export const memory: Section = {
  name: 'memory',
  about: `very many open deliveries in a worker with a heap of ${HEAP_MB} MB`,
  criteria: [
    figure('ends of the worker', restartsName, { most: 0 }),
    figure('fresh deliveries, p99, ms', freshName, { most: 1_000 }),
  ],
  async run(bench: Bench) {
    const { sizes } = bench;
    const setting = mainSetting(bench);
    const stack = await bench.stack();
    await stack.startWorkers({
      env: {
        WORKFLOWS: setting,
        RETRY_INITIAL_INTERVAL: FIRST_WAIT,
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      },
    });
    const line = await openLine(stack);
    await firstDelivery(line);
    const pace = { perSecond: PER_SECOND, seconds: sizes.trialSeconds, patienceMs: bench.patience(120_000) };
    await feel(stack, line, { ...pace, seconds: Math.min(5, pace.seconds) });
    const before = await feel(stack, line, pace);
    bench.note('fresh deliveries alone, p99, ms', setting, percentile(before.latencies, 99));
    const worker = () => residentMiB(stack.processes().worker ?? 0);
    const engine = () => residentMiB(stack.processes().temporal ?? 0);
    const [workerBefore, engineBefore] = [worker(), engine()];
    const kibBefore = await databaseKib(stack.temporalFile);

    const receiver = await stack.startReceiver();
    const shape = { webhooks: WEBHOOKS, slow: 0, failing: 100 };
    const backlog = await createBacklog(stack.sql, stack.secretKey, receiver.urlOf, shape);
    await backlog.write(sizes.open);
    await backlog.release();
    backlog.wake();
    const started = performance.now();
    await untilOpen(bench, stack);
    bench.note('open deliveries', setting, sizes.open);
    bench.note('  opened per second', setting, (sizes.open / (performance.now() - started)) * 1000);
    const perOpen = (now: number, then: number) => ((now - then) * 1024) / sizes.open;
    bench.note('  KiB per open delivery, worker', setting, perOpen(worker(), workerBefore));
    bench.note('  KiB per open delivery, Temporal', setting, perOpen(engine(), engineBefore));
    bench.note(
      '  KiB per open delivery, Temporal’s database',
      setting,
      ((await databaseKib(stack.temporalFile)) - kibBefore) / sizes.open,
    );
    bench.note('worker, MiB', setting, worker());
    const beside = await feel(stack, line, pace);
    bench.note(freshName, setting, percentile(beside.latencies, 99));
    bench.note('fresh deliveries undelivered', setting, beside.undelivered);
    bench.note(restartsName, setting, stack.endedWorkers());
  },
};

/**
 * Waits until each has failed once and has its workflow.
 */
async function untilOpen(bench: Bench, { sql, endedWorkers }: Stack): Promise<void> {
  const end = Date.now() + bench.patience(PATIENCE_MS);
  for (let round = 0; Date.now() < end; round += 1, await sleep(POLL_MS)) {
    const [row] = await sql<{ left: number }[]>`
      select count(*) filter (where attempts_made = 0 or dispatched_at is null)::int as left
      from deliveries where state in ('pending', 'retrying')`;
    if (row?.left === 0) return;
    if (round % 30 === 0) bench.say(`${row?.left} still to be opened …`);
    if (endedWorkers() > 0) throw new Error('The worker has ended.');
  }
  throw new Error('Not all were open in time.');
}
