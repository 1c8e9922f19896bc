/** What the workflows of deliveries are called: by what goes where. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { placeOfDelivery } from '../../src/db/webhooks/delivery-log.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { type DeliveryStack, type StackOptions, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver } from '../support/receiver.ts';
import { workflowIdOf } from '../support/workflow-ids.ts';

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

describe.each(['each', 'batch', 'auto'] as const)('FIRST_ATTEMPTS=%s', (firstAttempts) => {
  test('what fails has a workflow that says what goes where, and is told, steered and closed under that id', async () => {
    const { stack, receiver, webhook } = await start({ firstAttempts });
    receiver.respond(asks);
    const id = await stack.fireOne('2026/10001');
    await stack.untilState(id, 'retrying');
    const workflowId = `delivery/${webhook.id}/CREATE_ORDER/2026%2F10001/${id}`;
    await stack.until('its workflow', async () => (await statusOf(stack, workflowId)) === 'RUNNING');

    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` });
    await receiver.waitFor(2);
    await stack.until('the record', async () => (await stack.delivery(id)).attemptsMade === 2);
    const actions = createOperatorActions({ client: stack.client, sql: stack.sql, policy: stack.policy });
    expect(await actions.hold(id, { by: 'anna' })).toContain('Held');
    await stack.untilHeld(id);
    await stack.client.workflow.getHandle(workflowId).terminate('enough');
    expect(await stack.untilState(id, 'canceled')).toMatchObject({ canceledBy: 'operator' });
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

test('one that is late is woken on whichever worker: the one that remembers it may be of an older release', async () => {
  const { stack, receiver } = await start();
  receiver.respond(asks);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'retrying');
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
