/** What the workflows of deliveries are called: readably, and through an upgrade from a release that knew the short form only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { claimDeliveries } from '../../src/db/outbox/claim-deliveries.ts';
import { markDispatched } from '../../src/db/outbox/outbox.ts';
import { placeOfDelivery } from '../../src/db/webhooks/delivery-log.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { deliveryUrl } from '../../src/temporal/operator-questions.ts';
import { createSteering } from '../../src/temporal/steering.ts';
import { shortWorkflowId } from '../../workflows/delivery-id.ts';
import { type DeliveryStack, type StackOptions, startDeliveryStack } from '../support/delivery-stack.ts';
import { loseWorkflow } from '../support/lost-workflows.ts';
import { createReceiver } from '../support/receiver.ts';
import { workflowIdOf } from '../support/workflow-ids.ts';

vi.setConfig({ testTimeout: 120_000 });
const PATIENCE_MS = 60_000;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const asks = { status: 503, headers: { 'retry-after': '600' } } as const;

async function start(options: StackOptions = {}) {
  const stack = await startDeliveryStack('workflow-ids', {
    policy: { windowMs: 3_600_000 },
    reconciling: { intervalMs: 300, graceMs: 1_000 },
    ...options,
  });
  cleanups.push(() => stack.stop());
  const receiver = await createReceiver();
  cleanups.push(() => receiver.close());
  const webhook = await stack.createWebhook(receiver.url);
  return { stack, receiver, webhook };
}

const statusOf = async (stack: DeliveryStack, workflowId: string) =>
  await stack.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      ({ status }) => status.name,
      () => undefined,
    );

/** Starts its workflow as a release does that knows the short form only. */
async function startShort(stack: DeliveryStack, id: string): Promise<void> {
  const delivery = await placeOfDelivery(stack.sql, id);
  if (delivery === null) throw new Error('no delivery');
  const dispatcher = createDispatcher(stack.client, stack.taskQueue, stack.policy);
  const older = { ...delivery, readableId: false, receiverHost: null, attemptsMade: 0 };
  expect(await dispatcher.restart(older, 'missing')).toBe(true);
}

describe.each(['each', 'batch', 'auto'] as const)('FIRST_ATTEMPTS=%s', (firstAttempts) => {
  test('what fails has a workflow that says what goes where, and is told, steered and closed under that id', async () => {
    const { stack, receiver, webhook } = await start({ firstAttempts });
    receiver.respond(asks);
    const id = await stack.fireOne('2026/10001');
    await stack.untilState(id, 'retrying', PATIENCE_MS);
    const workflowId = `delivery/${webhook.id}/CREATE_ORDER/2026%2F10001/${id}`;
    await stack.until('its workflow', async () => (await statusOf(stack, workflowId)) === 'RUNNING');
    expect(await statusOf(stack, shortWorkflowId(id))).toBeUndefined();

    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` });
    await receiver.waitFor(2, PATIENCE_MS);
    await stack.until('the record', async () => (await stack.delivery(id)).attemptsMade === 2);
    const steering = createSteering({ client: stack.client, sql: stack.sql, policy: stack.policy });
    expect(await steering.hold(id, { by: 'anna' })).toContain('Held');
    await stack.untilHeld(id);
    await stack.client.workflow.getHandle(workflowId).terminate('enough');
    expect(await stack.untilState(id, 'canceled', PATIENCE_MS)).toMatchObject({ canceledBy: 'operator' });
  });
});

test.each(['a b', 'žluť/100 %', `it's "quoted"\\`, '日'.repeat(64), '..a'])(
  'an order called %s is delivered, and found in the list by its webhook',
  async (entityId) => {
    const { stack, webhook } = await start();
    const id = await stack.fireOne(entityId);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    // Other tests have webhooks of the same number.
    const query = `TaskQueue = "${stack.taskQueue}" AND WorkflowId STARTS_WITH "delivery/${webhook.id}/CREATE_ORDER/"`;
    await stack.until('the list', async () => {
      for await (const { workflowId } of stack.client.workflow.list({ query }))
        return workflowId === stack.workflowId(id);
      return false;
    });
  },
);

describe('a delivery that an older release handed over', () => {
  /** One whose first attempt has failed, and whose next one is due in ten minutes. */
  async function handedOver() {
    const started = await start({ worker: false });
    const { stack, receiver } = started;
    receiver.respond(asks);
    const id = await stack.fireOne('10001');
    await startShort(stack, id);
    await markDispatched(stack.sql, [id]);
    await stack.startWorker();
    await stack.untilState(id, 'retrying', PATIENCE_MS);
    receiver.respond({ status: 200 });
    return { ...started, id };
  }

  test('goes on under its short id: told of a change, at once', async () => {
    const { stack, receiver, webhook, id } = await handedOver();
    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` });
    expect(await stack.untilEnded(shortWorkflowId(id))).toBe('COMPLETED');
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/', '/moved']);
    expect(await statusOf(stack, stack.workflowId(id))).toBeUndefined();
  });

  test('is steered, and linked, by the id of the delivery', async () => {
    const { stack, id } = await handedOver();
    const place = await placeOfDelivery(stack.sql, id);
    if (place === null) throw new Error('no delivery');
    expect(deliveryUrl('http://ui', 'default', place)).toBe(
      `http://ui/namespaces/default/workflows/delivery%2F${id}`,
    );
    const steering = createSteering({ client: stack.client, sql: stack.sql, policy: stack.policy });
    expect(await steering.tryNow(id, { by: 'anna' })).toContain('Attempt 2 of 21 follows at once');
    expect(await stack.untilEnded(shortWorkflowId(id))).toBe('COMPLETED');
  });

  test('is started again under its short id where Temporal has lost it', async () => {
    const { stack, webhook, receiver, id } = await handedOver();
    await stack.stopWorker();
    await loseWorkflow(stack.client, shortWorkflowId(id));
    await stack.startWorker();
    await stack.until(
      'its workflow',
      async () => (await statusOf(stack, shortWorkflowId(id))) === 'RUNNING',
      PATIENCE_MS,
    );
    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` });
    expect(await stack.untilEnded(shortWorkflowId(id))).toBe('COMPLETED');
    expect(await statusOf(stack, stack.workflowId(id))).toBeUndefined();
  });

  test('is canceled when an operator terminates it', async () => {
    const { stack, id } = await handedOver();
    await stack.client.workflow.getHandle(shortWorkflowId(id)).terminate('enough');
    expect(await stack.untilState(id, 'canceled', PATIENCE_MS)).toMatchObject({ canceledBy: 'operator' });
  });
});

describe('relays of two releases at once', () => {
  test('the older starts what the newer has claimed: one request, and the older one’s workflow ends by itself', async () => {
    const { stack, receiver } = await start({ worker: false });
    const id = await stack.fireOne('10001');
    // The newer relay claims, and dies.
    expect((await claimDeliveries(stack.sql, { limit: 10 })).deliveries).toHaveLength(1);
    // Its lease ends when this test says so, however long the older one takes.
    await stack.sql`update deliveries set claimed_until = now() + interval '1 hour' where id = ${id}`;
    await startShort(stack, id);
    await stack.startWorker();
    expect(await stack.untilEnded(shortWorkflowId(id))).toBe('COMPLETED');
    expect(receiver.requests).toHaveLength(0);
    const { currentDetails } = await stack.client.workflow
      .getHandle(shortWorkflowId(id))
      .query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toContain('Another workflow makes this delivery; nothing was sent.');
    // Claimed again once the lease has ended.
    await stack.sql`update deliveries set claimed_until = now() where id = ${id}`;
    expect(await stack.untilClosed(id, PATIENCE_MS)).toBe('COMPLETED');
    expect(receiver.requests).toHaveLength(1);
  });

  test('the older has recorded its start: the reconciler starts the one that the newer decided for', async () => {
    const { stack, receiver } = await start({ worker: false });
    const id = await stack.fireOne('10001');
    await claimDeliveries(stack.sql, { limit: 10 });
    await startShort(stack, id);
    await markDispatched(stack.sql, [id]);
    await stack.startWorker();
    await stack.untilState(id, 'delivered', PATIENCE_MS);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    expect(await stack.untilEnded(shortWorkflowId(id))).toBe('COMPLETED');
    expect(receiver.requests).toHaveLength(1);
  });

  test('the newer claims what the older has started, before its first attempt: one request', async () => {
    const { stack, receiver } = await start({ worker: false });
    const id = await stack.fireOne('10001');
    await startShort(stack, id);
    await stack.startWorker();
    await stack.untilState(id, 'delivered', PATIENCE_MS);
    // Whichever was first: the database says which it was, and the other ends too.
    expect(await stack.untilEnded(shortWorkflowId(id))).toBe('COMPLETED');
    expect(await stack.untilEnded(await workflowIdOf(stack.sql, id))).toBe('COMPLETED');
    expect(receiver.requests).toHaveLength(1);
  });
});

test('one that is late is woken on whichever worker: the one that remembers it may be of an older release', async () => {
  const { stack, receiver } = await start();
  receiver.respond(asks);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'retrying', PATIENCE_MS);
  const handle = stack.client.workflow.getHandle(await workflowIdOf(stack.sql, id));
  const place = await placeOfDelivery(stack.sql, id);
  if (place === null) throw new Error('no delivery');
  const dispatcher = createDispatcher(stack.client, stack.taskQueue, stack.policy);
  /** Where the workflow's next step was put after it was last told something. */
  const queueAfter = async (tell: () => Promise<void>) => {
    let before = 0;
    // A step under way would be followed by one on the same worker.
    await stack.until('the workflow to be at rest', async () => {
      const known = before;
      before = (await handle.fetchHistory()).events?.length ?? 0;
      await sleep(1_000);
      return known === before;
    });
    await tell();
    return await stack.until('its next step', async () => {
      const events = (await handle.fetchHistory()).events?.slice(before) ?? [];
      const told = events.findIndex((event) => event.workflowExecutionSignaledEventAttributes);
      const step = events.slice(told).find((event) => event.workflowTaskScheduledEventAttributes);
      return told < 0 ? undefined : step?.workflowTaskScheduledEventAttributes?.taskQueue?.name;
    });
  };
  expect(await queueAfter(() => dispatcher.signalWebhookChanged(place))).not.toBe(stack.taskQueue);
  expect(await queueAfter(() => dispatcher.wakeDelivery(place))).toBe(stack.taskQueue);
});
