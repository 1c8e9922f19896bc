/** The floor: Temporal alone. Workflows of one empty activity, started as by the relay, under Waybill's settings. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import pLimit from 'p-limit';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { deliveryWorkerTuning } from '../../src/app/sdk-workers.ts';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { keepSearchAttributes } from '../../src/temporal/register-search-attributes.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { neverAttempted } from '../../test/support/database/deliveries.ts';
import { serve } from './serve.ts';

const TASK_QUEUE = 'floor';
/** The wait before checking again for a free place, as in the relay, in milliseconds. */
const AGAIN_MS = 20;

Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error } });
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' });
// A cluster knows only registered search attributes.
await (await keepSearchAttributes(connection, 'default', pino({ level: 'silent' }))).stop();
/** Default: as fast as possible. */
const perSecond = Number(process.env.PER_SECOND ?? Number.POSITIVE_INFINITY);
const startedAt = new Map<string, number>();
/** From the start of a workflow to its activity, in milliseconds. */
let measured: number[] = [];
let done = 0;
let allDone: () => void = () => {};
const worker = await Worker.create({
  ...deliveryWorkerTuning,
  maxConcurrentActivityTaskExecutions: schedulerDefaults.attempts,
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: await buildWorkflowBundle(new URL('./floor-workflow.ts', import.meta.url)),
  activities: {
    async attemptDelivery({ deliveryId }: { readonly deliveryId: string }) {
      measured.push(performance.now() - (startedAt.get(deliveryId) ?? Number.NaN));
      startedAt.delete(deliveryId);
      done += 1;
      allDone();
      return 'delivered';
    },
  },
});
const running = worker.run();
const dispatcher = createDispatcher(new Client({ connection }), TASK_QUEUE, defaultRetryPolicy);

async function startOne(): Promise<void> {
  const id = uuidv7();
  startedAt.set(id, performance.now());
  await dispatcher.startDelivery(
    {
      id,
      eshopId: 1,
      webhookId: 1,
      eventType: 'CREATE_ORDER',
      entityId: 'bench-10001',
      receiverHost: null,
      ...neverAttempted,
    },
    // As the relay does under light load, after an attempt.
    { kind: 'delivered', number: 1, status: 200 },
  );
}

async function run(times: number): Promise<readonly number[]> {
  measured = [];
  const until = done + times;
  const finished = new Promise<void>((resolve) => {
    allDone = () => {
      if (done >= until) resolve();
    };
  });
  for (let left = times; left > 0; ) {
    const { startsUnderWay } = schedulerDefaults;
    const count = Math.min(
      left,
      startsUnderWay - startedAt.size,
      perSecond === Number.POSITIVE_INFINITY ? left : 1,
    );
    await pLimit(startsUnderWay).map(Array.from({ length: Math.max(0, count) }), startOne);
    left -= Math.max(0, count);
    if (perSecond !== Number.POSITIVE_INFINITY) await sleep(1_000 / perSecond);
    else if (count < 1) await sleep(AGAIN_MS);
  }
  await finished;
  return measured;
}

serve(run, async () => {
  worker.shutdown();
  await running;
  await connection.close();
});
