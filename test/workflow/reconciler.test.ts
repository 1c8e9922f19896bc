/** Workflows that end, vanish or sleep behind our back: their deliveries go on, or end as the operator wanted. */
import { afterEach, expect, test } from 'vitest';
import { deliveryWorkflowId } from '../../workflows/delivery-types.ts';
import { type DeliveryStack, type StackOptions, startDeliveryStack } from '../support/delivery-stack.ts';
import { loseWorkflow } from '../support/lost-workflows.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const longWait = { initialIntervalMs: 600_000, windowMs: 3_600_000 };
/** A worker that looks often, and a delivery whose first attempt failed and that waits for the second. */
async function waitingDelivery(policy: StackOptions['policy'] = longWait) {
  const stack = await startDeliveryStack('reconciler', {
    policy,
    reconciling: { intervalMs: 100, graceMs: 1_000 },
  });
  cleanups.push(() => stack.stop());
  const receiver = await createReceiver({ status: 503 });
  cleanups.push(() => receiver.close());
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'retrying');
  return { stack, receiver, webhook, id };
}
const numbers = ({ requests }: Receiver) => requests.map(({ headers }) => headers['x-service-attempt']);
const mendLine = (stack: DeliveryStack) => stack.logged.find(({ mended }) => typeof mended === 'string');

test('terminated in Temporal during a ten-minute wait: canceled by an operator, at once', async () => {
  const { stack, receiver, webhook, id } = await waitingDelivery();
  await stack.workflow(id).terminate('the receiver has asked us to stop');
  await stack.untilState(id, 'canceled');
  expect(await stack.delivery(id)).toMatchObject({ nextAttemptAt: null });
  await stack.until('the log', async () => mendLine(stack));
  expect(mendLine(stack)).toMatchObject({
    mended: 'delivery',
    reason: 'terminated',
    action: 'closed',
    deliveryId: id,
    words: 'the receiver has asked us to stop',
  });
  expect(stack.mended()).toEqual([{ kind: 'delivery', action: 'closed', reason: 'terminated', count: 1 }]);
  expect(numbers(receiver)).toEqual(['1']);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  expect(await stack.mails()).toEqual([]);
});

test('terminated while no worker runs: canceled when one does', async () => {
  const { stack, id } = await waitingDelivery();
  await stack.stopWorker();
  await stack.workflow(id).terminate();
  await stack.startWorker();
  await stack.untilState(id, 'canceled');
});

test('its history lost: started again with the count it had, and the wait still due is waited', async () => {
  const { stack, receiver, id } = await waitingDelivery({ initialIntervalMs: 6_000, windowMs: 3_600_000 });
  const { nextAttemptAt } = await stack.delivery(id);
  await stack.stopWorker();
  await loseWorkflow(stack.client, deliveryWorkflowId(id));
  receiver.respond({ status: 200 });
  await stack.startWorker();
  await stack.untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2']);
  expect(receiver.requests[1]?.at).toBeGreaterThanOrEqual((nextAttemptAt?.getTime() ?? 0) - 5);
  expect(stack.mended()).toEqual([{ kind: 'delivery', action: 'startedAgain', reason: 'missing', count: 1 }]);
  expect(stack.logged).toContainEqual(
    expect.objectContaining({
      level: 40,
      why: 'the worker started',
      msg: 'reconciled: 1 delivery started again (not in Temporal any more)',
    }),
  );
});

test('its history lost under a running worker: started again when its next step is late', async () => {
  const { stack, receiver, id } = await waitingDelivery({ initialIntervalMs: 3_000, windowMs: 3_600_000 });
  await stack.until('the first sweep', async () =>
    stack.logged.some(({ msg }) => msg === 'looked at everything'),
  );
  receiver.respond({ status: 200 });
  await loseWorkflow(stack.client, deliveryWorkflowId(id));
  await stack.untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2']);
});

test('its history lost for longer than the window: one last attempt, then expired, and the webhook stays', async () => {
  const { stack, receiver, webhook, id } = await waitingDelivery({
    initialIntervalMs: 1_500,
    windowMs: 2_500,
    attemptTimeoutMs: 300,
  });
  await stack.stopWorker();
  await loseWorkflow(stack.client, deliveryWorkflowId(id));
  const { windowStartedAt } = await stack.delivery(id);
  const windowEndsAt = (windowStartedAt?.getTime() ?? 0) + 2_500;
  await stack.until('the end of the window', async () => Date.now() > windowEndsAt);
  const before = receiver.requests.length;
  await stack.startWorker();
  await stack.untilState(id, 'expired');
  expect(receiver.requests).toHaveLength(before + 1);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  expect(await stack.mails()).toEqual([]);
});

test('never attempted, and its history lost: delivered', async () => {
  const stack = await startDeliveryStack('reconciler-untried', { worker: false });
  cleanups.push(() => stack.stop());
  const receiver = await createReceiver();
  cleanups.push(() => receiver.close());
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10002');
  // As the relay left it, before Temporal lost everything.
  await stack.sql`update deliveries set dispatched_at = now() where id = ${id}`;
  await stack.startWorker();
  await stack.untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1']);
});

test('a workflow that has ended while its delivery is open (the database restored): started again', async () => {
  const { stack, receiver, webhook, id } = await waitingDelivery();
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.changeWebhook(webhook.id, { active: true });
  await stack.untilClosed(id);
  await stack.stopWorker();
  await stack.sql`
    update deliveries set state = 'retrying', attempts_made = 1, next_attempt_at = now(), finished_at = null where id = ${id}`;
  await stack.sql`delete from attempts where delivery_id = ${id} and number > 1`;
  await stack.startWorker();
  await stack.untilState(id, 'delivered');
  expect(numbers(receiver)).toEqual(['1', '2', '2']);
  expect(stack.mended()).toEqual([{ kind: 'delivery', action: 'startedAgain', reason: 'ended', count: 1 }]);
});

test('canceled in Temporal, and the database does not know (restored): canceled', async () => {
  const { stack, id } = await waitingDelivery();
  await stack.workflow(id).cancel();
  await stack.untilState(id, 'canceled');
  await stack.untilClosed(id);
  await stack.sql`update deliveries set state = 'retrying', finished_at = null where id = ${id}`;
  await stack.untilState(id, 'canceled');
  expect(stack.mended()).toEqual([{ kind: 'delivery', action: 'closed', reason: 'canceled', count: 1 }]);
});

test('it sleeps past its time, as one restored from an older copy does: woken', async () => {
  const { stack, receiver, webhook, id } = await waitingDelivery();
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  receiver.respond({ status: 200 });
  // Activated, and the workflow was told: only that this copy of it is from before.
  await stack.sql`update webhooks set active = true, generation = generation + 1 where id = ${webhook.id}`;
  await stack.sql`
    update deliveries set dispatched_at = now() - interval '1 hour', last_attempt_at = now() - interval '1 hour',
      next_attempt_at = now() - interval '2 seconds' where id = ${id}`;
  await stack.untilState(id, 'delivered');
  expect(stack.mended()).toEqual([{ kind: 'delivery', action: 'woken', reason: 'asleep', count: 1 }]);
});

test('what is held, and what waits for its time, is left alone', async () => {
  const { stack, webhook, id } = await waitingDelivery();
  await stack.createWebhook(`${(await receiverThatFails()).url}/waiting`);
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  await stack.sql`
    update deliveries set dispatched_at = now() - interval '1 hour', last_attempt_at = now() - interval '1 hour',
      next_attempt_at = now() - interval '30 minutes' where id = ${id}`;
  const waiting = await stack.fireOne('10003');
  await stack.until('its workflow to say so', async () => {
    const attributes = (await stack.describe(waiting))?.typedSearchAttributes.getAll() ?? [];
    return attributes.some(({ value }) => value === 'retrying');
  });
  const lengths = async () =>
    await Promise.all([id, waiting].map(async (each) => (await stack.describe(each))?.historyLength));
  const before = await lengths();
  await stack.until('the held one to be looked at', async () => {
    const [row] = await stack.sql`select check_at from deliveries where id = ${id}`;
    return row?.checkAt !== null;
  });
  // A whole sweep over both.
  await stack.stopWorker();
  const sweeps = () => stack.logged.filter(({ msg }) => msg === 'looked at everything').length;
  const swept = sweeps();
  await stack.startWorker();
  await stack.until('a sweep', async () => sweeps() > swept);
  expect(await lengths()).toEqual(before);
  expect(stack.mended()).toEqual([]);
});

async function receiverThatFails(): Promise<Receiver> {
  const receiver = await createReceiver({ status: 503 });
  cleanups.push(() => receiver.close());
  return receiver;
}
