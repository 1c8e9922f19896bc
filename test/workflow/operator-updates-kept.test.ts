/** Operator actions on a delivery are kept, whatever happens to its workflow, to workers, and to Temporal. */
import { afterEach, expect, test } from 'vitest';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { endWindowIn } from '../support/database/windows.ts';
import { receiverOfTest, stackOfFile, stackOfTest } from '../support/lifetimes.ts';
import type { Receiver } from '../support/servers/receiver.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { loseWorkflow } from '../support/temporal/lost-workflows.ts';
import { PATIENCE_MS } from '../support/until.ts';

const NAME = 'operator-updates-kept';
const options = ({ policy, ...others }: StackOptions = {}) => ({
  policy: { windowMs: 3_600_000, maxRetries: 3, ...policy },
  timings: { reconcileIntervalMs: 300, reconcileGraceMs: 1_000 },
  ...others,
});
const shared = await stackOfFile(NAME, options());
afterEach(() => shared.retireWebhooks());

const byAnna = { by: 'anna', reason: 'stock-taking' };

/** @param own of a separate stack; default: the one that the tests share */
async function start(own?: StackOptions) {
  const stack = own === undefined ? shared : await stackOfTest(NAME, options(own));
  const receiver = await receiverOfTest({ status: 503, headers: { 'retry-after': '600' } });
  const { client, sql, policy } = stack;
  const request = createOperatorActions({ client, sql, policy, answerMs: PATIENCE_MS });
  /** Answers with the sentence, also that of a rejection. */
  const ask = async (action: ActionName, id: string) => (await request(action, id, byAnna)).message;
  return { stack, receiver, ask };
}

/** A delivery whose first attempt failed, and whose next one is due in ten minutes. */
async function waitingDelivery(stack: DeliveryStack, receiver: Receiver) {
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'retrying');
  return { id, webhook };
}

const actionsOf = async (stack: DeliveryStack, id: string) => {
  const [row] = await stack.sql<
    { operatorActions: { action: string }[] | null }[]
  >`select operator_actions from deliveries where id = ${id}`;
  return row?.operatorActions?.map(({ action }) => action);
};
const attempts = ({ requests }: Receiver) => requests.map(({ headers }) => headers['x-service-attempt']);
/** Makes its workflow read its situation, and waits until it reports that it is held. */
async function looksAndHolds(stack: DeliveryStack, id: string): Promise<void> {
  await stack.signal(id, webhookChangedSignal);
  await stack.untilHeld(id);
}

test('a hold survives a reset of the workflow, and nothing is recorded or sent twice', async () => {
  const { stack, receiver, ask } = await start();
  const { id } = await waitingDelivery(stack, receiver);
  await ask('tryNow', id);
  await stack.until('the second attempt', async () => (await stack.delivery(id)).attemptsMade === 2);
  await ask('hold', id);
  await stack.untilHeld(id);
  const first = (await stack.describe(id))?.runId;
  await stack.resetWorkflow(id);
  await stack.until('another run', async () => (await stack.describe(id))?.runId !== first);
  await looksAndHolds(stack, id);
  expect(await ask('tryNow', id)).toMatch(/^It is held by anna at /);
  expect(await actionsOf(stack, id)).toEqual(['tryNow', 'hold']);
  expect(attempts(receiver)).toEqual(['1', '2']);
  receiver.respond({ status: 200 });
  await ask('resume', id);
  await ask('tryNow', id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(attempts(receiver)).toEqual(['1', '2', '3']);
});

test('signals take effect once, even if the workflow is reset', async () => {
  const { stack, receiver, ask } = await start();
  const { id } = await waitingDelivery(stack, receiver);
  await stack.signal(id, 'tryNow', byAnna);
  await stack.until('the second attempt', async () => (await stack.delivery(id)).attemptsMade === 2);
  await stack.signal(id, 'hold', byAnna);
  await stack.untilHeld(id);
  await ask('resume', id);
  const first = (await stack.describe(id))?.runId;
  await stack.resetWorkflow(id);
  await stack.until('another run', async () => (await stack.describe(id))?.runId !== first);
  // Answered once the signals have been carried out.
  expect(await ask('hold', id)).toMatch(/^Held/);
  expect(await actionsOf(stack, id)).toEqual(['tryNow', 'hold', 'resume', 'hold']);
  expect(attempts(receiver)).toEqual(['1', '2']);
  await ask('giveUp', id);
});

test('after a reset without its signals, a new signal is not taken for an old one', async () => {
  const { stack, receiver } = await start();
  const { id } = await waitingDelivery(stack, receiver);
  await stack.signal(id, 'tryNow', byAnna);
  await stack.until('the second attempt', async () => (await stack.delivery(id)).attemptsMade === 2);
  const first = (await stack.describe(id))?.runId;
  await stack.resetWorkflow(id, { signals: false });
  await stack.until('another run', async () => (await stack.describe(id))?.runId !== first);
  await stack.signal(id, 'hold', byAnna);
  await stack.untilHeld(id);
  expect(await actionsOf(stack, id)).toEqual(['tryNow', 'hold']);
});

test('a missing workflow that is not started again yet: the database takes the action', async () => {
  const { stack, receiver, ask } = await start();
  const { id } = await waitingDelivery(stack, receiver);
  await stack.stopWorker();
  await loseWorkflow(stack.client, stack.workflowId(id));
  expect(await ask('giveUp', id)).toMatch(/^Given up/);
  await stack.startWorker();
  await stack.untilState(id, 'canceled');
  expect(await stack.delivery(id)).toMatchObject({ canceledBy: 'operator' });
  expect(attempts(receiver)).toEqual(['1']);
});

test('actions whose workers stop halfway are finished by the next worker', async () => {
  const { stack, receiver, ask } = await start();
  const { id } = await waitingDelivery(stack, receiver);
  await ask('hold', id);
  await stack.stopWorker();
  await stack.signal(id, 'resume', byAnna);
  await stack.signal(id, 'tryNow', byAnna);
  receiver.respond({ status: 200 });
  await stack.startWorker();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await actionsOf(stack, id)).toEqual(['hold', 'resume', 'tryNow']);
  expect(attempts(receiver)).toEqual(['1', '2']);
});

test('an action that no worker answers is reported in time', async () => {
  const { stack, receiver } = await start();
  const { client, sql, policy } = stack;
  const { id } = await waitingDelivery(stack, receiver);
  await stack.stopWorker();
  const request = createOperatorActions({ client, sql, policy, answerMs: 1_000 });
  expect(await request('hold', id, byAnna)).toEqual({
    accepted: false,
    message: 'No worker answered within 1 seconds. Is one running? What was asked may still be done.',
    unanswered: true,
  });
  await stack.startWorker();
});

test.each([
  ['under light load', {}],
  ['in a burst', { calmPerSecond: 0 }],
])('a delivery held before its first attempt (%s) is not attempted until resumed', async (_, scheduler) => {
  const { stack, receiver, ask } = await start({ worker: false, scheduler });
  receiver.respond({ status: 200 });
  await stack.createWebhook(receiver.url);
  const [held = '', given = '', other = ''] = [
    await stack.fireOne('1'),
    await stack.fireOne('2'),
    await stack.fireOne('3'),
  ];
  expect(await ask('tryNow', held)).toMatch(/^It waits in the queue for its first attempt/);
  expect(await ask('hold', held)).toMatch(/^Held: /);
  expect(await ask('giveUp', given)).toMatch(/^Given up/);
  await stack.startWorker();
  await stack.untilState(other, 'delivered');
  await stack.untilState(given, 'canceled');
  await stack.until('its workflow', async () => (await stack.describe(held)) !== undefined);
  await stack.untilHeld(held);
  expect(receiver.requests).toHaveLength(1);
  const { windowStartedAt, state } = await stack.delivery(held);
  expect(state).toBe('pending');
  expect(windowStartedAt).not.toBeNull();
  expect(await ask('resume', held)).toBe('Resumed: attempt 1 of 4 follows at once.');
  await stack.untilState(held, 'delivered');
  expect(attempts(receiver)).toEqual(['1', '1']);
});

test('a delivery held to the end of its window expires without an alarm or mail', async () => {
  const { stack, receiver, ask } = await start();
  const { id, webhook } = await waitingDelivery(stack, receiver);
  await ask('hold', id);
  await endWindowIn(stack, id, 2_000);
  await stack.signal(id, webhookChangedSignal);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'expired', attemptsMade: 1 });
  await expect(stack.workflow(id).result()).rejects.toMatchObject({
    cause: { message: expect.stringContaining('the window ended while an operator held it') },
  });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  expect(await stack.mails()).toEqual([]);
  expect(stack.logged.filter(({ alarm, deliveryId }) => alarm !== undefined && deliveryId === id)).toEqual(
    [],
  );
});

test('a delivery held until its attempts no longer fit expires without blaming the webhook', async () => {
  // Waits of one and four minutes in a window of ten.
  const policy = {
    windowMs: 600_000,
    initialIntervalMs: 60_000,
    coefficient: 4,
    maxRetries: 2,
    attemptTimeoutMs: 15_000,
  };
  const { stack, receiver, ask } = await start({ policy });
  receiver.respond({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  // With a wait of a minute it may still be in the queue.
  await stack.until('its first attempt', async () => (await stack.delivery(id)).attemptsMade === 1);
  await ask('hold', id);
  await stack.untilHeld(id);
  // Until 40 s are left: less than its shortest wait.
  await endWindowIn(stack, id, 40_000);
  await ask('resume', id);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'expired' });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  await expect(stack.workflow(id).result()).rejects.toMatchObject({
    cause: { message: expect.stringContaining('an operator held it for most of the time it lost') },
  });
  expect(stack.logged.filter(({ alarm, deliveryId }) => alarm !== undefined && deliveryId === id)).toEqual(
    [],
  );
});
