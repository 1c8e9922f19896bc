/**
 * Orders over the API: the highest throughput, and the latency of a delivery at a tenth, half and nine tenths of it.
 */
import { type Phase, phases } from '../../src/attempt/phases.ts';
import { freePort } from '../../src/embedded/ports.ts';
import type { Setting } from '../../test/support/harness/settings.ts';
import { sampleOf, samplesOf } from '../../test/support/metrics.ts';
import { figure, ratio } from '../criteria.ts';
import { parts } from '../measure.ts';
import { type OneProcess, startInOneProcess } from '../one-process.ts';
import { firstDelivery, flatOutRound, type Line, openLine } from '../rounds.ts';
import { startRunner } from '../runners/runner.ts';
import type { Stack } from '../stack.ts';
import { percentile } from '../statistics.ts';
import { probeLatency } from '../trial.ts';
import type { Bench, Section } from './section.ts';

const CLIENTS = 16;
const SHARES = [10, 50, 90] as const;
const PERCENTS = [50, 95, 99] as const;
const PATIENCE_MS = 300_000;
const WARM_UP = 50;
const EASY_PER_SECOND = 10;

/** Its name in the table. */
const latencyName = (percent: number, share: number) =>
  `COMMIT to first byte at ${share} % of it, p${percent}, ms`;
/** The engine alone, from the start of an empty workflow to its activity, and Waybill, at the same easy pace. */
const floorName = 'start of a workflow to its activity, p50, ms';
const easyName = (percent: number) =>
  `request to first byte at ${EASY_PER_SECOND} orders per second, p${percent}, ms`;
/** The e-shop's own wait at that pace, the minimum for a delivery. */
const answerName = `request to its answer at ${EASY_PER_SECOND} orders per second, p50, ms`;
/** The same with everything in one process. */
const wholeName = (percent: number) => `in one process: ${easyName(percent)}`;
const wholeAnswerName = `in one process: ${answerName}`;
const phaseName = (phase: Phase) => `  of that ${phase}, mean, ms`;
/** In all rounds of a setting together. */
const undeliveredName = 'orders not delivered in time';
const wholeUndeliveredName = `in one process: ${undeliveredName}`;
const capacityName = `orders delivered per second, ${CLIENTS} clients`;

export const calm: Section = {
  name: 'calm',
  about: 'orders over the API: the most that goes through, and latency from COMMIT at 10, 50 and 90 % of it',
  criteria: [
    ratio('p50 from request over the engine’s floor', easyName(50), [floorName, 'floor'], { most: 1.5 }),
    ratio('p50 from request to first byte over that to its own answer', easyName(50), answerName, {
      most: 1.6,
    }),
    ratio(
      'in one process: p50 from request to first byte over that to its own answer',
      wholeName(50),
      wholeAnswerName,
      { most: 1.6 },
    ),
    ratio(
      'p50 from request to first byte, API and worker apart over one process',
      easyName(50),
      wholeName(50),
      { most: 1.5 },
    ),
    ratio('p99 over p50 from request, at an easy pace', easyName(99), easyName(50), { most: 4 }),
    ratio('p99 over p50 from COMMIT, at half of capacity', latencyName(99, 50), latencyName(50, 50), {
      most: 4,
    }),
    figure(undeliveredName, undeliveredName, { most: 0 }),
    figure(wholeUndeliveredName, wholeUndeliveredName, { most: 0 }),
  ],
  async run(bench: Bench) {
    const stack = await bench.stack();
    const line = await openLine(stack);
    const whole = await startInOneProcess(stack, 'whole');
    const wholeLine = await whole.openLine();
    for (let run = 0; run < bench.runs; run += 1) {
      await floor(bench, stack);
      await inOneProcess(bench, whole, wholeLine);
      for (const setting of bench.settings) {
        const metricsPort = await freePort();
        await stack.startWorker({ WORKFLOWS: setting, METRICS_PORT: String(metricsPort) });
        await firstDelivery(line);
        const atEase = await atEasyPace(bench, stack, line, setting, metricsPort);
        const { perSecond, undelivered } = await atCapacity(bench, stack, line, setting);
        const inSteps = await atShares(bench, stack, line, setting, perSecond);
        bench.note(undeliveredName, setting, atEase + undelivered + inSteps);
      }
    }
  },
};

/** Orders at an easy pace, after a few that are not measured. */
async function probed({ sizes, patience }: Bench, stack: Pick<Stack, 'commits'>, line: Line) {
  const seconds = sizes.steadySeconds;
  const pace = { perSecond: EASY_PER_SECOND, seconds, patienceMs: patience(PATIENCE_MS) };
  await probeLatency(stack, line, { ...pace, seconds: Math.min(5, seconds) });
  return () => probeLatency(stack, line, pace);
}

/** Latency at an easy pace, and its phases. @returns the number of orders not delivered in time */
async function atEasyPace(
  bench: Bench,
  stack: Stack,
  line: Line,
  setting: Setting,
  metricsPort: number,
): Promise<number> {
  const probe = await probed(bench, stack, line);
  const sumsBefore = await sumsOfPhases(metricsPort);
  const { fromRequest, answers, undelivered } = await probe();
  const sumsAfter = await sumsOfPhases(metricsPort);
  for (const [index, phase] of phases.entries()) {
    const [before, after] = [sumsBefore[index], sumsAfter[index]];
    if (before === undefined || after === undefined) continue;
    const meanMs = (1_000 * (after.sum - before.sum)) / (after.count - before.count);
    bench.note(phaseName(phase), setting, meanMs);
  }
  for (const percent of PERCENTS) bench.note(easyName(percent), setting, percentile(fromRequest, percent));
  bench.note(answerName, setting, percentile(answers, 50));
  return undelivered;
}

/** The highest throughput, which is returned, and its cost. */
async function atCapacity(bench: Bench, stack: Stack, line: Line, setting: Setting) {
  const patienceMs = bench.patience(PATIENCE_MS);
  const flatOut = (orders: number) => flatOutRound(stack, line, { orders, clients: CLIENTS, patienceMs });
  const { orders } = bench.sizes;
  await flatOut(Math.min(WARM_UP, orders));
  const { deliveries, seconds, cpuPerDelivery } = await flatOut(orders);
  bench.note(capacityName, setting, deliveries / seconds);
  bench.note('CPU per order and delivery, ms', setting, cpuPerDelivery.all ?? Number.NaN);
  for (const part of parts) bench.note(`  of which ${part}`, setting, cpuPerDelivery[part] ?? Number.NaN);
  return { perSecond: deliveries / seconds, undelivered: orders - deliveries };
}

/** Latency at shares of the highest throughput. @returns the number of orders not delivered in time */
async function atShares(bench: Bench, stack: Stack, line: Line, setting: Setting, capacity: number) {
  let missing = 0;
  for (const share of SHARES) {
    const perSecond = (capacity * share) / 100;
    const pace = { perSecond, seconds: bench.sizes.steadySeconds, patienceMs: bench.patience(PATIENCE_MS) };
    const { latencies, undelivered } = await probeLatency(stack, line, pace);
    missing += undelivered;
    for (const percent of PERCENTS)
      bench.note(latencyName(percent, share), setting, percentile(latencies, percent));
  }
  return missing;
}

/** The worker's measurements of each phase: the sum in seconds, and the number of first attempts. */
async function sumsOfPhases(metricsPort: number) {
  const samples = samplesOf(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  const name = 'waybill_commit_to_first_byte_phase_seconds';
  return phases.map((phase) => ({
    sum: sampleOf(samples, `${name}_sum`, { phase }) ?? 0,
    count: sampleOf(samples, `${name}_count`, { phase }) ?? 0,
  }));
}

async function inOneProcess(bench: Bench, whole: OneProcess, line: Line): Promise<void> {
  const { fromRequest, answers, undelivered } = await (await probed(bench, whole, line))();
  for (const percent of PERCENTS) bench.note(wholeName(percent), 'all', percentile(fromRequest, percent));
  bench.note(wholeAnswerName, 'all', percentile(answers, 50));
  bench.note(wholeUndeliveredName, 'all', undelivered);
}

/** Temporal alone, at an easy pace. */
async function floor(bench: Bench, stack: Stack): Promise<void> {
  const env = { TEMPORAL_ADDRESS: stack.env.TEMPORAL_ADDRESS ?? '', PER_SECOND: String(EASY_PER_SECOND) };
  const runner = await startRunner('floor', env, `${stack.directory}/floor.log`);
  try {
    await runner.run(WARM_UP);
    const measured = await runner.run(Math.round(EASY_PER_SECOND * bench.sizes.steadySeconds));
    bench.note(floorName, 'floor', percentile(measured, 50));
  } finally {
    await runner.stop();
  }
}
