/** Holding and continuing: the effect of a webhook's change on its open deliveries. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { lockDelivery } from '../support/database/locked-delivery.ts';
import { skipWait } from '../support/database/windows.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { startDeliveryStack } from '../support/temporal/delivery-stack.ts';
import { deliverInTenMinutes } from '../support/temporal/waiting-delivery.ts';

const stack = await stackOfFile('webhook-changed', {
  policy: { initialIntervalMs: 40, windowMs: 3_600_000, attemptTimeoutMs: 30_000 },
});
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

const waitingDelivery = (path: string) => deliverInTenMinutes(stack, receiver, path);
const requestsTo = (path: string) => receiver.requests.filter((request) => request.path === path);

test('an activation during a ten-minute wait makes an attempt at once', async () => {
  const { id, webhook } = await waitingDelivery('/held');
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: true });
  // Nothing else could make an attempt within the ten minutes.
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(requestsTo('/held').map((request) => request.headers['x-service-attempt'])).toEqual(['1', '2']);
});

test('an attempt without a signal notices the inactive webhook, and waits until it is active', async () => {
  receiver.respond({ status: 503, headers: { 'retry-after': '4' } });
  const webhook = await stack.createWebhook(`${receiver.url}/unsignaled`);
  const id = await stack.fireOne('10013');
  await stack.until('its wait', async () => {
    const { events } = await stack
      .workflow(id)
      .fetchHistory()
      .catch(() => ({ events: [] }));
    return events?.some((event) => event.timerStartedEventAttributes) === true;
  });
  await stack.sql`update webhooks set active = false where id = ${webhook.id}`;
  await stack.until('the attempt to be held', async () => {
    const [activity] = (await stack.describe(id))?.raw.pendingActivities ?? [];
    return activity?.lastFailure?.message?.startsWith('Held: the webhook is inactive. The window ends 20');
  });
  // Its workflow did not have to act: thousands may find out at the same time.
  const { events } = await stack.workflow(id).fetchHistory();
  expect(
    events?.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []),
  ).toEqual(['readDelivery', 'attemptDelivery']);
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: true });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(requestsTo('/unsignaled').map((request) => request.headers['x-service-attempt'])).toEqual([
    '1',
    '2',
  ]);
});

test('after a change of URL during a wait the next attempt goes there at once', async () => {
  const { id, webhook } = await waitingDelivery('/old');
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { url: `${receiver.url}/new` });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(requestsTo('/old')).toHaveLength(1);
  expect(requestsTo('/new')).toHaveLength(1);
});

test('a signal without a change does not change the wait', async () => {
  const { id, webhook } = await waitingDelivery('/unchanged');
  const due = (await stack.delivery(id)).nextAttemptAt;
  await stack.signal(id, webhookChangedSignal);
  await stack.until('the workflow to wait by a timer of its own', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    return events?.some((event) => event.timerStartedEventAttributes);
  });
  expect(requestsTo('/unchanged')).toHaveLength(1);
  expect((await stack.delivery(id)).nextAttemptAt).toEqual(due);
  // It can still be reached during that wait.
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved` });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
});

test('a deleted webhook cancels the delivery', async () => {
  const { id, webhook } = await waitingDelivery('/deleted');
  await stack.changeWebhook(webhook.id, { deleted: true });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'canceled', nextAttemptAt: null });
});

test('a cancellation during the end of a deleted webhook’s delivery does not change that end', async () => {
  const { id, webhook } = await waitingDelivery('/deleted-and-canceled');
  const releases = await lockDelivery(stack.sql, id);
  await stack.changeWebhook(webhook.id, { deleted: true });
  await stack.until('its end to begin', async () => {
    const pending = (await stack.describe(id))?.raw.pendingActivities ?? [];
    return pending.some(({ activityType }) => activityType?.name === 'closeDelivery');
  });
  await stack.workflow(id).cancel();
  await stack.until('the workflow to know', async () => {
    const types = (await stack.workflow(id).fetchHistory()).events?.map((event) =>
      event.workflowExecutionCancelRequestedEventAttributes
        ? 'asked'
        : event.workflowTaskCompletedEventAttributes
          ? 'known'
          : '',
    );
    return types?.slice(types.indexOf('asked')).includes('known') === true && types.includes('asked');
  });
  releases();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'canceled', canceledBy: 'deletion' });
});

test('a webhook deleted before the first attempt gets no request', async () => {
  await stack.stopWorker();
  receiver.respond({ status: 200 });
  const webhook = await stack.createWebhook(`${receiver.url}/too-late`);
  const id = await stack.fireOne('10012');
  await stack.changeWebhook(webhook.id, { deleted: true });
  await stack.startWorker();
  // By its own workflow, or in the queue.
  await stack.untilState(id, 'canceled');
  expect(await stack.delivery(id)).toMatchObject({ attemptsMade: 0, canceledBy: 'deletion' });
  expect(requestsTo('/too-late')).toHaveLength(0);
});

test('a webhook deactivated before the first attempt gets nothing until it is activated', async () => {
  await stack.stopWorker();
  const webhook = await stack.createWebhook(`${receiver.url}/early`);
  const id = await stack.fireOne('10010');
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.startWorker();
  await stack.until('the window to start', async () => (await stack.delivery(id)).windowStartedAt !== null);
  expect(requestsTo('/early')).toHaveLength(0);
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: true });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.attempts(id)).toHaveLength(1);
});

test('a request under way when the webhook changes may finish, and its success counts', async () => {
  const webhook = await stack.createWebhook(`${receiver.url}/slow`);
  receiver.respond({ status: 200, delayMs: 1_200 });
  const id = await stack.fireOne('10011');
  await receiver.waitFor((request) => request.path === '/slow');
  await stack.changeWebhook(webhook.id, { url: `${receiver.url}/elsewhere` });
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(requestsTo('/slow')).toHaveLength(1);
  expect(requestsTo('/elsewhere')).toHaveLength(0);
});

test('twenty quick activations lead to a single attempt, and keep the retries', async () => {
  const own = await startDeliveryStack('toggled', {
    policy: { initialIntervalMs: 600_000, windowMs: 36_000_000 },
  });
  onTestFinished(async () => void (await own.stop()));
  receiver.respond({ status: 503, headers: { 'retry-after': '3600' } });
  const webhook = await own.createWebhook(`${receiver.url}/toggled`);
  const id = await own.fireOne('10012');
  await own.untilState(id, 'retrying');
  for (let pair = 0; pair < 20; pair += 1) {
    await own.changeWebhook(webhook.id, { active: false });
    await own.changeWebhook(webhook.id, { active: true });
  }
  await own.until(
    'every change to be signaled',
    async () => (await own.sql`select 1 from changes_to_signal`).length === 0,
  );
  // All changes were made before the end of the first wait: none of them asks for another attempt.
  await skipWait(own, id);
  await own.until('the attempt that follows', async () => (await own.delivery(id)).attemptsMade === 2);
  expect(requestsTo('/toggled')).toHaveLength(2);
});
