/** Batch mode: attempts in batches. */
import { afterEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { transaction } from '../../src/db/transaction.ts';
import { batchWorkflowId } from '../../workflows/batch-types.ts';
import { type DeliveryStack, type StackOptions, startDeliveryStack } from '../support/delivery-stack.ts';
import { boundless, limitsWith } from '../support/limits.ts';
import { loseWorkflow } from '../support/lost-workflows.ts';
import { createReceiver, type Receiver, type ReceiverHandler } from '../support/receiver.ts';
import { recordEvent } from '../support/record-event.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start({ policy = {}, ...options }: StackOptions = {}): Promise<DeliveryStack> {
  const stack = await startDeliveryStack('batch', {
    firstAttempts: 'batch',
    // Hundreds of requests of one process on a busy machine: these tests are not about their time.
    policy: { attemptTimeoutMs: 30_000, ...policy },
    // A single batch; limits are tested below.
    limits: boundless,
    ...options,
  });
  cleanups.push(() => stack.stop());
  return stack;
}
async function startReceiver(handler?: ReceiverHandler): Promise<Receiver> {
  const receiver = await createReceiver(handler);
  cleanups.push(() => receiver.close());
  return receiver;
}

/** Fires this many events with one delivery each in a single transaction; answers the deliveries' ids. */
async function fireMany(
  stack: DeliveryStack,
  count: number,
  name = (index: number) => `order ${index}`,
): Promise<string[]> {
  const { eshopId } = stack;
  await transaction(stack.sql, async (tx) => {
    for (let index = 0; index < count; index += 1) {
      const entityId = name(index);
      await recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId, record: { eshopOrderId: entityId } });
    }
  });
  return (await stack.sql<{ id: string }[]>`select id from deliveries order by id`).map(({ id }) => id);
}
const untilDelivered = (stack: DeliveryStack) =>
  stack.until('every delivery', async () => {
    const open = await stack.sql`select from deliveries where state <> 'delivered' limit 1`;
    return open.length === 0;
  });
const workflowOf = (batch: { id: string } | undefined) => batchWorkflowId(batch?.id ?? 'none');
/** The first batch, once it has begun. */
const firstBatch = (stack: DeliveryStack) =>
  stack.until('a batch', async () => (await stack.batches())[0] ?? false);
/** The text that the Temporal UI shows for it now. */
async function detailsOf(stack: DeliveryStack, batch: { id: string } | undefined): Promise<string> {
  const handle = stack.client.workflow.getHandle(workflowOf(batch));
  return String(
    (await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails,
  );
}
const attemptsAt = ({ requests }: Receiver) => requests.map(({ headers }) => headers['x-service-attempt']);

test('what is delivered is done, without a workflow of its own; the batch tells its story', async () => {
  const stack = await start({ worker: false });
  const receiver = await startReceiver();
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const ids = await fireMany(stack, 150);
  await stack.startWorker();
  await untilDelivered(stack);
  expect(receiver.requests).toHaveLength(150);
  const [batch, ...others] = await stack.batches();
  expect(others).toEqual([]);
  expect(await stack.untilEnded(workflowOf(batch))).toBe('COMPLETED');
  expect(await stack.batches()).toMatchObject([
    { delivered: 150, requeued: 0, finishedAt: expect.any(Date) },
  ]);
  for (const id of ids.slice(0, 3)) expect(await stack.describe(id)).toBeUndefined();

  const workflow = stack.client.workflow.getHandle(workflowOf(batch));
  expect(await workflow.result()).toEqual({ delivered: 150, requeued: 0, deferred: 0, left: 0 });
  const { staticSummary, staticDetails } = await workflow.describe().then(async (description) => ({
    staticSummary: await description.staticSummary(),
    staticDetails: await description.staticDetails(),
  }));
  expect(staticSummary).toBe('150 attempts for 1 webhook');
  expect(staticDetails).toContain(`| ${webhookId} | 150 |`);
  expect(await detailsOf(stack, batch)).toContain('150 delivered.');
});

test('a batch says what follows: how many were requeued, and where they continue', async () => {
  const stack = await start({ worker: false });
  const receiver = await startReceiver(({ count }) => ({ status: count === 1 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  await fireMany(stack, 3);
  await stack.startWorker();
  const batch = await firstBatch(stack);
  await stack.untilEnded(workflowOf(batch));
  expect(await detailsOf(stack, batch)).toContain(
    '2 delivered. 1 requeued, for another batch or for workflows of their own, delivery/…/<id>.',
  );
});

test('a receiver that takes longer than a heartbeat is asked once', async () => {
  const stack = await start({ policy: { attemptTimeoutMs: 15_000 } });
  const receiver = await startReceiver(() => ({ delayMs: 9_000 }));
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'delivered');
  expect(receiver.requests).toHaveLength(1);
});

describe('a batch is found by the entity of any of its deliveries', () => {
  const found = async ({ client, taskQueue }: DeliveryStack, entityId: string) => {
    const ids: string[] = [];
    const query = `EntityIds = '${entityId}' AND TaskQueue = '${taskQueue}'`;
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };

  test('as many as a batch may have, of identifiers as long as a UUID', async () => {
    const stack = await start({ worker: false });
    const receiver = await startReceiver();
    await stack.createWebhook(receiver.url);
    const name = (index: number) => `01990000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    await fireMany(stack, 500, name);
    await stack.startWorker();
    const batch = await firstBatch(stack);
    for (const index of [0, 250, 499]) {
      await stack.until('the list to know it', async () =>
        (await found(stack, name(index))).includes(workflowOf(batch)),
      );
    }
    expect(await found(stack, 'an order of nobody')).toEqual([]);
  });

  test('of a server that takes less it is delivered all the same', async () => {
    const stack = await start({ worker: false });
    const receiver = await startReceiver();
    await stack.createWebhook(receiver.url);
    // More than any server accepts.
    await fireMany(stack, 200, (index) => `order ${index} `.padEnd(250, '.'));
    await stack.startWorker();
    await untilDelivered(stack);
    expect(await stack.batches()).toMatchObject([{ delivered: 200 }]);
  });
});

test('what failed goes on in a workflow of its own, behind the attempt that was made, after its wait', async () => {
  const stack = await start({ policy: { initialIntervalMs: 1_500 } });
  const receiver = await startReceiver(({ count }) => ({ status: count === 1 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(attemptsAt(receiver)).toEqual(['1', '2']);
  expect((receiver.requests[1]?.at ?? 0) - (receiver.requests[0]?.at ?? 0)).toBeGreaterThan(1_400);
  expect(await stack.batches()).toMatchObject([{ delivered: 0, requeued: 1 }]);
  expect(await stack.attempts(id)).toMatchObject([
    { outcome: 'failure', status: 503 },
    { outcome: 'success' },
  ]);
});

test('410 deactivates the webhook, and mails once', async () => {
  const stack = await start();
  const receiver = await startReceiver(() => ({ status: 410 }));
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'failed');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.webhook(webhookId)).toMatchObject({ active: false });
  expect(receiver.requests).toHaveLength(1);
  expect(await stack.mails()).toHaveLength(1);
});

test('all attempts fail: as many as the policy has, the first in the batch', async () => {
  const stack = await start({ policy: { maxRetries: 3 } });
  const receiver = await startReceiver(() => ({ status: 500 }));
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'failed');
  expect(attemptsAt(receiver)).toEqual(['1', '2', '3', '4']);
});

describe('a webhook that was', () => {
  test('deleted before its batch began: nothing is sent, and the deliveries are canceled', async () => {
    const stack = await start({ worker: false });
    const receiver = await startReceiver();
    const { id: webhookId } = await stack.createWebhook(receiver.url);
    const ids = await fireMany(stack, 3);
    await stack.changeWebhook(webhookId, { deleted: true });
    await stack.startWorker();
    for (const id of ids) await stack.untilState(id, 'canceled');
    expect(receiver.requests).toEqual([]);
  });

  test('deactivated before its batch began: the deliveries are held until it is activated', async () => {
    const stack = await start({ worker: false });
    const receiver = await startReceiver();
    const { id: webhookId } = await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('10001');
    await stack.changeWebhook(webhookId, { active: false });
    await stack.startWorker();
    await stack.untilHeld(id);
    expect(receiver.requests).toEqual([]);
    await stack.changeWebhook(webhookId, { active: true });
    await stack.untilState(id, 'delivered');
    expect(attemptsAt(receiver)).toEqual(['1']);
  });
});

test('hostile receivers hold up nobody else, and each fails for itself', async () => {
  const stack = await start({ worker: false, policy: { maxRetries: 0, attemptTimeoutMs: 10_000 } });
  const prompt = await startReceiver();
  const hostile = [
    await startReceiver(() => ({ hang: 'headers' })),
    await startReceiver(() => ({ reset: true })),
    await startReceiver(() => ({ status: 302, headers: { location: prompt.url } })),
    await startReceiver(() => ({ status: 500, endless: true, body: 'x'.repeat(1_000) })),
  ];
  await stack.createWebhook(prompt.url);
  for (const { url } of hostile) await stack.createWebhook(url);
  const ids = await stack.fire('10001');
  await stack.startWorker();
  const states = async () => await Promise.all(ids.map(async (id) => (await stack.delivery(id)).state));
  await stack.until('every end', async () =>
    (await states()).every((state) => state !== 'pending' && state !== 'retrying'),
  );
  expect(await states()).toEqual(['delivered', 'failed', 'failed', 'failed', 'failed']);
  expect(prompt.requests).toHaveLength(1);
});

describe('a worker that is stopped in the middle of a batch', () => {
  test('lets what is under way finish; the next one makes the rest, and nothing twice', async () => {
    const stack = await start({ worker: false });
    let stopping: Promise<void> | undefined;
    const receiver = await startReceiver(async ({ count }) => {
      if (count === 20) stopping = stack.stopWorker();
      return { delayMs: 20 };
    });
    await stack.createWebhook(receiver.url);
    await fireMany(stack, 400);
    await stack.startWorker();
    await receiver.waitFor(20);
    await stack.until('the stop', async () => stopping !== undefined);
    await stopping;
    expect(receiver.requests.length).toBeLessThan(400);
    await stack.startWorker();
    await untilDelivered(stack);
    expect(receiver.requests).toHaveLength(400);
    expect(await stack.batches()).toHaveLength(1);
  });
});

test('two workers share a backlog: every delivery once', async () => {
  const stack = await start({ worker: false });
  const receiver = await startReceiver();
  await stack.createWebhook(receiver.url);
  await fireMany(stack, 300);
  const others = await Promise.all([stack.startWorker(), stack.startSecondWorker()]);
  expect(others).toHaveLength(2);
  await untilDelivered(stack);
  expect(receiver.requests).toHaveLength(300);
  expect(new Set(receiver.requests.map(({ headers }) => headers['x-service-delivery'])).size).toBe(300);
});

describe('a batch whose workflow', () => {
  const timings = { reconcileIntervalMs: 300, reconcileGraceMs: 500 };
  /** A batch with one request, which waits for its answer. */
  async function hanging(stack: DeliveryStack) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = await startReceiver(async ({ count }) => {
      if (count === 1) await released;
      return {};
    });
    await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('10001');
    await receiver.waitFor(1);
    return { id, receiver, release, batch: await firstBatch(stack) };
  }

  test('was terminated by an operator: nobody else makes what it has under way, and its result counts', async () => {
    // The hanging request does not end by itself.
    const stack = await start({ timings, policy: { attemptTimeoutMs: 240_000 } });
    const { id, receiver, release, batch } = await hanging(stack);
    await stack.client.workflow.getHandle(workflowOf(batch)).terminate('tried by a test');
    // Ended by whichever process requeued its deliveries: its own execution still has its request under way.
    await stack.until('its end', async () => (await stack.batches())[0]?.finishedAt != null);
    await stack.until('a workflow of its own', async () => (await stack.describe(id)) !== undefined);
    release();
    await stack.untilState(id, 'delivered');
    expect(attemptsAt(receiver)).toEqual(['1']);
    expect(stack.repaired()).toContainEqual({
      kind: 'batch',
      action: 'handedBack',
      reason: 'terminated',
      count: 1,
    });
  });

  const AT_ONCE = 100;
  /** A hundred at once; the other deliveries of the batch wait for their permits. */
  const few = {
    ...limitsWith({
      ...{ attempts: 2 * AT_ONCE, firstLimit: AT_ONCE, claimAheadMs: 600_000 },
    }),
    quotas: boundless.quotas,
  };

  /** A batch with a hundred requests under way until they are released. */
  async function full(stack: DeliveryStack, others: number) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    cleanups.push(async () => release());
    const receiver = await startReceiver(async ({ count }) => {
      if (count <= AT_ONCE) await released;
      return {};
    });
    await stack.createWebhook(receiver.url);
    const ids = await fireMany(stack, AT_ONCE + others);
    await stack.startWorker();
    await receiver.waitFor(AT_ONCE);
    return { ids, receiver, release, batch: await firstBatch(stack) };
  }

  test('was terminated: each that had not begun is requeued, the requests under way count, and the batch does not begin again', async () => {
    // So long that the relay comes first: it takes up deliveries that no batch holds any more.
    const stack = await start({
      worker: false,
      timings: { reconcileIntervalMs: 600_000, reconcileGraceMs: 300_000 },
      limits: few,
      policy: { attemptTimeoutMs: 240_000 },
    });
    const { ids, receiver, release, batch } = await full(stack, 40);
    await stack.client.workflow.getHandle(workflowOf(batch)).terminate('tried by a test');
    await stack.until(
      'the return of those that had not begun',
      async () => (await stack.batches())[0]?.requeued === 40,
    );
    release();
    await untilDelivered(stack);
    expect(await stack.untilEnded(workflowOf(batch))).toBe('TERMINATED');
    expect(receiver.requests).toHaveLength(ids.length);
    const ownWorkflows = await Promise.all(ids.map((id) => stack.describe(id)));
    expect(ownWorkflows.filter((each) => each !== undefined)).toHaveLength(40);
    expect(await stack.batches()).toMatchObject([{ delivered: AT_ONCE, requeued: 40 }]);
  });

  test('was canceled by an operator: the request under way counts, and what is left is requeued', async () => {
    const stack = await start({ policy: { attemptTimeoutMs: 30_000 } });
    const { id, receiver, release, batch } = await hanging(stack);
    await stack.client.workflow.getHandle(workflowOf(batch)).cancel();
    release();
    await stack.untilState(id, 'delivered');
    expect(await stack.untilEnded(workflowOf(batch))).toMatch(/CANCELLED|COMPLETED/);
    expect(receiver.requests).toHaveLength(1);
  });

  test('is gone from Temporal: it is started again', async () => {
    const stack = await start({ worker: false, timings });
    const receiver = await startReceiver();
    await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('10001');
    const batchId = '01990000-0000-7000-8000-0000000000aa';
    // Begun, then lost together with its workflow.
    await stack.sql`
      update deliveries set batch_id = ${batchId}, dispatched_at = now() - interval '1 minute',
        window_started_at = now() - interval '1 minute'`;
    await loseWorkflow(stack.client, batchWorkflowId(batchId));
    await stack.startWorker();
    await stack.untilState(id, 'delivered');
    expect(receiver.requests).toHaveLength(1);
    await stack.until('the count', async () => stack.repaired().length > 0);
    expect(stack.repaired()).toEqual([
      { kind: 'batch', action: 'startedAgain', reason: 'missing', count: 1 },
    ]);
  });

  test('cannot go on: another run replaces it', async () => {
    const stack = await start({ worker: false, timings });
    const receiver = await startReceiver();
    await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('10001');
    const batchId = '01990000-0000-7000-8000-0000000000ac';
    await stack.sql`update deliveries set batch_id = ${batchId}, claimed_until = now() - interval '1 second'`;
    // Each of its tasks fails, like those of a history that the present code cannot continue.
    await stack.client.workflow.start('noSuchWorkflow', {
      workflowId: batchWorkflowId(batchId),
      taskQueue: stack.taskQueue,
      workflowTaskTimeout: '1s',
    });
    await stack.startWorker();
    await stack.untilState(id, 'delivered');
    expect(receiver.requests).toHaveLength(1);
    expect(await stack.untilEnded(batchWorkflowId(batchId))).toBe('COMPLETED');
    await stack.until('the log', async () => stack.repaired().length > 0);
    expect(stack.repaired()).toEqual([{ kind: 'batch', action: 'startedAgain', reason: 'stuck', count: 1 }]);
  });
});

test('claimed for a batch by a relay that died: the same batch is started again, in every setting', async () => {
  const stack = await start({ worker: false, firstAttempts: 'each' });
  const receiver = await startReceiver();
  await stack.createWebhook(receiver.url);
  await fireMany(stack, 3);
  const batchId = '01990000-0000-7000-8000-0000000000ab';
  await stack.sql`update deliveries set batch_id = ${batchId}, claimed_until = now() - interval '1 second'`;
  await stack.startWorker();
  await untilDelivered(stack);
  expect(await stack.batches()).toMatchObject([{ id: batchId }]);
  expect(receiver.requests).toHaveLength(3);
});

/** 600 deliveries that have waited for a worker. */
async function startWithBacklog() {
  // More places than deliveries: a busy worker without room beside its batch would put the deliveries of others into the next one.
  const stack = await start({ worker: false, firstAttempts: 'auto', scheduler: { attempts: 1_000 } });
  const receiver = await startReceiver();
  await stack.createWebhook(receiver.url);
  await fireMany(stack, 600);
  await stack.sql`update deliveries set due_at = due_at - interval '2 seconds'`;
  return { stack, receiver };
}

test('auto: beside a burst of one e-shop the deliveries of others are attempted one by one', async () => {
  const { stack, receiver } = await startWithBacklog();
  const { eshopId } = await createEshop(stack.sql, { name: 'Other', email: 'other@example.test' });
  await stack.createWebhook(receiver.url, { of: eshopId });
  await stack.startWorker();
  await firstBatch(stack);
  await transaction(stack.sql, (tx) =>
    recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId: 'beside', record: {} }),
  );
  const batchOf = async () => {
    const [row] = await stack.sql<{ batchId: string | null; attempts: number }[]>`
      select batch_id, attempts_made as attempts from deliveries where eshop_id = ${eshopId}`;
    return row;
  };
  await expect.poll(batchOf).toEqual({ batchId: null, attempts: 1 });
  await untilDelivered(stack);
  expect(receiver.requests).toHaveLength(601);
});

test('auto: a backlog that has waited is drained in batches, and a single delivery has its own workflow', async () => {
  const { stack, receiver } = await startWithBacklog();
  await stack.startWorker();
  await untilDelivered(stack);
  const [sum] = await stack.sql<
    { delivered: number }[]
  >`select sum(delivered)::int as delivered from batches`;
  expect(sum?.delivered).toBeGreaterThan(300);
  expect(receiver.requests).toHaveLength(600);
  // Nothing is waiting: the burst has ended.
  await stack.until('a delivery with its own workflow', async () => {
    const id = await stack.fireOne(`calm ${Math.random()}`);
    await stack.untilState(id, 'delivered');
    return (await stack.describe(id)) !== undefined;
  });
});
