/**
 * A backlog drained to the last arrival and the last workflow's end, compared with its floors: Temporal with an empty
 * workflow, the same attempts without Temporal, the sender alone.
 */

import type { Setting } from '../../test/support/harness/settings.ts';
import { startChild } from '../children.ts';
import { type Milliseconds, sharesOf } from '../cpu.ts';
import { ratio } from '../criteria.ts';
import { drain } from '../drain.ts';
import { startCpuClock } from '../measure.ts';
import { startRunner } from '../runners/runner.ts';
import type { Column } from '../sheet.ts';
import type { Stack } from '../stack.ts';
import { countWorkflows, databaseKib, untilWorkflowsEnded } from '../workflows.ts';
import { type Bench, mainSetting, type Section } from './section.ts';

const PATIENCE_MS = 3_600_000;

/** Drained before the measurement, and run by the floor, so that compilers, caches and connections are warm. */
const WARM_UP = { workflows: 500, deliveries: 3_000 } as const;

export const perSecondName = 'backlog: deliveries per second';
export const cpuName = 'backlog: CPU per delivery, ms';
const temporalName = '  of which Temporal';
const workflowsName = 'backlog: workflows per second after the last arrival';

const ATTEMPTS = 'attempts without Temporal';

export const rush: Section = {
  name: 'rush',
  about: 'a backlog that drains: beside the floor, without Temporal, and the sender alone',
  criteria: [
    ratio('throughput over that of attempts without Temporal', perSecondName, [perSecondName, ATTEMPTS], {
      least: 0.75,
    }),
    ratio('CPU over the sender’s alone (0.9 ms where that is 0.14 ms)', cpuName, [cpuName, 'sender'], {
      most: 0.9 / 0.14,
    }),
    ratio('Temporal’s share of the CPU until the last arrival', temporalName, cpuName, { most: 1 / 3 }),
    ratio('workflows per second over the floor’s', workflowsName, [perSecondName, 'floor'], { least: 0.5 }),
  ],
  async run(bench: Bench) {
    const stack = await bench.stack();
    for (let run = 0; run < bench.runs; run += 1) {
      for (const setting of bench.settings) {
        // Floors only where they are compared, and just before: the machine's speed may change within minutes.
        if (setting === mainSetting(bench)) {
          await floor(bench, stack);
          await sender(bench, stack);
          await withoutTemporal(bench, stack);
        }
        await stack.startWorker({ WORKFLOWS: setting });
        await backlog(bench, stack, setting);
        await stack.stopWorker();
      }
    }
  },
};

function noteAll(
  bench: Bench,
  column: Column,
  perSecond: number,
  cpu: Milliseconds,
  maxPerSecond?: number,
): void {
  bench.note(perSecondName, column, perSecond);
  if (maxPerSecond !== undefined) bench.note('  until nine tenths have arrived', column, maxPerSecond);
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
  const { sql, temporalAddress, temporalFile } = stack;
  const deliveries = sizes.backlog;
  bench.say(`${setting}: draining ${deliveries} …`);
  const warmUp = Math.min(deliveries, WARM_UP.deliveries);
  const patienceMs = bench.patience(PATIENCE_MS);
  const [workflowsBefore, kibBefore] = [
    await countWorkflows(temporalAddress),
    await databaseKib(temporalFile),
  ];
  const { startedAt, perSecond, maxPerSecond, cpu } = await drain(stack, {
    deliveries,
    warmUp,
    patienceMs,
  });
  noteAll(bench, setting, perSecond, cpu, maxPerSecond);
  bench.note('backlog: deliveries drained', setting, deliveries);
  const [then, workflowsThen] = [performance.now(), await countWorkflows(temporalAddress)];
  await untilWorkflowsEnded(sql, temporalAddress, patienceMs);
  const workflows = await countWorkflows(temporalAddress);
  const seconds = (performance.now() - then) / 1_000;
  if (workflows > workflowsThen) bench.note(workflowsName, setting, (workflows - workflowsThen) / seconds);
  bench.note('backlog: until the last arrival, s', setting, deliveries / perSecond);
  bench.note(
    'backlog: until the last workflow has ended, s',
    setting,
    (performance.timeOrigin + performance.now() - startedAt) / 1_000,
  );
  const started = workflows - workflowsBefore;
  bench.note('  deliveries with a workflow, those of the warm-up too', setting, started);
  const kib = (await databaseKib(temporalFile)) - kibBefore;
  if (started > 0) bench.note('  KiB in Temporal’s database per workflow', setting, kib / started);
}

/** Temporal alone, with the worker's settings. */
async function floor(bench: Bench, stack: Stack): Promise<void> {
  const count = bench.sizes.workflows;
  bench.say(`floor: ${count} workflows that do nothing …`);
  const env = { TEMPORAL_ADDRESS: stack.temporalAddress };
  await alone(stack, 'floor', env, { count, warmUp: WARM_UP.workflows }, (perSecond, cpu) =>
    noteAll(bench, 'floor', perSecond, cpu),
  );
}

/** The same claims and attempts, with a Temporal that answers at once and does nothing. */
async function withoutTemporal(bench: Bench, stack: Stack): Promise<void> {
  const deliveries = bench.sizes.backlog;
  bench.say(`without Temporal: draining ${deliveries} …`);
  const child = startChild('bench/without-temporal.ts', stack.env, `${stack.directory}/without-temporal.log`);
  await stack.add(child.stop);
  try {
    const { perSecond, maxPerSecond, cpu } = await drain(stack, {
      deliveries,
      warmUp: Math.min(deliveries, WARM_UP.deliveries),
      patienceMs: bench.patience(PATIENCE_MS),
      processes: { worker: child.pid },
    });
    noteAll(bench, ATTEMPTS, perSecond, cpu, maxPerSecond);
  } finally {
    await child.stop();
  }
}

/** Signing and sending alone. */
async function sender(bench: Bench, stack: Stack): Promise<void> {
  const env = { RECEIVER_URL: `${stack.receiver.url}/prompt` };
  await alone(
    stack,
    'send',
    env,
    { count: bench.sizes.backlog, warmUp: WARM_UP.deliveries },
    (perSecond, cpu) => {
      bench.note(perSecondName, 'sender', perSecond);
      bench.note(cpuName, 'sender', cpu.worker ?? Number.NaN);
    },
  );
}

/** A program beside Temporal that counts as the worker. */
async function alone(
  stack: Stack,
  program: 'floor' | 'send',
  env: Readonly<Record<string, string>>,
  times: { readonly count: number; readonly warmUp: number },
  note: (perSecond: number, cpu: Milliseconds) => void,
): Promise<void> {
  const runner = await startRunner(program, env, `${stack.directory}/${program}.log`);
  try {
    const { count, warmUp } = times;
    await runner.run(Math.min(count, warmUp));
    const clock = startCpuClock(stack, { worker: runner.pid });
    const start = performance.now();
    await runner.run(count);
    const seconds = (performance.now() - start) / 1000;
    note(count / seconds, sharesOf(await clock.stop(), count));
  } finally {
    await runner.stop();
  }
}
