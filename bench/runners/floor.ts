/**
 * The floor: what the engine alone takes. Workflows are started as the relay starts them, no more of them at once than its
 * pace allows, and run by a worker with Waybill's settings; each has one activity, which does nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { deliveryWorkerTuning } from '../../src/app/worker-session.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { eachLimited } from '../../src/lib/each-limited.ts';
import { BATCH, CONCURRENCY, FULL_MS } from '../../src/relay/limits.ts';
import { createPace } from '../../src/relay/pace.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { registerSearchAttributes } from '../../src/temporal/register-search-attributes.ts';
import { buildWorkflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { serve } from './serve.ts';

const TASK_QUEUE = 'floor';

Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error } });
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' });
// A cluster knows only those that somebody has registered.
await registerSearchAttributes(connection, 'default', pino({ level: 'silent' }));
/** When each was started that has not been attempted yet, the oldest first. */
const handedOver = new Map<string, number>();
const pace = createPace();
let done = 0;
let allDone: () => void = () => {};
const worker = await Worker.create({
  ...deliveryWorkerTuning,
  connection,
  taskQueue: TASK_QUEUE,
  workflowBundle: await buildWorkflowBundle(new URL('./floor-workflow.ts', import.meta.url)),
  activities: {
    async attemptDelivery({ deliveryId }: { readonly deliveryId: string }) {
      handedOver.delete(deliveryId);
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
  handedOver.set(id, performance.now());
  await dispatcher.startDelivery({
    id,
    eshopId: 1,
    webhookId: 1,
    eventType: 'CREATE_ORDER',
    entityId: 'bench-10001',
    receiverHost: null,
  });
}

async function run(times: number): Promise<void> {
  const until = done + times;
  const finished = new Promise<void>((resolve) => {
    allDone = () => {
      if (done >= until) resolve();
    };
  });
  for (let left = times; left > 0; ) {
    const now = performance.now();
    const [oldest = now] = handedOver.values();
    const free = pace.bound() - handedOver.size;
    const count = Math.max(0, Math.min(free, left, BATCH));
    pace.observe({ handOverMs: now - oldest, bounded: count < left && free <= BATCH }, now);
    await eachLimited(Array.from({ length: count }), CONCURRENCY, startOne);
    left -= count;
    if (count >= free) await sleep(FULL_MS);
  }
  await finished;
}

serve(run, async () => {
  worker.shutdown();
  await running;
  await connection.close();
});
