/** Our own outages are not receiver failures: they use up no attempt and deactivate no webhook. */
import { expect, test } from 'vitest';
import { markDispatched } from '../../src/db/outbox/release.ts';
import { readOverdue } from '../../src/db/overdue.ts';
import { readOutbox } from '../../src/db/overview.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { attemptRecord, beginAttempt, recordAttempt } from '../support/database/deliveries.ts';
import { endWindowIn, skipWait } from '../support/database/windows.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';

test('attempts interrupted before their result was recorded are repeated under the same number', async () => {
  const interrupted = new Set<number>();
  const stack = await stackOfTest('interrupted', {
    policy: { windowMs: 600_000, maxRetries: 5 },
    wrapSender: (sender) => ({
      ...sender,
      async send(request, signal) {
        const result = await sender.send(request, signal);
        // The request was sent, and the answer is lost on our side, as if the process had died here.
        if (request.number > 1 && request.number <= 4 && !interrupted.has(request.number)) {
          interrupted.add(request.number);
          throw new Error('interrupted');
        }
        return result;
      },
    }),
  });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10040');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(interrupted.size).toBe(3);
  const attempts = await stack.attempts(id);
  expect(attempts.map((attempt) => attempt.number)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(receiver.requests).toHaveLength(9);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
});

test('a delivery never attempted is delivered even after an outage longer than its window', async () => {
  const stack = await stackOfTest('away-untried', { policy: { windowMs: 100 }, worker: false });
  const receiver = await receiverOfTest({ status: 200 });
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10041');
  await new Promise((resolve) => setTimeout(resolve, 200));
  await stack.startWorker();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
});

/** A delivery under retry, with no worker until its window has ended. */
async function lostWindow(name: string) {
  const stack = await stackOfTest(name, {
    policy: { windowMs: 3_600_000, initialIntervalMs: 600_000, attemptTimeoutMs: 10_000 },
  });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  await stack.untilCalm();
  const id = await stack.fireOne('10042');
  await stack.untilState(id, 'retrying');
  await stack.stopWorker();
  // No worker until long after its window.
  await endWindowIn(stack, id, -3_600_000);
  const returns = async () => {
    await stack.startWorker();
    // Else the planned wait would be waited first.
    await stack.signal(id, webhookChangedSignal);
  };
  return { stack, receiver, webhook, id, returns };
}

test('a window that ended during an outage leaves a last chance, whose success counts', async () => {
  const { stack, receiver, id, returns } = await lostWindow('away-delivered');
  receiver.respond({ status: 200 });
  await returns();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 2 });
});

test('a failed last chance expires the delivery and leaves the webhook active', async () => {
  const { stack, receiver, webhook, id, returns } = await lostWindow('away-expired');
  const before = receiver.requests.length;
  await returns();
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(receiver.requests).toHaveLength(before + 1);
  expect(await stack.delivery(id)).toMatchObject({ state: 'expired' });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  expect(await stack.mails()).toEqual([]);
  // The e-shop is not to blame, so the operator is alerted: once, with the delivery's id.
  expect(stack.logged.filter((line) => line.alarm !== undefined)).toMatchObject([
    { level: 50, alarm: 'windowLost', deliveryId: id },
  ]);
});

test('a delivery dispatched after an attempt first waits, then continues in the policy', async () => {
  const stack = await stackOfTest('handed-over', {
    worker: false,
    policy: { initialIntervalMs: 800, coefficient: 1.5, windowMs: 36_000_000 },
  });
  const receiver = await receiverOfTest({ status: 503 });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10043');
  await beginAttempt(stack.sql, { deliveryId: id, number: 1, generation: 1 });
  const finishedAt = new Date();
  const due = new Date(finishedAt.getTime() + 800);
  await recordAttempt(stack.sql, attemptRecord(id, { finishedAt, nextAttemptAt: due }));
  await markDispatched(stack.sql, [id]);
  const [webhook] = await stack.sql`select webhook_id from deliveries where id = ${id}`;
  await stack.client.workflow.start('deliverEvent', {
    workflowId: stack.workflowId(id),
    taskQueue: stack.taskQueue,
    args: [
      {
        deliveryId: id,
        eshopId: stack.eshopId,
        webhookId: webhook?.webhookId,
        eventType: 'CREATE_ORDER',
        entityId: '10043',
        attemptsMade: 1,
        policy: stack.policy,
      },
    ],
  });
  await stack.startWorker();
  const [second, third] = await receiver.waitFor(2);
  expect(second?.headers['x-service-attempt']).toBe('2');
  expect(second?.at).toBeGreaterThanOrEqual(due.getTime() - 5);
  // On a busy machine the second is late, and the wait after it is shorter by as much.
  expect(third?.at).toBeGreaterThanOrEqual(due.getTime() + 1_200 - 5);
});

test('a lasting internal failure uses up no attempt, and attempts continue afterwards', async () => {
  let broken = true;
  const stack = await stackOfTest('own-fault', {
    wrapSender: (sender) => ({
      ...sender,
      async send(request, signal) {
        if (!broken) return await sender.send(request, signal);
        return {
          outcome: 'internal',
          status: null,
          error: 'No file descriptor was free',
          durationMs: 0,
          responseExcerpt: null,
          retryAfterMs: null,
        };
      },
    }),
  });
  const receiver = await receiverOfTest({ status: 200 });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10044');
  await stack.until('three tries', async () => {
    if ((await stack.describe(id)) === undefined) return false;
    const { events } = await stack.workflow(id).fetchHistory();
    return (events ?? []).filter((event) => event.activityTaskFailedEventAttributes).length >= 3;
  });
  expect(await stack.delivery(id)).toMatchObject({ state: 'pending', attemptsMade: 0 });
  // The alert that comes is WaybillAttemptsOverdue: nothing waits in the queue for WaybillNothingDelivered.
  await stack.sql`
    update deliveries set dispatched_at = dispatched_at - interval '10 minutes' where id = ${id} and dispatched_at is not null`;
  await stack.until('the overdue attempt', async () => (await readOverdue(stack.sql)).attemptSeconds > 600);
  expect(await readOutbox(stack.sql)).toMatchObject({ fresh: 0, retry: 0, bulk: 0 });
  broken = false;
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.attempts(id)).toMatchObject([{ number: 1, outcome: 'success' }]);
});

test('a secret that cannot be decrypted expires the delivery with an alarm, and blames no webhook', async () => {
  const stack = await stackOfTest('undecryptable', { policy: { windowMs: 2_000, attemptTimeoutMs: 300 } });
  const receiver = await receiverOfTest({ status: 200 });
  const webhook = await stack.createWebhook(receiver.url);
  await stack.sql`update webhooks set secret = ${Buffer.alloc(80, 1)} where id = ${webhook.id}`;
  const id = await stack.fireOne('10045');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.delivery(id)).toMatchObject({
    state: 'expired',
    attemptsMade: 0,
    lastError: 'Waybill cannot prepare this delivery; the receiver is not at fault',
  });
  expect(receiver.requests).toHaveLength(0);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
  const alarms = stack.logged.flatMap(({ alarm }) => (alarm === undefined ? [] : [alarm]));
  // Each try that may still succeed has its own alarm, and the end of the delivery is another.
  expect(alarms.at(-1)).toBe('windowLost');
  expect(new Set(alarms.slice(0, -1))).toEqual(new Set(['cannotBePrepared']));
});

test('an outage shortens the remaining waits, not the number of attempts', async () => {
  // Waits from a minute to more than two hours, four hours and a quarter in all.
  const policy = { initialIntervalMs: 60_000, coefficient: 2, maxRetries: 8, windowMs: 36_000_000 };
  const stack = await stackOfTest('away-shortened', { policy });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  // Else the queue would make the second attempt, after its minute.
  await stack.untilCalm();
  const id = await stack.fireOne('10046');
  const attempted = (number: number) =>
    stack.until(`attempt ${number}`, async () => (await stack.delivery(id)).attemptsMade === number);
  await attempted(1);
  for (let made = 1; made < 5; made += 1) {
    await skipWait(stack, id);
    await attempted(made + 1);
  }
  await stack.stopWorker();
  // An hour is left, but the planned waits take four.
  await endWindowIn(stack, id, 3_600_000);
  await stack.startWorker();
  await stack.signal(id, webhookChangedSignal);
  for (let made = 6; made < 9; made += 1) {
    await attempted(made);
    await skipWait(stack, id);
  }
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'failed', attemptsMade: 9 });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
});
