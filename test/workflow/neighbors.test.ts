/** Isolation: one e-shop, webhook or receiver does not slow down another. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { neighborOf } from '../support/api/neighbor.ts';
import { attemptFromQueue } from '../support/database/queue-attempts.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { boundless, limitsWith } from '../support/limits.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { fireMany, relayTo } from '../support/temporal/relay.ts';

async function start(options: StackOptions = {}): Promise<DeliveryStack> {
  return await stackOfTest('neighbors', options);
}

const deliveriesOf = async ({ sql }: DeliveryStack, eshopId: number) =>
  (await sql<{ id: string }[]>`select id from deliveries where eshop_id = ${eshopId}`).map(({ id }) => id);

test('a few events of one e-shop do not wait behind the many of another', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  const neighbor = await neighborOf(stack, 'http://127.0.0.1:9/');
  await fireMany(stack, 300);
  await fireMany(stack, 5, neighbor.eshopId);
  const ids = await deliveriesOf(stack, neighbor.eshopId);
  const { started } = relayTo(stack);
  await stack.until('the neighbor', async () => ids.every((id) => started.includes(id)));
  expect(Math.max(...ids.map((id) => started.indexOf(id)))).toBeLessThan(40);
});

test('receivers that hang take half of the places, and every delivery of another e-shop is made', async () => {
  const stack = await start({ policy: { attemptTimeoutMs: 120_000 }, scheduler: { attempts: 10 } });
  const silent = await receiverOfTest({ hang: 'headers' });
  const receiver = await receiverOfTest();
  const neighbor = await neighborOf(stack, receiver.url);
  for (let index = 0; index < 5; index += 1) await stack.createWebhook(`${silent.url}/${index}`);
  await fireMany(stack, 3);
  await silent.waitFor(5);
  await fireMany(stack, 8, neighbor.eshopId);
  await receiver.waitFor(8);
  const [row] = await stack.sql<{ ended: number }[]>`
    select count(*)::int as ended from attempts a join deliveries d on d.id = a.delivery_id
    where d.eshop_id = ${stack.eshopId} and a.finished_at is not null`;
  expect(row?.ended).toBe(0);
  // Half of all places, and one that was taken at the same moment.
  expect(silent.requests.length).toBeLessThanOrEqual(6);
});

test('an attempt without a permit is made later under the same number, and is not late', async () => {
  const limits = limitsWith({});
  const refusing = new Set<number>();
  const asked: number[] = [];
  const stack = await start({
    policy: { windowMs: 120_000 },
    limits: {
      ...limits,
      async acquire(destination, signal) {
        asked.push(Date.now());
        if (refusing.has(destination.webhookId) && asked.length <= 3) return { ms: 1_500, ofReceiver: true };
        return await limits.acquire(destination, signal);
      },
    },
  });
  const receiver = await receiverOfTest(({ count }) => ({ status: count === 1 ? 503 : 200 }));
  const webhook = await stack.createWebhook(receiver.url);
  refusing.add(webhook.id);
  const id = await stack.fireOne('10050');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(asked).toHaveLength(5);
  const attempts = await stack.attempts(id);
  expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
    [1, 'failure'],
    [2, 'success'],
  ]);
  // The wait for a place does not count towards the window, which begins with the place.
  const [row] = await stack.sql<{ windowStartedAt: Date }[]>`
    select window_started_at from deliveries where id = ${id}`;
  expect(row?.windowStartedAt.getTime()).toBeGreaterThanOrEqual(asked[3] ?? Infinity);
});

test('in-flight attempts never exceed the limit', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 100);
  const underWay: (() => void)[] = [];
  const { started } = relayTo(
    stack,
    {},
    {
      scheduler: { inFlight: 10, worthAClaim: 1, slowMs: 600_000, tickMs: 20 },
      async makeAttempt(delivery, queue, { onPermit }) {
        onPermit?.('granted');
        await new Promise<void>((resolve) => underWay.push(resolve));
        return await attemptFromQueue(stack.sql, delivery, queue);
      },
    },
  );
  let most = 0;
  await stack.until('every start', async () => {
    most = Math.max(most, underWay.length);
    for (const answer of underWay.splice(0)) answer();
    return new Set(started).size === 100;
  });
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(10);
});

test('a receiver at its limit does not keep the relay claiming', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  let claims = 0;
  const quotas = () => {
    claims += 1;
    return { ...boundless.quotas(1), webhooks: new Map([[2 ** 31 - 1, 0]]) };
  };
  const { started } = relayTo(
    stack,
    {},
    { limits: { ...boundless, quotas }, scheduler: { pollMs: 600_000, roomPollMs: 5 } },
  );
  await fireMany(stack, 1);
  await stack.until('it', async () => started.length === 1);
  const before = claims;
  await sleep(500);
  // Each class may have been woken once more.
  expect(claims - before).toBeLessThan(10);
});

test('a receiver at its limit gets more once it has room, without a new event', async () => {
  const stack = await start({ worker: false });
  const webhook = await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 12);
  let asked = 0;
  // The four classes ask at first. Then it has room whenever it has been asked for three times.
  const quotas = () => {
    asked += 1;
    return {
      ...boundless.quotas(1),
      webhooks: new Map([[webhook.id, asked <= 4 || asked % 3 === 0 ? 2 : 0]]),
    };
  };
  const { started } = relayTo(
    stack,
    {},
    { limits: { ...boundless, quotas }, scheduler: { pollMs: 600_000, roomPollMs: 20 } },
  );
  await stack.until('all of them', async () => started.length === 12);
});

test('a failed delivery is compensated even if attempts take all places', async () => {
  const stack = await start({
    policy: { attemptTimeoutMs: 120_000, maxRetries: 0 },
    scheduler: { attempts: 3 },
    limits: boundless,
  });
  const silent = await receiverOfTest({ hang: 'headers' });
  const failing = await receiverOfTest(async () => {
    // Answers once all other places are taken.
    await silent.waitFor(2);
    await fireMany(stack, 5);
    return { status: 500 };
  });
  const neighbor = await neighborOf(stack, failing.url);
  await stack.createWebhook(silent.url);
  await fireMany(stack, 1, neighbor.eshopId);
  await fireMany(stack, 2);
  await stack.until('the mail', async () => (await stack.mails()).length === 1);
  expect(await stack.webhook(neighbor.webhookId)).toMatchObject({ active: false });
});

test('500 deliveries to a hanging receiver delay none of another e-shop', async () => {
  const stack = await start({ policy: { attemptTimeoutMs: 300_000 }, worker: false });
  const silent = await receiverOfTest({ hang: 'headers' });
  const receiver = await receiverOfTest();
  const neighbor = await neighborOf(stack, `${receiver.url.replace('127.0.0.1', 'localhost')}`);
  await stack.createWebhook(silent.url);
  await fireMany(stack, 500);
  await stack.startWorker();
  await silent.waitFor(20);
  await fireMany(stack, 50, neighbor.eshopId);
  await receiver.waitFor(50);
  // No hanging request has ended, and no more are under way than an unknown receiver gets.
  expect(silent.requests).toHaveLength(20);
  const [row] = await stack.sql<{ waiting: number }[]>`
    select count(*)::int as waiting from deliveries
    where eshop_id = ${stack.eshopId} and state = 'pending' and attempts_made = 0 and class = 0`;
  expect(row?.waiting).toBe(500);
});
