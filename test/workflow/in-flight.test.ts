/** Attempts from the queue, then a workflow with the result: one request each and one workflow, whatever dies. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import pino from 'pino';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { AttemptOutcome } from '../../src/attempt/outcome.ts';
import type { AttemptRecord } from '../../src/db/deliveries/results.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import type { MakeQueueAttempt } from '../../src/relay/deps.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { routeTemporalLogs } from '../../src/temporal/logs.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { beginAttempt } from '../support/database/deliveries.ts';
import { attemptFromQueue } from '../support/database/queue-attempts.ts';
import { later } from '../support/later.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { startTcpProxy } from '../support/servers/tcp-proxy.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { runsOf } from '../support/temporal/lost-workflows.ts';
import { fireMany, relayTo } from '../support/temporal/relay.ts';

async function start(options: StackOptions = {}): Promise<DeliveryStack> {
  return await stackOfTest('in-flight', options);
}
/** A stack without a worker, and a webhook that nothing is sent to. */
async function startIdle(): Promise<DeliveryStack> {
  const stack = await start({ worker: false });
  await stack.createWebhook('http://127.0.0.1:9/');
  return stack;
}
/** A delivery to a receiver of its own. */
async function fire(stack: DeliveryStack) {
  const receiver = await receiverOfTest();
  await stack.createWebhook(receiver.url);
  return { receiver, id: await stack.fireOne('10001') };
}
/** A delivery whose first request has arrived. `answer`: lets its receiver respond with this status. */
async function fireAsked(stack: DeliveryStack, status: number) {
  const [answered, answer] = later();
  const receiver = await receiverOfTest(async () => {
    await answered;
    return { status };
  });
  const webhook = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await receiver.waitFor(1);
  return { receiver, webhook, id, answer };
}
/** Attempts that are accepted. */
const delivering =
  ({ sql }: DeliveryStack): MakeQueueAttempt =>
  (delivery, queue) =>
    attemptFromQueue(sql, delivery, queue);
const atLimit: AttemptOutcome = { kind: 'notAttempted', reason: 'concurrencyLimit' };
/** Every moment is a burst. */
const burst = { calmPerSecond: 0 };
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

/** A first attempt by a process that dies before it starts the workflow. @returns the claimed delivery */
async function attemptInDyingProcess({ sql }: DeliveryStack, result?: Partial<AttemptRecord>) {
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 1 });
  const [claimed] = deliveries;
  if (claimed === undefined) throw new Error('nothing to claim');
  const handOver = () => 'start' as const;
  const outcome = await attemptFromQueue(sql, claimed, { claimId: claimed.claimId, handOver }, result);
  if (outcome.kind === 'notAttempted') throw new Error('no attempt was made');
  // Its lease is over.
  await sql`update deliveries set claimed_until = now() where id = ${claimed.id}`;
  return { claimed, outcome };
}

test('a workflow starts once there is a result, and schedules nothing', async () => {
  const stack = await start({ scheduler: { slowMs: 10 } });
  const { receiver, id, answer } = await fireAsked(stack, 200);
  expect(await stack.describe(id)).toBeUndefined();
  expect(await stack.delivery(id)).toMatchObject({ state: 'pending' });
  answer();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await story(stack, id)).toEqual([]);
  expect(receiver.requests).toHaveLength(1);
});

test.each(['all', 'undelivered'] as const)(
  'a delivery whose process dies after it was delivered gets its workflow, and no second request (%s)',
  async (workflows) => {
    const stack = await start({ worker: false, workflows });
    const { receiver, id } = await fire(stack);
    await attemptInDyingProcess(stack);
    expect(await queueOf(stack, id)).toMatchObject({ dispatched: false, claimed: true });
    await stack.startWorker();
    await stack.untilBegun(id);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    await stack.until('its record', async () => (await queueOf(stack, id))?.dispatched === true);
    expect(receiver.requests).toEqual([]);
  },
);

test('a failed delivery whose process died gets its retry on time, and one workflow', async () => {
  const stack = await start({ worker: false });
  const { receiver, id } = await fire(stack);
  const due = new Date(Date.now() + 3_000);
  await attemptInDyingProcess(stack, { nextAttemptAt: due });
  await stack.startWorker();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  const attempts = await stack.attempts(id);
  expect(attempts).toMatchObject([{ outcome: 'failure' }, { outcome: 'success' }]);
  expect(attempts[1]?.startedAt.getTime()).toBeGreaterThanOrEqual(due.getTime());
  await expect.poll(() => runsOf(stack.client, stack.workflowId(id))).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);
});

test.each([
  ['delivered', {}, []],
  ['retried later', { nextAttemptAt: 3_000 }, ['2']],
])(
  'if a process dies between start and record (%s), there is one workflow with one plan',
  async (_, { nextAttemptAt }: { nextAttemptAt?: number }, sent) => {
    const stack = await start({ worker: false });
    const { receiver, id } = await fire(stack);
    const due = nextAttemptAt === undefined ? undefined : new Date(Date.now() + nextAttemptAt);
    const made = await attemptInDyingProcess(stack, due && { nextAttemptAt: due });
    // The connection would install the SDK's runtime with its own settings, and there is only one.
    routeTemporalLogs(pino({ level: 'silent' }));
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    onTestFinished(() => connection.close());
    const dispatcher = createDispatcher(new Client({ connection }), stack.taskQueue, stack.policy);
    await dispatcher.startDelivery(made.claimed, made.outcome);
    expect(await queueOf(stack, id)).toMatchObject({ dispatched: false, claimed: true });
    await stack.startWorker();
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    await stack.until('its record', async () => (await queueOf(stack, id))?.dispatched === true);
    expect(receiver.requests.map(({ headers }) => headers['x-service-attempt'])).toEqual(sent);
    const last = (await stack.attempts(id)).at(-1);
    expect(last).toMatchObject({ outcome: 'success' });
    expect(last?.startedAt.getTime()).toBeGreaterThanOrEqual(due?.getTime() ?? 0);
    await expect.poll(() => runsOf(stack.client, stack.workflowId(id))).toHaveLength(1);
  },
);

test('the attempt of a dead process is repeated, but not while it may be at its receiver', async () => {
  const stack = await start({ worker: false });
  const { receiver, id } = await fire(stack);
  await beginAttempt(stack.sql, { deliveryId: id, number: 1, generation: 1, ownedMs: 2_000 });
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

test('a delivery whose webhook is deleted during its first request is canceled once that fails', async () => {
  const stack = await start();
  const { receiver, webhook, id, answer } = await fireAsked(stack, 503);
  await stack.changeWebhook(webhook.id, { deleted: true });
  answer();
  expect(await stack.untilState(id, 'canceled')).toMatchObject({ canceledBy: 'deletion', attemptsMade: 1 });
  expect(receiver.requests).toHaveLength(1);
});

test.each([
  ['under light load', {}],
  ['in a burst', burst],
])('an operator hold between request and start (%s) prevents a second attempt', async (_, scheduler) => {
  const stack = await start({ scheduler, policy: { windowMs: 3_600_000 } });
  const { receiver, id, answer } = await fireAsked(stack, 503);
  const request = createOperatorActions(stack);
  expect(await request('hold', id, { by: 'anna', reason: '' })).toMatchObject({ accepted: true });
  answer();
  await stack.untilHeld(id);
  expect(receiver.requests).toHaveLength(1);
});

test('a delivery is dispatched once Temporal has its workflow, and claimed until then', async () => {
  const stack = await startIdle();
  const id = await stack.fireOne('10008');
  const [answered, answer] = later();
  let asked = false;
  relayTo(
    stack,
    {
      async startDelivery() {
        asked = true;
        await answered;
      },
    },
    { makeAttempt: delivering(stack), scheduler: { silentMs: 600_000 } },
  );
  await stack.until('the start', async () => asked);
  expect(await queueOf(stack, id)).toMatchObject({ dispatched: false, claimed: true });
  answer();
  await stack.until('its record', async () => (await queueOf(stack, id))?.dispatched === true);
});

test.each([
  ['with the result', {}],
  ['later', burst],
])(
  'a start that Temporal refuses (%s) is left alone while others of its claim are in flight',
  async (_, scheduler) => {
    const stack = await startIdle();
    const [answered, answer] = later();
    let passes = 0;
    let isRefused = false;
    const made = relayTo(
      stack,
      {
        async startDelivery({ entityId }) {
          if (entityId === 'order 0') {
            isRefused = true;
            throw Object.assign(new Error('3 INVALID_ARGUMENT'), INVALID_ARGUMENT);
          }
          // Claimed before the other one: both are claimed again.
          await sleep(100);
          if (!isRefused) throw new Error('away');
          await answered;
        },
      },
      {
        makeAttempt: delivering(stack),
        scheduler: { silentMs: 600_000, ...scheduler },
        onPass(loop) {
          if (loop === 'bulk') passes += 1;
        },
      },
    );
    onTestFinished(async () => answer());
    await stack.until('an empty queue', async () => passes > 1);
    await fireMany(stack, 2);
    const [refused, other] = (await stack.sql<{ id: string }[]>`select id from deliveries order by id`).map(
      ({ id }) => id,
    );
    const leaseOf = async (id: string | undefined) => {
      const [row] = await stack.sql<{ ms: number }[]>`
        select coalesce(extract(epoch from claimed_until - now()), 0)::float8 * 1000 as ms, claimed_until from deliveries where id = ${id ?? ''}`;
      return row?.ms ?? 0;
    };
    await stack.until('the rejection', async () => (await leaseOf(refused)) > 20_000);
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
  },
);

test('a delivery without a permit is deferred, and no workflow is started', async () => {
  const stack = await startIdle();
  const id = await stack.fireOne('10009');
  let asked = 0;
  const { started } = relayTo(
    stack,
    {},
    {
      async makeAttempt(delivery, queue) {
        asked += 1;
        return asked === 1 ? atLimit : await attemptFromQueue(stack.sql, delivery, queue);
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

test('any number of deliveries may wait for a permit without delaying others', async () => {
  const stack = await startIdle();
  await fireMany(stack, 50);
  const [answered, answer] = later();
  const asked = new Set<string>();
  const { started } = relayTo(
    stack,
    {},
    {
      scheduler: { inFlight: 4, worthAClaim: 1, tickMs: 20 },
      async makeAttempt(delivery, queue, { onPermit }) {
        asked.add(delivery.id);
        onPermit?.('requested');
        await answered;
        return await attemptFromQueue(stack.sql, delivery, queue);
      },
    },
  );
  await stack.until('all attempts', async () => asked.size === 50);
  expect(started).toEqual([]);
  answer();
  await stack.until('all workflows', async () => new Set(started).size === 50);
});

test('slow receivers and slow starts delay no other delivery', async () => {
  const stack = await startIdle();
  const [slow, endSlow] = later();
  const [silent, endSilent] = later();
  const asked = new Set<string>();
  const { started } = relayTo(
    stack,
    { startDelivery: () => silent },
    {
      scheduler: { inFlight: 4, worthAClaim: 1, slowMs: 10, tickMs: 20, silentMs: 600_000 },
      async makeAttempt(delivery, queue, { onPermit }) {
        asked.add(delivery.id);
        onPermit?.('granted');
        await slow;
        return await attemptFromQueue(stack.sql, delivery, queue);
      },
    },
  );
  await fireMany(stack, 20);
  await stack.until('all attempts', async () => asked.size === 20);
  endSlow();
  await fireMany(stack, 20);
  await stack.until('the attempts of further ones', async () => asked.size === 40);
  expect(started).toEqual([]);
  endSilent();
  await stack.until('all workflows', async () => new Set(started).size === 40);
});

test.for(['refuses connections', 'is silent'])(
  'while Temporal %s, first attempts continue; their workflows start once it is back',
  async (how) => {
    const stack = await startIdle();
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
        async makeAttempt(delivery, queue) {
          asked.push(delivery.id);
          return await attemptFromQueue(stack.sql, delivery, queue);
        },
      },
    );
    await fireMany(stack, 100);
    await stack.until('every first attempt', async () => asked.length === 100);
    expect(started).toEqual([]);
    isAway = false;
    for (const givenUp of hanging) givenUp();
    await stack.until('every workflow', async () => started.length === 100);
    expect(asked).toHaveLength(100);
    expect(new Set(asked).size).toBe(100);
  },
);

test('during an outage of the database, twenty lines per second are logged, and a count of the rest', async () => {
  const stack = await startIdle();
  await fireMany(stack, 50);
  let away = false;
  const sql = new Proxy(stack.sql, {
    apply(target, self, asked) {
      if (away) throw new Error('The database is unavailable.');
      return Reflect.apply(target, self, asked);
    },
  });
  const lines: string[] = [];
  relayTo(
    { sql },
    {},
    {
      async makeAttempt() {
        away = true;
        throw new Error('The database is unavailable.');
      },
      log: pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) }),
    },
  );
  onTestFinished(() => {
    away = false;
  });
  const ofDeliveries = () => lines.filter((line) => /steps? of (?:a delivery|deliveries)/.test(line));
  const isSum = (line: string) => line.startsWith('more');
  await stack.until('the end of that second', async () => ofDeliveries().some(isSum));
  expect(ofDeliveries().findIndex(isSum)).toBe(20);
});

test('a worker that loses Temporal continues attempts and retries; their workflows follow', async () => {
  const [host = '', port] = inject('temporalAddress').split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  onTestFinished(() => proxy.close());
  const stack = await start({ workerTemporalAddress: proxy.host, policy: { windowMs: 3_600_000 } });
  const receiver = await receiverOfTest(({ count }) => ({ status: count === 3 ? 503 : 200 }));
  await stack.createWebhook(receiver.url);
  proxy.refuse();
  await fireMany(stack, 10);
  const states = () => stack.sql<{ id: string; state: string }[]>`select id, state from deliveries`;
  await stack.until('every record', async () => (await states()).every(({ state }) => state === 'delivered'));
  expect(receiver.requests).toHaveLength(11);
  for (const { id } of await states()) expect(await stack.describe(id)).toBeUndefined();
  proxy.pass();
  for (const { id } of await states()) {
    await stack.untilBegun(id);
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
  }
  expect(receiver.requests).toHaveLength(11);
});

test('a stopping worker lets requests under way finish', async () => {
  const stack = await start();
  const { receiver, id, answer } = await fireAsked(stack, 200);
  const stopped = stack.stopWorker();
  answer();
  await stopped;
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered' });
  await stack.startWorker();
  await stack.untilBegun(id);
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(receiver.requests).toHaveLength(1);
});

test("nothing is claimed while the database's disk is full; afterwards all is attempted", async () => {
  const stack = await startIdle();
  let isDiskFull = true;
  const passes: string[] = [];
  relayTo(
    stack,
    {},
    {
      makeAttempt: delivering(stack),
      isDiskFull: () => isDiskFull,
      onPass: (loop) => passes.push(loop),
    },
  );
  const id = await stack.fireOne('10001');
  await expect.poll(() => passes.filter((loop) => loop === 'fresh').length).toBeGreaterThan(5);
  expect(await queueOf(stack, id)).toEqual({ class: CLASS.fresh, dispatched: false, claimed: false });
  isDiskFull = false;
  await stack.untilState(id, 'delivered');
});
