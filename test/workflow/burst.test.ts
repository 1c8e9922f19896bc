/** In a burst, deliveries are attempted from the queue alone, and get their workflows later. */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { defaultRetryPolicy, jitteredWait } from '../../src/domain/retry-policy.ts';
import type { DeliverEventInput } from '../../workflows/delivery-types.ts';
import { deliveryStateKey } from '../../workflows/search-attributes.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { runsOf } from '../support/temporal/lost-workflows.ts';

/** Every moment is a burst. */
async function start(options: StackOptions = {}): Promise<DeliveryStack> {
  // Always a burst, also beside busy cores, where an attempt outlasts the seconds in which attempts are counted.
  const scheduler = { calmPerSecond: 0, startsUnderWay: 0, tickMs: 20 };
  return await stackOfTest('burst', { scheduler, worker: false, ...options });
}

async function fireEach(stack: DeliveryStack, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let order = 0; order < count; order += 1) ids.push(await stack.fireOne(`order ${order}`));
  return ids;
}

/** The state that the list of workflows shows. */
async function shownState(stack: DeliveryStack, id: string) {
  return (await stack.describe(id))?.typedSearchAttributes.get(deliveryStateKey);
}

/** The text that the Temporal UI shows for it. */
async function detailsOf(stack: DeliveryStack, id: string): Promise<string> {
  const metadata = await stack.workflow(id).query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails;
}

async function inputOf(stack: DeliveryStack, id: string): Promise<DeliverEventInput> {
  const { events } = await stack.workflow(id).fetchHistory();
  const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  if (!payload) throw new Error('no input');
  return defaultPayloadConverter.fromPayload<DeliverEventInput>(payload);
}

test('a delivery is attempted without a workflow, then gets one with the result', async () => {
  const stack = await start();
  const withWorkflow: string[] = [];
  const receiver = await receiverOfTest(async ({ headers }) => {
    const id = String(headers['x-service-delivery']);
    if ((await stack.describe(id)) !== undefined) withWorkflow.push(id);
    const fails = id === failing && Number(headers['x-service-attempt']) < 3;
    return { status: fails ? 503 : 200 };
  });
  await stack.createWebhook(receiver.url);
  const ids = await fireEach(stack, 12);
  const [, failing = ''] = ids;
  await stack.startWorker();
  for (const id of ids) {
    await stack.untilState(id, 'delivered');
    await stack.untilBegun(id);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    expect(await shownState(stack, id)).toBe('delivered');
    // The list lags behind.
    await expect.poll(() => runsOf(stack.client, stack.workflowId(id))).toHaveLength(1);
    // A workflow may end before the relay has marked that it was started.
    await expect.poll(async () => (await stack.delivery(id)).dispatchedAt).not.toBeNull();
  }
  expect(withWorkflow).toEqual([]);
  expect(receiver.requests).toHaveLength(14);

  const [accepted = ''] = ids;
  expect(await inputOf(stack, accepted)).toMatchObject({
    attemptsMade: 1,
    delivered: { number: 1, status: 200 },
  });
  expect(await inputOf(stack, accepted)).not.toHaveProperty('failures');
  const attempts = await stack.attempts(failing);
  expect(await inputOf(stack, failing)).toMatchObject({
    attemptsMade: 3,
    delivered: { number: 3, status: 200 },
    failures: [1, 2].map((number) => ({
      number,
      status: 503,
      message: attempts[number - 1]?.error,
      at: attempts[number - 1]?.finishedAt?.toISOString(),
    })),
  });
  const details = await detailsOf(stack, failing);
  expect(details).toContain('Delivered by attempt 3 (HTTP 200).');
  expect(details).toMatch(/\| 2 \|.*HTTP 503[^|]*\|\n\| 1 \|.*HTTP 503/);
});

test('retries from the queue are as punctual as those of a workflow', async () => {
  const stack = await start({ policy: { initialIntervalMs: 400, coefficient: 1.5 } });
  const receiver = await receiverOfTest(({ count }) => ({ status: count < 4 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  const [id = ''] = await fireEach(stack, 1);
  await stack.startWorker();
  await stack.untilState(id, 'delivered');
  const attempts = await stack.attempts(id);
  expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  for (const index of [0, 1, 2]) {
    const [before, after] = attempts.slice(index);
    const wait = jitteredWait(
      { ...defaultRetryPolicy, initialIntervalMs: 400, coefficient: 1.5 },
      id,
      index + 1,
    );
    const planned = before?.nextAttemptAt?.getTime() ?? 0;
    expect(planned - (before?.finishedAt?.getTime() ?? 0)).toBe(wait);
    expect(after?.startedAt.getTime()).toBeGreaterThanOrEqual(planned);
  }
});

test('a failed delivery with a long wait ahead gets a workflow, which shows the failure and retries', async () => {
  const stack = await start({ policy: { windowMs: 3_600_000 } });
  const receiver = await receiverOfTest({ status: 503, headers: { 'retry-after': '600' } });
  await stack.createWebhook(receiver.url);
  const [id = ''] = await fireEach(stack, 1);
  await stack.startWorker();
  await stack.untilState(id, 'retrying');
  await stack.until('what it shows', async () => (await shownState(stack, id)) === 'retrying');
  expect(await detailsOf(stack, id)).toMatch(/Attempt 1 of 21 failed; next try .*\| 1 \|.*HTTP 503/s);
  receiver.respond({ status: 200 });
  await stack.workflow(id).executeUpdate('tryNow');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect((await stack.attempts(id)).map(({ outcome }) => outcome)).toEqual(['failure', 'success']);
});

test('a delivery that exhausts its retries in the queue gets a workflow that deactivates and mails', async () => {
  const stack = await start({ policy: { maxRetries: 2 } });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  const [id = ''] = await fireEach(stack, 1);
  await stack.startWorker();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  await expect(stack.workflow(id).result()).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/Failed after 3 attempts \(HTTP 503/) },
  });
  expect((await inputOf(stack, id)).failures).toHaveLength(3);
  expect(receiver.requests).toHaveLength(3);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  expect(await stack.mails()).toHaveLength(1);
});

test('WORKFLOWS=undelivered: only a delivery whose first attempt fails gets a workflow', async () => {
  const stack = await start({ workflows: 'undelivered' });
  const receiver = await receiverOfTest(({ headers }) => {
    const fails = headers['x-service-delivery'] === failing && headers['x-service-attempt'] === '1';
    return { status: fails ? 503 : 200 };
  });
  await stack.createWebhook(receiver.url);
  const ids = await fireEach(stack, 10);
  const [, , failing = ''] = ids;
  await stack.startWorker();
  await stack.untilBegun(failing);
  expect(await stack.untilClosed(failing)).toBe('COMPLETED');
  expect((await inputOf(stack, failing)).failures).toMatchObject([{ number: 1, status: 503 }]);
  for (const id of ids) {
    const { dispatchedAt } = await stack.untilState(id, 'delivered');
    if (id === failing) continue;
    expect(dispatchedAt).not.toBeNull();
    expect(await stack.describe(id)).toBeUndefined();
  }
  expect(receiver.requests).toHaveLength(11);
});
