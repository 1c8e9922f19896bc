/** While Temporal is unavailable, the queue goes on: attempts, retries, the end after a 410, and operator actions. */
import { Client, Connection } from '@temporalio/client';
import { expect, inject, onTestFinished, test } from 'vitest';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';

/** A running worker that no longer reaches Temporal, or one that starts without it, until `back`. */
async function startWithoutTemporal(options: StackOptions = {}, { fromTheStart = false } = {}) {
  const [host = '', port] = inject('temporalAddress').split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  onTestFinished(() => proxy.close());
  if (fromTheStart) proxy.refuse();
  const stack = await stackOfTest('temporal-away', {
    workerTemporalAddress: proxy.host,
    ...options,
    policy: { windowMs: 3_600_000, ...options.policy },
  });
  proxy.refuse();
  // A worker that reaches Temporal stops sooner.
  onTestFinished(async () => proxy.pass());
  return { stack, back: () => proxy.pass() };
}

/** Operator actions of a process that does not reach Temporal; answers the sentences. */
function actionsOf({ sql, policy }: DeliveryStack) {
  const connection = Connection.lazy({ address: '127.0.0.1:9' });
  onTestFinished(() => connection.close());
  const request = createOperatorActions({ client: new Client({ connection }), sql, policy, answerMs: 100 });
  return async (action: ActionName, id: string) =>
    (await request(action, id, { by: 'anna', reason: '' })).message;
}

const attempted = (stack: DeliveryStack, id: string, number = 1) =>
  stack.until(`attempt ${number}`, async () => (await stack.delivery(id)).attemptsMade === number);
const patience = { status: 503, headers: { 'retry-after': '600' } } as const;

test('a 410 deactivates the webhook at once, and the mail follows once Temporal is back', async () => {
  const { stack, back } = await startWithoutTemporal({ policy: { initialIntervalMs: 1_500 } });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  const waiting = await stack.fireOne('10001');
  await attempted(stack, waiting);
  receiver.respond({ status: 410 });
  const gone = await stack.fireOne('10002');
  await stack.untilState(gone, 'failed');
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  expect(await stack.fire('10003')).toEqual([]);
  const { nextAttemptAt } = await stack.delivery(waiting);
  await stack.until('the time of the retry', async () => {
    const [row] =
      await stack.sql`select now() > ${nextAttemptAt}::timestamptz + interval '1 second' as is_over`;
    return row?.isOver === true;
  });
  expect(await stack.delivery(waiting)).toMatchObject({ state: 'retrying', attemptsMade: 1 });
  expect(receiver.requests).toHaveLength(2);
  expect(await stack.describe(gone)).toBeUndefined();
  expect(await stack.mails()).toEqual([]);

  back();
  await stack.untilBegun(gone);
  expect(await stack.untilClosed(gone)).toBe('FAILED');
  await expect(stack.workflow(gone).result()).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/Failed after 1 attempt \(HTTP 410 /) },
  });
  expect(await stack.mails()).toHaveLength(1);
  await stack.untilHeld(waiting);
  expect(await stack.mails()).toHaveLength(1);
  expect(receiver.requests).toHaveLength(2);
});

test('a worker that starts without Temporal releases blocked deliveries that missed their turn', async () => {
  const { stack } = await startWithoutTemporal({ worker: false }, { fromTheStart: true });
  const receiver = await receiverOfTest();
  await stack.createWebhook(receiver.url, { ordering: 'record' });
  const id = await stack.fireOne('10001');
  await stack.sql`update deliveries set class = ${CLASS.blocked} where id = ${id}`;
  await stack.startWorker();
  expect(await stack.untilState(id, 'delivered')).toMatchObject({ attemptsMade: 1 });
});

test('retries are made on time until the delivery is accepted, and its workflow shows them later', async () => {
  const { stack, back } = await startWithoutTemporal({
    policy: { initialIntervalMs: 500, coefficient: 1.5 },
  });
  const receiver = await receiverOfTest(({ count }) => ({ status: count < 4 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'delivered');
  const attempts = await stack.attempts(id);
  expect(attempts).toHaveLength(4);
  for (const [index, { startedAt }] of attempts.slice(1).entries())
    expect(startedAt.getTime()).toBeGreaterThanOrEqual(attempts[index]?.nextAttemptAt?.getTime() ?? Infinity);
  expect(await stack.describe(id)).toBeUndefined();
  back();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(4);
});

test('operators try, hold, resume and give up queued deliveries; their workflows show the end later', async () => {
  const { stack, back } = await startWithoutTemporal();
  const ask = actionsOf(stack);
  const receiver = await receiverOfTest(patience);
  const webhook = await stack.createWebhook(receiver.url);
  const tried = await stack.fireOne('10001');
  const resumed = await stack.fireOne('10002');
  const held = await stack.fireOne('10003');
  const given = await stack.fireOne('10004');
  for (const id of [tried, resumed, held, given]) await attempted(stack, id);

  expect(await ask('hold', resumed)).toMatch(/^Held: /);
  expect(await ask('tryNow', resumed)).toMatch(/^It is held by anna/);
  expect(await ask('hold', held)).toMatch(/^Held: /);
  expect(await ask('giveUp', given)).toMatch(/^Given up: /);
  expect(await stack.delivery(given)).toMatchObject({ state: 'canceled', canceledBy: 'operator' });
  receiver.respond({ status: 200 });
  expect(await ask('tryNow', tried)).toMatch(/^Attempt 2 of 21 follows at once/);
  await stack.untilState(tried, 'delivered');
  expect(await ask('resume', resumed)).toMatch(/^Resumed: attempt 2 of 21 follows at 2/);
  expect(await ask('tryNow', resumed)).toMatch(/^Attempt 2 of 21 follows at once/);
  await stack.untilState(resumed, 'delivered');
  expect(receiver.requests).toHaveLength(6);
  for (const id of [tried, resumed, held, given]) expect(await stack.describe(id)).toBeUndefined();

  back();
  for (const id of [tried, resumed, given]) {
    await stack.untilBegun(id);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
  }
  await stack.untilHeld(held);
  expect(await stack.delivery(given)).toMatchObject({ state: 'canceled', canceledBy: 'operator' });
  expect(receiver.requests).toHaveLength(6);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  expect(await stack.mails()).toEqual([]);
});

test('a delivery held past its retry is attempted only once resumed, and then at once', async () => {
  const { stack } = await startWithoutTemporal({ policy: { initialIntervalMs: 1_500 } });
  const ask = actionsOf(stack);
  const receiver = await receiverOfTest({ status: 503 });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await attempted(stack, id);
  expect(await ask('hold', id)).toMatch(/^Held: /);
  const { nextAttemptAt } = await stack.delivery(id);
  await stack.until('the time of the retry', async () => {
    const [row] =
      await stack.sql`select now() > ${nextAttemptAt}::timestamptz + interval '1 second' as is_over`;
    return row?.isOver === true;
  });
  expect(receiver.requests).toHaveLength(1);
  receiver.respond({ status: 200 });
  expect(await ask('resume', id)).toBe('Resumed: attempt 2 of 21 follows at once.');
  await stack.untilState(id, 'delivered');
  expect(receiver.requests).toHaveLength(2);
});

test('a worker that starts without Temporal makes each queued attempt once, and starts the workflows later', async () => {
  const { stack, back } = await startWithoutTemporal({}, { fromTheStart: true });
  const receiver = await receiverOfTest({ status: 200 });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'delivered');
  expect(await stack.describe(id)).toBeUndefined();

  back();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  const next = await stack.fireOne('10002');
  expect(await stack.untilClosed(next)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(2);
});
