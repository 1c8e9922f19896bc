/** The relay: outbox → Temporal, each delivery once, however many processes claim. */
import { expect, onTestFinished, test } from 'vitest';
import { QUEUE_LATE_SECONDS } from '../../src/cli/status.ts';
import type { Sql } from '../../src/db/connection/pool.ts';
import { claimWebhookChanges } from '../../src/db/outbox/changes.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS, LEASE_SECONDS } from '../../src/db/outbox/outbox.ts';
import { readOverdue } from '../../src/db/overdue.ts';
import { createDispatcher } from '../../src/temporal/dispatcher.ts';
import { isRejection } from '../../src/temporal/rejection.ts';
import { attemptFromQueue } from '../support/database/queue-attempts.ts';
import { later } from '../support/later.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { boundless } from '../support/limits.ts';
import type { DeliveryStack, StackOptions } from '../support/temporal/delivery-stack.ts';
import { fireMany, relayTo } from '../support/temporal/relay.ts';

async function start(worker: boolean, options: StackOptions = {}): Promise<DeliveryStack> {
  return await stackOfTest('relay', { worker, ...options });
}

async function claim(sql: Sql, limit: number) {
  return (await claimDeliveries(sql, { class: CLASS.fresh, limit })).deliveries;
}

/** The error of a call to a server that is unavailable. */
const away = () => Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} });

/** Keeps the rows that `claim` takes in an open transaction while `meanwhile` runs. */
async function whileHeld<T>(
  stack: DeliveryStack,
  claim: (sql: Sql) => Promise<T>,
  meanwhile: () => Promise<T>,
): Promise<[first: T, second: T]> {
  const tx = await stack.sql.reserve();
  try {
    await tx`begin`;
    const first = await claim(tx);
    const second = await meanwhile();
    await tx`commit`;
    return [first, second];
  } finally {
    tx.release();
  }
}

test('a second claim skips the changes that the first one is claiming', async () => {
  const stack = await start(false);
  for (let index = 0; index < 3; index += 1) {
    const { id } = await stack.createWebhook('http://127.0.0.1:9/');
    await stack.changeWebhook(id, { active: false });
  }
  const [one, two] = await whileHeld(
    stack,
    (sql) => claimWebhookChanges(sql, 2),
    () => claimWebhookChanges(stack.sql, 2),
  );
  expect([one.length, two.length]).toEqual([2, 1]);
  expect(new Set([...one, ...two].map((change) => change.id)).size).toBe(3);
});

const untilRenewedTwice = ({ until, sql }: DeliveryStack, id: string) =>
  until('two renewals of the lease', async () => {
    const [row] = await sql`
      select claimed_until > created_at + make_interval(secs => ${LEASE_SECONDS * 1.4}) as renewed
      from deliveries where id = ${id}`;
    return row?.renewed === true;
  });

test('a relay keeps its claim while Temporal is slow', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10050');
  const [held, answer] = later();
  const { relay } = relayTo(stack, { startDelivery: () => held });
  try {
    await untilRenewedTwice(stack, id);
    expect(await claim(stack.sql, 10)).toEqual([]);
  } finally {
    answer();
    await relay.stop();
  }
});

test('a relay keeps its claim while a receiver is slow', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10056');
  const [held, answer] = later();
  const { started } = relayTo(
    stack,
    {},
    {
      async makeAttempt(delivery, queue, { onPermit }) {
        onPermit?.('granted');
        await held;
        return await attemptFromQueue(stack.sql, delivery, queue);
      },
    },
  );
  onTestFinished(async () => answer());
  await untilRenewedTwice(stack, id);
  expect(await claim(stack.sql, 10)).toEqual([]);
  answer();
  await stack.until('its workflow', async () => started.includes(id));
});

test('a delivery started twice is delivered once', async () => {
  const stack = await start(true);
  const receiver = await receiverOfTest();
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10051');
  await stack.untilClosed(id);
  // As if the relay had died between the start and its record.
  await stack.sql`update deliveries set dispatched_at = null, claimed_until = null where id = ${id}`;
  stack.notify();
  await stack.until('the record', async () => {
    const [row] = await stack.sql`select dispatched_at from deliveries where id = ${id}`;
    return row?.dispatchedAt !== null;
  });
  expect(receiver.requests).toHaveLength(1);
});

test('a claim that Temporal refuses as a whole does not stop the others', async () => {
  // The queue makes no retry: each failed attempt asks for its workflow at once.
  const stack = await start(false, { policy: { initialIntervalMs: 3_600_000, windowMs: 36_000_000 } });
  // Longer than an identifier may be: Temporal answers INVALID_ARGUMENT to each of them.
  const refused = 'x'.repeat(50_000);
  for (let index = 0; index < 40; index += 1) await stack.createWebhook('http://127.0.0.1:9/');
  expect(await stack.fire(refused)).toHaveLength(40);
  // Later events are for another webhook; deleting these would take their deliveries away.
  await stack.sql`update webhooks set webhook_type = 'UPDATE_ORDER'`;
  const receiver = await receiverOfTest();
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('accepted');
  await stack.startWorker();
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  // Chance may have let it start before some of them were refused.
  const refusals = () =>
    stack.logged.filter(({ msg }) => msg === 'Temporal rejected the start of a delivery');
  await stack.until(
    'all refusals',
    async () => new Set(refusals().map(({ deliveryId }) => deliveryId)).size === 40,
  );
});

test('a delivery whose start failed can be claimed at once, without waiting for the lease', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 3);
  const { relay } = relayTo(stack, {
    async startDelivery(delivery) {
      if (delivery.entityId !== 'order 0') throw away();
    },
  });
  await stack.until('the start that succeeds', async () => {
    const [row] =
      await stack.sql`select count(*)::int as dispatched from deliveries where dispatched_at is not null`;
    return row?.dispatched === 1;
  });
  await relay.stop();
  const { deliveries: left } = await claimDeliveries(stack.sql, { class: CLASS.undelivered, limit: 10 });
  expect(left.map((delivery) => delivery.entityId).sort()).toEqual(['order 1', 'order 2']);
});

test('a change whose signal failed is signaled again', async () => {
  const stack = await start(false);
  const webhook = await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10052');
  let failures = 0;
  const states: string[] = [];
  const failing = {
    async signalWebhookChanged() {
      failures += 1;
      if (failures === 1) throw away();
    },
  };
  const { started, signaled } = relayTo(stack, failing, { onTemporal: (state) => states.push(state) });
  await stack.until('the start', async () => started.includes(id));
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.until('the signal', async () => signaled.includes(id));
  expect(failures).toBe(2);
  await stack.until(
    'Temporal to be reported as up',
    async () => states.at(-1) === 'up' && states.includes('down'),
  );
});

test('a step with nothing to signal does not report Temporal as up', async () => {
  const stack = await start(false);
  const webhook = await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10055');
  const states: string[] = [];
  let idle = 0;
  const failing = { signalWebhookChanged: () => Promise.reject(away()) };
  const { started } = relayTo(stack, failing, {
    onTemporal: (state) => states.push(state),
    onPass(loop, result) {
      if (loop === 'webhooks' && result === 'idle') idle += 1;
    },
  });
  await stack.until('the start', async () => started.includes(id));
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.until('the failure', async () => states.at(-1) === 'down');
  // As if another worker had passed the change on.
  await stack.sql`delete from changes_to_signal`;
  const before = idle;
  await stack.until('a step that finds nothing', async () => idle > before);
  expect(states.at(-1)).toBe('down');
});

test('a failure of the database says nothing about Temporal', async () => {
  const stack = await start(false);
  const states: string[] = [];
  const failed: string[] = [];
  await stack.sql`alter table deliveries rename column due_at to due_by`;
  onTestFinished(async () => void (await stack.sql`alter table deliveries rename column due_by to due_at`));
  relayTo(
    stack,
    {},
    {
      onTemporal: (state) => states.push(state),
      onPass: (what, result) => result === 'failed' && failed.push(what),
    },
  );
  await stack.until('claims to fail', async () => failed.includes('fresh') && failed.includes('retry'));
  expect(states).toEqual([]);
});

test('a change to a webhook reaches every open delivery, however many', async () => {
  const stack = await start(false);
  const webhook = await stack.createWebhook('http://127.0.0.1:9/');
  await fireMany(stack, 201);
  const { started, signaled } = relayTo(stack);
  await stack.until('all starts', async () => started.length === 201);
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.until('the end of the change', async () => {
    const [row] = await stack.sql`select count(*)::int as changes from changes_to_signal`;
    return row?.changes === 0;
  });
  expect(new Set(signaled)).toEqual(new Set(started));
});

test('a terminated workflow does not block the changes to other webhooks', async () => {
  const stack = await start(true, { policy: { windowMs: 3_600_000 } });
  const receiver = await receiverOfTest({ status: 503, headers: { 'retry-after': '600' } });
  const waiting = async (entityId: string) => {
    const webhook = await stack.createWebhook(`${receiver.url}/${entityId}`, { type: 'CREATE_ORDER' });
    const id = await stack.fireOne(entityId);
    await stack.untilState(id, 'retrying');
    return { webhook, id };
  };
  const terminated = await waiting('10053');
  await stack.changeWebhook(terminated.webhook.id, { active: false });
  const other = await waiting('10054');
  await stack.workflow(terminated.id).terminate();
  // Both changes are claimed together, first that of the terminated one.
  await stack.stopWorker();
  await stack.changeWebhook(terminated.webhook.id, { active: true });
  await stack.changeWebhook(other.webhook.id, { url: `${receiver.url}/moved` });
  // Only the relay: a worker's reconciler would close the terminated delivery before the change reaches it.
  const real = createDispatcher(stack.client, stack.taskQueue, stack.policy);
  const { signaled } = relayTo(stack, {
    signalWebhookChanged: (delivery) => real.signalWebhookChanged(delivery),
  });
  await stack.until(
    'the changes to be signaled',
    async () => (await stack.sql`select 1 from changes_to_signal`).length === 0,
  );
  expect(signaled.sort()).toEqual([terminated.id, other.id].sort());
});

test('a relay whose receivers are at their limits still claims, and records that', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  const id = await stack.fireOne('10055');
  await stack.sql`update deliveries set due_at = now() - interval '1 hour' where id = ${id}`;
  expect((await readOverdue(stack.sql)).lastClaims).toEqual({});
  const quotas = () => ({ eshop: 0, webhook: 0, eshops: new Map(), webhooks: new Map() });
  relayTo(stack, {}, { limits: { ...boundless, quotas } });
  const { lastClaims } = await stack.until('notes of all classes', async () => {
    const overdue = await readOverdue(stack.sql);
    return Object.keys(overdue.lastClaims).length === 6 && overdue;
  });
  expect(lastClaims.fresh).toBeLessThan(QUEUE_LATE_SECONDS);
  expect((await readOverdue(stack.sql)).queue.fresh).toBeGreaterThan(QUEUE_LATE_SECONDS);
});

test('only a response that refuses is a rejection', () => {
  expect(isRejection(away())).toBe(false);
});
