/** What must not make a receiver get a delivery twice: a slow answer, and a database that is away for a moment. */
import { afterEach, expect, inject, test } from 'vitest';
import { type DeliveryStack, type StackOptions, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver, type ReceiverHandler } from '../support/receiver.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(name: string, options: StackOptions, handler: ReceiverHandler) {
  const stack: DeliveryStack = await startDeliveryStack(name, options);
  cleanups.push(() => stack.stop());
  const receiver = await createReceiver(handler);
  cleanups.push(() => receiver.close());
  await stack.createWebhook(receiver.url);
  return { stack, receiver };
}

test('an answer that takes longer than a worker may be silent is waited for, and counts', async () => {
  // A worker that has not been heard of for some seconds is taken for dead, and its attempt is made by another.
  const { stack, receiver } = await start('slow-answer', { policy: { attemptTimeoutMs: 15_000 } }, () => ({
    status: 200,
    delayMs: 11_000,
  }));
  const id = await stack.fireOne('10070');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(1);
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 1 });
});

test('Temporal unreachable when a 503 asks for patience: its Retry-After is kept, whatever the engine was told', async () => {
  const [host, port] = inject('temporalAddress').split(':');
  const proxy = await startTcpProxy({ ...(host === undefined ? {} : { host }), port: Number(port) });
  cleanups.push(() => proxy.close());
  const { stack, receiver } = await start(
    'retry-after-kept',
    { workerTemporalAddress: proxy.host },
    ({ count }) => {
      if (count > 1) return { status: 200 };
      // The answer is recorded in the database; the worker's report of it never reaches Temporal.
      proxy.refuse();
      return { status: 503, headers: { 'retry-after': '12' } };
    },
  );
  const id = await stack.fireOne('10072');
  await receiver.waitFor(1);
  await stack.until('Temporal to give up the attempt', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    return events?.some((event) => event.activityTaskTimedOutEventAttributes);
  });
  proxy.pass();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  const [first, second, ...more] = await stack.attempts(id);
  expect(more).toEqual([]);
  const waited = (second?.startedAt.getTime() ?? 0) - (first?.finishedAt?.getTime() ?? 0);
  expect(waited).toBeGreaterThanOrEqual(11_995);
});

test('the database away when the answer comes: it is recorded as soon as it is back, and nothing is sent twice', async () => {
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
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(1);
  expect(await stack.attempts(id)).toMatchObject([{ number: 1, outcome: 'success' }]);
});
