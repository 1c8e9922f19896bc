/**
 * The floor: what the engine alone takes. Workflows are started as the relay starts them and run by a worker with Waybill's
 * settings; each has one activity, which does nothing.
 * @module
 */
import { Client } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { v7 as uuidv7 } from 'uuid';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { eachLimited } from '../../src/each-limited.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { deliveryWorkerTuning } from '../../src/worker-role.ts';
import { serve } from './serve.ts';

const TASK_QUEUE = 'floor';
/** Calls that start a workflow under way at once, as in the relay. */
const STARTS_AT_ONCE = 25;

Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error } });
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' });
let done = 0;
let allDone: () => void = () => {};
const worker = await Worker.create({
  ...deliveryWorkerTuning,
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: await buildWorkflowBundle(new URL('./floor-workflow.ts', import.meta.url)),
  activities: {
    async attemptDelivery() {
      done += 1;
      allDone();
      return 'delivered';
    },
  },
});
const running = worker.run();
const dispatcher = createDispatcher(new Client({ connection }), TASK_QUEUE, defaultRetryPolicy);

async function run(times: number): Promise<void> {
  const until = done + times;
  const finished = new Promise<void>((resolve) => {
    allDone = () => {
      if (done >= until) resolve();
    };
  });
  await eachLimited(Array.from({ length: times }), STARTS_AT_ONCE, () =>
    dispatcher.startDelivery({
      id: uuidv7(),
      eshopId: 1,
      webhookId: 1,
      eventType: 'CREATE_ORDER',
      entityId: 'bench-10001',
    }),
  );
  await finished;
}

serve(run, async () => {
  worker.shutdown();
  await running;
  await connection.close();
});
