/** Temporal's own buttons: an operator's commands there take effect, and the records stay readable. */
import { afterEach, expect, test } from 'vitest';
import { skipWait } from '../support/database/windows.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { deliverInTenMinutes } from '../support/temporal/waiting-delivery.ts';

const stack = await stackOfFile('operator', {
  // Attempts are counted: none may fail because the machine is busy.
  policy: { windowMs: 3_600_000, maxRetries: 4, attemptTimeoutMs: 60_000 },
});
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

/** A delivery whose first attempt failed, then one made by its workflow: the next one is due in ten minutes. */
async function waitingDelivery(path: string) {
  // If the change came while it made the attempt, its next wait would be its own, and not the engine's.
  const made = await deliverInTenMinutes(stack, receiver, path);
  await skipWait(stack, made.id);
  await untilEngineWaits(made.id, 2);
  return made;
}

/** Waits until Temporal has recorded an attempt's failure: a reset of a running activity would have no effect. */
async function untilEngineWaits(id: string, attempt: number): Promise<void> {
  await stack.until(`the engine to wait after attempt ${attempt}`, async () => {
    const [activity] = (await stack.describe(id))?.raw.pendingActivities ?? [];
    return activity?.lastFailure?.message?.startsWith(`Attempt ${attempt}: HTTP 503`);
  });
}

const attemptOf = (id: string) => ({
  namespace: 'default',
  execution: { workflowId: stack.workflowId(id) },
  type: 'attemptDelivery',
  identity: 'operator',
});

test('a reset during a ten-minute wait makes the next attempt at once, and keeps the failure', async () => {
  const { id } = await waitingDelivery('/reset');
  await stack.client.workflowService.resetActivity(attemptOf(id));
  const [third] = await receiver.waitFor(
    (request) => request.path === '/reset' && request.headers['x-service-attempt'] === '3',
  );
  expect(third).toBeDefined();
  await stack.until('its record', async () => (await stack.delivery(id)).attemptsMade === 3);
  expect(await stack.attempts(id)).toMatchObject([
    { number: 1, outcome: 'failure', status: 503 },
    { number: 2, outcome: 'failure', status: 503 },
    { number: 3, outcome: 'failure', status: 503 },
  ]);
  await untilEngineWaits(id, 3);
});

test('repeated resets make no more attempts than the policy allows, then compensate', async () => {
  const { id, webhook } = await waitingDelivery('/reset-often');
  for (let made = 2; made < 5; made += 1) {
    await untilEngineWaits(id, made);
    await stack.client.workflowService.resetActivity(attemptOf(id));
  }
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(receiver.requests.filter((request) => request.path === '/reset-often')).toHaveLength(5);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
});

test.each([
  ['', false],
  [', its count reset', true],
])(
  'a pause in Temporal during a wait%s: nothing is sent until unpaused, then at once',
  async (_, resetAttempts) => {
    const { id } = await waitingDelivery(`/paused-${resetAttempts}`);
    await stack.client.workflowService.pauseActivity(attemptOf(id));
    await stack.until(
      'the pause',
      async () => (await stack.describe(id))?.raw.pendingActivities?.[0]?.paused,
    );
    expect((await stack.delivery(id)).attemptsMade).toBe(2);
    receiver.respond({ status: 200 });
    await stack.client.workflowService.unpauseActivity({ ...attemptOf(id), resetAttempts });
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 3 });
  },
);

test('a failed delivery whose workflow is reset stays failed, and nothing is sent or mailed again', async () => {
  receiver.respond({ status: 503 });
  const webhook = await stack.createWebhook(`${receiver.url}/failed`);
  const id = await stack.fireOne('10060');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  const mails = (await stack.mails()).length;
  await stack.resetWorkflow(id);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  await expect(stack.workflow(id).result()).rejects.toMatchObject({
    cause: { message: expect.stringContaining('Had already failed, after 5 attempts') },
  });
  expect(receiver.requests.filter((request) => request.path === '/failed')).toHaveLength(5);
  expect(await stack.mails()).toHaveLength(mails);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false, generation: 1 });
});

test('a workflow reset during a wait makes the next attempt on time, under the next number', async () => {
  const { id } = await waitingDelivery('/reset-workflow');
  receiver.respond({ status: 200 });
  await stack.resetWorkflow(id);
  await skipWait(stack, id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.attempts(id)).toMatchObject([
    { number: 1, outcome: 'failure' },
    { number: 2, outcome: 'failure' },
    { number: 3, outcome: 'success' },
  ]);
});

test('a delivery canceled in the UI says so', async () => {
  const { id } = await waitingDelivery('/canceled');
  await stack.workflow(id).cancel();
  expect(await stack.untilClosed(id)).toBe('CANCELLED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'canceled', canceledBy: 'operator' });
  const attributes = (await stack.describe(id))?.typedSearchAttributes.getAll() ?? [];
  expect(attributes.map((pair) => pair.value)).toContain('canceled');
});

test('a change to the webhook ends a pause in Temporal, and the next attempt is made', async () => {
  const { id, webhook } = await waitingDelivery('/paused-and-changed');
  await stack.client.workflowService.pauseActivity(attemptOf(id));
  await stack.until('the pause', async () => (await stack.describe(id))?.raw.pendingActivities?.[0]?.paused);
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { url: `${receiver.url}/paused-and-moved` });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 3 });
});

test('a delivery canceled or given up stays canceled when its workflow is reset', async () => {
  for (const end of ['cancel', 'giveUp'] as const) {
    const { id } = await waitingDelivery(`/reset-after-${end}`);
    if (end === 'cancel') await stack.workflow(id).cancel();
    else await stack.workflow(id).executeUpdate('giveUp');
    await stack.untilClosed(id);
    receiver.respond({ status: 200 });
    await stack.resetWorkflow(id);
    await stack.until('the other run to end', async () => {
      const description = await stack.describe(id);
      return description?.status.name === 'COMPLETED' && description.raw.workflowExecutionInfo?.historyLength;
    });
    expect(await stack.delivery(id)).toMatchObject({ state: 'canceled', attemptsMade: 2 });
    await stack.retireWebhooks();
  }
  expect(receiver.requests.filter(({ path }) => path.startsWith('/reset-after-'))).toHaveLength(4);
});
