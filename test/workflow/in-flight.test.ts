/** The first attempt begins at the claim, its workflow alongside it: one request and one workflow, whatever dies meanwhile. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, inject, test } from 'vitest';
import type { AttemptOutcome } from '../../src/attempt/outcome.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { beginAttempts, recordAttempts } from '../../src/db/webhooks/attempts.ts';
import { attemptRecord, beginAttempt, owned } from '../support/deliveries.ts';
import { type DeliveryStack, type StackOptions, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver } from '../support/receiver.ts';
import { fireMany, relayTo as startRelayTo } from '../support/relay.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(options: StackOptions = {}): Promise<DeliveryStack> {
  const stack = await startDeliveryStack('in-hand', { firstAttempts: 'each', ...options });
  cleanups.push(() => stack.stop());
  return stack;
}
async function startReceiver(...args: Parameters<typeof createReceiver>) {
  const receiver = await createReceiver(...args);
  cleanups.push(() => receiver.close());
  return receiver;
}
/** A relay without a worker; the test plays its Temporal and its attempts. */
function relayTo(...args: Parameters<typeof startRelayTo>) {
  const made = startRelayTo(...args);
  cleanups.push(() => made.relay.stop());
  return made;
}
/** A result that the test provides later. */
function later<T>() {
  let answer: (result: T) => void = () => {};
  const answered = new Promise<T>((resolve) => {
    answer = resolve;
  });
  return { answered, answer };
}
const delivered: AttemptOutcome = { kind: 'delivered', number: 1, status: 200 };
const atLimit: AttemptOutcome = { kind: 'notAttempted', reason: 'concurrencyLimit' };
/** A workflow waits for the result, however long it takes. */
const startsLate = { startAfterMs: 600_000 };
const INVALID_ARGUMENT = { code: 3, details: '', metadata: {} };
const away = () => new Error('14 UNAVAILABLE');

/** The activities that a delivery's workflow scheduled, and the signals that it received. */
async function story(stack: DeliveryStack, id: string) {
  const { events } = await stack.workflow(id).fetchHistory();
  return (events ?? []).flatMap((event) => [
    ...(event.activityTaskScheduledEventAttributes?.activityType?.name ?? '').split(' ').filter(Boolean),
    ...(event.workflowExecutionSignaledEventAttributes?.signalName ?? '').split(' ').filter(Boolean),
  ]);
}
const queueOf = async (stack: DeliveryStack, id: string) => {
  const [row] = await stack.sql`
    select class, dispatched_at is not null as dispatched, claimed_until is not null as claimed from deliveries where id = ${id}`;
  return row;
};

test('accepted at once: its workflow is started with the result, and orders nothing', async () => {
  const stack = await start({ scheduler: startsLate });
  const receiver = await startReceiver();
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilState(id, 'delivered');
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await story(stack, id)).toEqual([]);
  expect(receiver.requests).toHaveLength(1);
});

test('a slow receiver: the workflow is started beside the request, and hears of the result', async () => {
  const stack = await start();
  const { answered, answer } = later<void>();
  const receiver = await startReceiver(async () => {
    await answered;
    return { status: 200 };
  });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10002');
  await stack.untilBegun(id);
  expect(await stack.delivery(id)).toMatchObject({ state: 'pending' });
  answer();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await story(stack, id)).toEqual(['firstAttempt']);
  expect(receiver.requests).toHaveLength(1);
});

test('failed at once: the second attempt comes after its wait, and not before', async () => {
  const stack = await start({ policy: { initialIntervalMs: 2_000 } });
  const receiver = await startReceiver(({ count }) => ({ status: count === 1 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10003');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  const [first, second] = await stack.attempts(id);
  expect(second?.startedAt.getTime()).toBeGreaterThanOrEqual(first?.nextAttemptAt?.getTime() ?? Infinity);
  expect(receiver.requests).toHaveLength(2);
});

test.each(['auto', 'batch'] as const)(
  'delivered, and its process died before the start: its workflow comes, and no second request (%s)',
  async (firstAttempts) => {
    const stack = await start({ worker: false, firstAttempts });
    const receiver = await startReceiver();
    await stack.createWebhook(receiver.url);
    const id = await stack.fireOne('10004');
    await claimDeliveries(stack.sql, { class: CLASS.fresh, limit: 1 });
    await beginAttempt(stack.sql, { deliveryId: id, number: 1, generation: 1 });
    await recordAttempts(
      stack.sql,
      [attemptRecord(id, { outcome: 'success', status: 200, error: null })],
      null,
    );
    expect(await queueOf(stack, id)).toMatchObject({ dispatched: false });
    await stack.startWorker();
    await stack.untilBegun(id);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    await stack.until('its record', async () => (await queueOf(stack, id))?.dispatched === true);
    expect(receiver.requests).toEqual([]);
  },
);

test('under way in a process that died: nobody makes it while it may be at its receiver, then it is made again', async () => {
  const stack = await start({ worker: false });
  const receiver = await startReceiver();
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10005');
  const ownership = { ...owned, ms: 4_000 };
  await beginAttempts(stack.sql, [{ deliveryId: id, number: 1, generation: 1 }], null, ownership);
  const [begun] = await stack.sql<
    { ownedUntil: Date }[]
  >`select owned_until from attempts where delivery_id = ${id}`;
  await stack.startWorker();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  const attempts = await stack.attempts(id);
  expect(attempts).toMatchObject([{ number: 1, outcome: 'success' }]);
  expect(attempts[0]?.startedAt.getTime()).toBeGreaterThanOrEqual(begun?.ownedUntil.getTime() ?? Infinity);
  expect(receiver.requests).toHaveLength(1);
});

test('deleted with its webhook between request and start: canceled once the request has failed', async () => {
  const stack = await start({ scheduler: startsLate });
  const { answered, answer } = later<void>();
  const receiver = await startReceiver(async () => {
    await answered;
    return { status: 503 };
  });
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10006');
  await receiver.waitFor(1);
  await stack.changeWebhook(webhook.id, { deleted: true });
  answer();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'canceled', canceledBy: 'deletion' });
  expect(receiver.requests).toHaveLength(1);
});

test('held by an operator between request and start: no second attempt', async () => {
  const stack = await start({ scheduler: startsLate, policy: { windowMs: 3_600_000 } });
  const { answered, answer } = later<void>();
  const receiver = await startReceiver(async () => {
    await answered;
    return { status: 503 };
  });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10007');
  await receiver.waitFor(1);
  await stack.sql`update deliveries set operator_stop = 'hold' where id = ${id}`;
  answer();
  await stack.untilHeld(id);
  expect(receiver.requests).toHaveLength(1);
});

test('it is dispatched once Temporal has its workflow, and keeps its claim until then', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10008');
  const { answered, answer } = later<void>();
  let asked = false;
  relayTo(
    stack,
    {
      async startDelivery() {
        asked = true;
        await answered;
      },
    },
    { makeFirstAttempt: async () => delivered, scheduler: { silentMs: 600_000 } },
  );
  await stack.until('the start', async () => asked);
  expect(await queueOf(stack, id)).toMatchObject({ dispatched: false, claimed: true });
  answer();
  await stack.until('its record', async () => (await queueOf(stack, id))?.dispatched === true);
});

test('what Temporal refuses is left alone, though others of its claim are still in hand', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 2);
  const [refused, other] = (await stack.sql<{ id: string }[]>`select id from deliveries order by id`).map(
    ({ id }) => id,
  );
  const { answered, answer } = later<void>();
  const made = relayTo(
    stack,
    {
      async startDelivery({ id }) {
        if (id === refused) throw Object.assign(new Error('3 INVALID_ARGUMENT'), INVALID_ARGUMENT);
        await answered;
      },
    },
    { makeFirstAttempt: async () => delivered, scheduler: { silentMs: 600_000 } },
  );
  cleanups.push(async () => answer());
  const leaseOf = async (id: string | undefined) => {
    const [row] = await stack.sql<{ ms: number }[]>`
      select coalesce(extract(epoch from claimed_until - now()), 0)::float8 * 1000 as ms, claimed_until from deliveries where id = ${id ?? ''}`;
    return row?.ms ?? 0;
  };
  await stack.until('the refusal', async () => (await leaseOf(refused)) > 20_000);
  let before = await leaseOf(other);
  await stack.until('a renewal', async () => {
    const now = await leaseOf(other);
    const renewed = now > before;
    before = now;
    return renewed;
  });
  expect(await leaseOf(refused)).toBeGreaterThan(20_000);
  answer();
  await stack.until('the other', async () => made.started.includes(other ?? ''));
});

test('what gets no permit is deferred, and no workflow is started for it', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10009');
  let asked = 0;
  const { started } = relayTo(
    stack,
    {},
    {
      async makeFirstAttempt() {
        asked += 1;
        return asked === 1 ? atLimit : delivered;
      },
    },
  );
  await stack.until('its workflow', async () => started.includes(id));
  expect(asked).toBe(2);
  expect(started).toEqual([id]);
  const [{ deferredMs } = { deferredMs: 0 }] = await stack.sql<{ deferredMs: number }[]>`
    select extract(epoch from due_at - created_at)::float8 * 1000 as deferred_ms from deliveries where id = ${id}`;
  expect(deferredMs).toBeGreaterThanOrEqual(1_000);
});

test('who waits for a permit holds up nobody, however many they are', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 50);
  const { answered, answer } = later<AttemptOutcome>();
  const asked = new Set<string>();
  const { started } = relayTo(
    stack,
    {},
    {
      scheduler: { startAfterMs: 10 },
      makeFirstAttempt(id, { onPermit }) {
        asked.add(id);
        onPermit?.('isAskedFor');
        return answered;
      },
    },
  );
  await stack.until('all attempts', async () => asked.size === 50);
  expect(started).toEqual([]);
  answer(delivered);
  await stack.until('all workflows', async () => started.length === 50);
});

test('what is at slow receivers, and the starts of its workflows, hold up nobody', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  const { answered, answer } = later<AttemptOutcome>();
  const asked = new Set<string>();
  const { started } = relayTo(
    stack,
    {
      async startDelivery() {
        await answered;
      },
    },
    {
      scheduler: { startAfterMs: 10, dispatchWindow: 2, silentMs: 600_000 },
      makeFirstAttempt(id, { onPermit }) {
        asked.add(id);
        onPermit?.('isThere');
        return answered;
      },
    },
  );
  await fireMany(stack, 20);
  await stack.until('all attempts', async () => asked.size === 20);
  expect(started).toEqual([]);
  answer(delivered);
  await stack.until('all workflows', async () => started.length === 20);
});

test.for(['refuses connections', 'is silent'])(
  'while Temporal %s, first attempts go on, and their workflows start when it is back',
  async (how) => {
    const stack = await start({ worker: false });
    await stack.createWebhook('http://127.0.0.1:9/');
    let isAway = true;
    const hanging: (() => void)[] = [];
    const asked: string[] = [];
    const { started } = relayTo(
      stack,
      {
        async startDelivery() {
          if (!isAway) return;
          // Until the deadline of the call.
          if (how === 'is silent') await new Promise<void>((resolve) => hanging.push(resolve));
          throw away();
        },
      },
      {
        scheduler: { silentMs: 50, tickMs: 20 },
        async makeFirstAttempt(id) {
          asked.push(id);
          return delivered;
        },
      },
    );
    await fireMany(stack, 100);
    await stack.until('every first attempt', async () => asked.length === 100);
    expect(started).toEqual([]);
    isAway = false;
    for (const givenUp of hanging) givenUp();
    await stack.until('every workflow', async () => started.length === 100);
    expect(new Set(asked).size).toBe(100);
  },
);

test('what a batch had claimed that cannot be started goes on one by one', async () => {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 3);
  await claimDeliveries(stack.sql, { class: CLASS.fresh, limit: 3, batchId: randomUUID() });
  await stack.sql`update deliveries set claimed_until = null`;
  const attempted = new Set<string>();
  relayTo(
    stack,
    { startDelivery: () => Promise.reject(away()) },
    {
      async makeFirstAttempt(id) {
        attempted.add(id);
        return delivered;
      },
      startBatch: () => Promise.reject(away()),
    },
  );
  await stack.until('all of them', async () => attempted.size === 3);
});

test('a worker that no longer reaches Temporal: first attempts arrive, and their workflows come, as do the retries', async () => {
  const [host = '', port] = inject('temporalAddress').split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  cleanups.push(() => proxy.close());
  const stack = await start({ workerTemporalAddress: proxy.host, policy: { windowMs: 3_600_000 } });
  const receiver = await startReceiver(({ count }) => ({ status: count === 3 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  proxy.refuse();
  await fireMany(stack, 10);
  await receiver.waitFor(10);
  const states = () => stack.sql<{ id: string; state: string }[]>`select id, state from deliveries`;
  await stack.until('their records', async () => {
    return (await states()).every(({ state }) => state !== 'pending');
  });
  for (const { id } of await states()) expect(await stack.describe(id)).toBeUndefined();
  proxy.pass();
  for (const { id } of await states()) {
    await stack.untilBegun(id);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
  }
  await stack.until('every record', async () => (await states()).every(({ state }) => state === 'delivered'));
  expect(receiver.requests).toHaveLength(11);
});

test('told to stop, it lets the requests under way finish', async () => {
  const stack = await start();
  const { answered, answer } = later<void>();
  const receiver = await startReceiver(async () => {
    await answered;
    return { status: 200 };
  });
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10010');
  await receiver.waitFor(1);
  const stopped = stack.stopWorker();
  answer();
  await stopped;
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered' });
  await stack.startWorker();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(1);
});
