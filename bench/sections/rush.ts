/**
 * A backlog that drains, beside its floors: the engine with a workflow that does nothing, the same attempt code without
 * Temporal, the sender alone.
 * @module
 */
import { startChild } from '../children.ts';
import type { Milliseconds } from '../cpu.ts';
import { allPrompt, drain, worst } from '../drain.ts';
import { startCpuClock } from '../measure.ts';
import { startRunner } from '../runners/runner.ts';
import type { Column } from '../sheet.ts';
import type { Stack } from '../stack.ts';
import type { Bench, Section, Setting } from './section.ts';

const PATIENCE_MS = 3_600_000;
/** Retries of what fails are due after this, as configured by default. */
const FIRST_WAIT_MS = 25_000;

/** Drained before the measurement: compilers, caches and connections are warm then. */
const WARM_UP = { each: 100, others: 3_000 } as const;

export const perSecondName = 'backlog: deliveries per second';
export const cpuName = 'backlog: CPU per delivery, ms';
export const temporalName = '  of which Temporal';
export const slowName = 'backlog, 2 % of receivers take 3 s: per second';
export const failingName = 'backlog, 5 % of receivers fail: per second';

export const rush: Section = {
  name: 'rush',
  about: 'a backlog that drains: beside the floor, without Temporal, with slow and with failing receivers',
  async run(bench: Bench) {
    const stack = await bench.stack();
    for (let run = 0; run < bench.runs; run += 1) {
      await floor(bench, stack);
      await sender(bench, stack);
      await withoutTemporal(bench, stack);
      for (const setting of bench.settings) {
        await stack.startWorkers({ env: { FIRST_ATTEMPTS: setting } });
        await backlog(bench, stack, setting);
        if (setting === rushSetting(bench)) await troubled(bench, stack, setting);
        await stack.stopWorkers();
      }
    }
  },
};

/** Troubled receivers are of interest where deliveries go in batches. */
const rushSetting = ({ settings: asked }: Bench): Setting | undefined =>
  (['batch', 'auto'] as const).find((setting) => asked.includes(setting));

function noteAll(
  bench: Bench,
  column: Column,
  perSecond: number,
  cpu: Milliseconds,
  mostPerSecond?: number,
): void {
  bench.note(perSecondName, column, perSecond);
  if (mostPerSecond !== undefined) bench.note('  until nine tenths have arrived', column, mostPerSecond);
  bench.note(cpuName, column, cpu.all ?? Number.NaN);
  for (const [name, part] of [
    ['  of which the worker', 'worker'],
    [temporalName, 'temporal'],
    ['  of which Postgres', 'postgres'],
  ] as const)
    bench.note(name, column, cpu[part] ?? Number.NaN);
}

async function backlog(bench: Bench, stack: Stack, setting: Setting): Promise<void> {
  const { sizes } = bench;
  const deliveries = setting === 'each' ? sizes.backlogEach : sizes.backlog;
  bench.say(`${setting}: draining ${deliveries} …`);
  const warmUp = Math.min(deliveries, setting === 'each' ? WARM_UP.each : WARM_UP.others);
  const patienceMs = bench.patience(PATIENCE_MS);
  const { perSecond, mostPerSecond, cpu } = await drain(stack, {
    deliveries,
    warmUp,
    shape: allPrompt,
    patienceMs,
  });
  noteAll(bench, setting, perSecond, cpu, mostPerSecond);
  bench.note('backlog: deliveries drained', setting, deliveries);
}

async function troubled(bench: Bench, stack: Stack, setting: Setting): Promise<void> {
  const common = { deliveries: bench.sizes.backlog, warmUp: 0, patienceMs: bench.patience(PATIENCE_MS) };
  bench.say(`${setting}: draining ${common.deliveries}, 2 % of the receivers slow …`);
  const slow = await drain(stack, { ...common, shape: { ...allPrompt, slow: 2 } });
  bench.note(slowName, setting, slow.perSecond);
  bench.say(`${setting}: draining ${common.deliveries}, 5 % of the receivers failing …`);
  const failing = await drain(stack, {
    ...common,
    shape: { ...allPrompt, failing: 5 },
    retryAfterMs: FIRST_WAIT_MS,
  });
  bench.note(failingName, setting, failing.perSecond);
  bench.note('  requests repeated, slow or failing', setting, slow.repeats + failing.repeats);
  bench.note('  the healthy ones alone', setting, failing.healthyPerSecond);
  bench.note('  second attempts after they are due, p99, s', setting, worst(failing.lateMs) / 1000);
}

/** The engine alone, with the worker's settings. */
async function floor(bench: Bench, stack: Stack): Promise<void> {
  const count = bench.sizes.backlogEach;
  bench.say(`floor: ${count} workflows that do nothing …`);
  const env = { TEMPORAL_ADDRESS: stack.temporalAddress };
  await alone(stack, 'floor', env, count, (perSecond, cpu) => noteAll(bench, 'floor', perSecond, cpu));
}

/** The same claims, batches and attempt code, with a call in the place of a workflow. */
async function withoutTemporal(bench: Bench, stack: Stack): Promise<void> {
  const deliveries = bench.sizes.backlog;
  bench.say(`without Temporal: draining ${deliveries} …`);
  const child = startChild('bench/without-temporal.ts', stack.env, `${stack.directory}/without-temporal.log`);
  await stack.add(child.stop);
  try {
    const { perSecond, mostPerSecond, cpu } = await drain(stack, {
      deliveries,
      warmUp: Math.min(deliveries, WARM_UP.others),
      shape: allPrompt,
      patienceMs: bench.patience(PATIENCE_MS),
      processes: { worker: child.pid },
    });
    noteAll(bench, 'no Temporal', perSecond, cpu, mostPerSecond);
  } finally {
    await child.stop();
  }
}

/** Signing and sending alone. */
async function sender(bench: Bench, stack: Stack): Promise<void> {
  const env = { RECEIVER_URL: `${stack.receiver.url}/prompt` };
  await alone(stack, 'send', env, bench.sizes.backlog, (perSecond, cpu) => {
    bench.note(perSecondName, 'sender', perSecond);
    bench.note(cpuName, 'sender', cpu.worker ?? Number.NaN);
  });
}

/** A program of ours beside the engine, which counts as the worker. */
async function alone(
  stack: Stack,
  program: 'floor' | 'send',
  env: Readonly<Record<string, string>>,
  times: number,
  note: (perSecond: number, cpu: Milliseconds) => void,
): Promise<void> {
  const runner = await startRunner(program, env, `${stack.directory}/${program}.log`);
  try {
    await runner.run(Math.ceil(times / 10));
    const clock = startCpuClock(stack, { worker: runner.pid });
    const start = performance.now();
    await runner.run(times);
    const seconds = (performance.now() - start) / 1000;
    const cpu = await clock.stop();
    note(times / seconds, Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, ms / times])));
  } finally {
    await runner.stop();
  }
}
