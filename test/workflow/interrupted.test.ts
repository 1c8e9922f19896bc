/** A slow answer, or a database that is unavailable for a moment, must not make a receiver get a delivery twice. */
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { expect, inject, onTestFinished, test } from 'vitest';
import { skipWait } from '../support/database/windows.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import type { ReceiverHandler } from '../support/servers/receiver.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import type { StackOptions } from '../support/temporal/delivery-stack.ts';

async function start(name: string, options: StackOptions, handler: ReceiverHandler) {
  const stack = await stackOfTest(name, options);
  const receiver = await receiverOfTest(handler);
  await stack.createWebhook(receiver.url);
  return { stack, receiver };
}

test('a response slower than the heartbeat time-out is waited for, and counts', async () => {
  // A worker without a heartbeat for five seconds counts as dead, and another one makes its attempt.
  const { stack, receiver } = await start('slow-answer', { policy: { attemptTimeoutMs: 30_000 } }, () => ({
    status: 200,
    delayMs: 6_000,
  }));
  const id = await stack.fireOne('10070');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(1);
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 1 });
});

test('a Retry-After that arrives while Temporal is unavailable is kept', async () => {
  const [host, port] = inject('temporalAddress').split(':');
  const proxy = await startTcpProxy({ ...(host === undefined ? {} : { host }), port: Number(port) });
  onTestFinished(() => proxy.close());
  const { stack, receiver } = await start(
    'retry-after-kept',
    { workerTemporalAddress: proxy.host, policy: { windowMs: 3_600_000 } },
    ({ count }) => {
      // Its next attempt is due too late for the queue, and so is its workflow's.
      if (count === 1) return { status: 503, headers: { 'retry-after': '600' } };
      if (count > 2) return { status: 200 };
      // The result is recorded in the database, but the worker's report never reaches Temporal.
      proxy.refuse();
      return { status: 503, headers: { 'retry-after': '600' } };
    },
  );
  const id = await stack.fireOne('10072');
  await receiver.waitFor(1);
  await stack.untilState(id, 'retrying');
  await skipWait(stack, id);
  await receiver.waitFor(2);
  await stack.until('Temporal to give up the attempt', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    return events?.some((event) => event.activityTaskTimedOutEventAttributes);
  });
  proxy.pass();
  const wait = await stack.until('the wait', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    return (
      events?.findLast((event) => event.timerStartedEventAttributes)?.timerStartedEventAttributes
        ?.startToFireTimeout ?? false
    );
  });
  // Ten minutes, less the time that a busy machine took.
  expect(optionalTsToMs(wait)).toBeGreaterThan(300_000);
  expect(receiver.requests).toHaveLength(2);
  await skipWait(stack, id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.attempts(id)).toMatchObject([
    { outcome: 'failure' },
    { outcome: 'failure' },
    { outcome: 'success' },
  ]);
});

test('a response that arrives while the database is unavailable is recorded later, and not sent again', async () => {
  let cuts = 0;
  const { stack, receiver } = await start(
    'record-again',
    {
      wrapSender: (sender) => ({
        ...sender,
        async send(request, signal) {
          const result = await sender.send(request, signal);
          cuts += 1;
          if (cuts === 1) {
            await stack.database.cut();
            // Long enough for the first tries to fail.
            setTimeout(() => void stack.database.restore(), 1_000);
          }
          return result;
        },
      }),
    },
    () => ({ status: 200 }),
  );
  const id = await stack.fireOne('10071');
  await receiver.waitFor(1);
  await stack.until('the record', () =>
    stack.delivery(id).then(
      ({ state }) => state === 'delivered',
      () => false,
    ),
  );
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(1);
  expect(await stack.attempts(id)).toMatchObject([{ number: 1, outcome: 'success' }]);
});
