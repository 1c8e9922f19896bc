/** The end of a delivery, and its effect on those behind it in its record: row by row of the table of D16. */
import { afterEach, expect, test } from 'vitest';
import { recordEvents } from '../../src/db/outbox/events.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { redeliver } from '../../src/db/outbox/redeliver.ts';
import { beginRecovery } from '../../src/db/recoveries/recoveries.ts';
import { transaction } from '../../src/db/transaction.ts';
import { replaceWebhook } from '../../src/db/webhooks/change.ts';
import { pauseWebhook, resumeWebhook } from '../../src/db/webhooks/pause.ts';
import { findWebhook } from '../../src/db/webhooks/webhooks.ts';
import type { EventType } from '../../src/domain/event-types.ts';
import { isLastCall } from '../../src/domain/incident.ts';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { jitteredWait, maxAttempts } from '../../src/domain/retry-policy.ts';
import type { Ordering } from '../../src/domain/webhook-fields.ts';
import { createOperatorActions } from '../../src/temporal/operator-actions.ts';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { endWindowIn } from '../support/database/windows.ts';
import { later } from '../support/later.ts';
import { receiverOfFile, receiverOfTest, stackOfFile } from '../support/lifetimes.ts';
import type { ReceiverAnswer } from '../support/servers/receiver.ts';
import { workflowIdOf } from '../support/temporal/workflow-ids.ts';

let sequence = 0;

const stack = await stackOfFile('in-order', {
  // A failed delivery waits until the test shifts its time, and has one attempt left.
  policy: { initialIntervalMs: 600_000, maxRetries: 1, windowMs: 3_600_000, attemptTimeoutMs: 30_000 },
  // So that only the tested path lets the next one go.
  scheduler: { settleMs: 3_600_000 },
});
const receiver = await receiverOfFile();
const request = createOperatorActions(stack);
afterEach(async () => {
  await stack.retireWebhooks();
  receiver.clear();
});

const TYPES = ['CREATE_ORDER', 'UPDATE_ORDER', 'UPDATE_ORDER_STATUS'] as const;
const refusing = { status: 503 } as const;

/** A webhook of each type, all of one receiver; answers their ids. */
async function subscribe(ordering: Ordering, types: readonly EventType[] = TYPES): Promise<number[]> {
  const ids: number[] = [];
  for (const type of types) {
    const { id } = await stack.createWebhook(`${receiver.url}/${type}`, { type, ordering });
    ids.push(id);
  }
  return ids;
}

/** Fires the next events of a record, of these types; answers their deliveries. */
async function happen(entityId: string, ...types: EventType[]): Promise<string[]> {
  const deliveries: string[] = [];
  for (const type of types) {
    sequence += 1;
    const snapshot = JSON.stringify({ eshopOrderId: entityId, sequence });
    await transaction(stack.sql, (tx) =>
      recordEvents(tx, stack.eshopId, [
        { type, entityId, sequence, happenedAt: null, snapshot, origin: 'service', changed: null },
      ]),
    );
    const rows = await stack.sql<{ id: string }[]>`
      select id from deliveries where entity_id = ${entityId} and sequence = ${sequence} and recovery_id is null`;
    deliveries.push(...rows.map(({ id }) => id));
  }
  return deliveries;
}

const requestsOf = (entityId: string) =>
  receiver.requests.filter(({ text }) => JSON.parse(text).eshopOrderId === entityId);

/** The deliveries of a record whose requests arrived, in order. */
const arrived = (entityId: string) =>
  requestsOf(entityId).map(({ headers }) => String(headers['x-service-delivery']));

/** A delivery that is refused and waits for its next attempt, and those behind it, which wait for their turn. */
async function group(
  entityId: string,
  type: EventType,
  ...types: EventType[]
): Promise<[string, ...string[]]> {
  answer(entityId, refusing);
  const [first] = await happen(entityId, type);
  if (first === undefined) throw new Error('no delivery');
  await stack.untilState(first, 'retrying');
  const others = await happen(entityId, ...types);
  for (const id of others) await stack.until('it to wait', () => waits(id));
  answer(entityId, { status: 200 });
  return [first, ...others];
}

const answers = new Map<string, ReceiverAnswer>();
function answer(entityId: string, with_: ReceiverAnswer): void {
  answers.set(entityId, with_);
  receiver.respond(({ text }) => answers.get(JSON.parse(text).eshopOrderId) ?? { status: 200 });
}

async function waits(id: string): Promise<boolean> {
  const [row] = await stack.sql`
    select from deliveries where id = ${id} and state = 'pending' and class = ${CLASS.blocked} and dispatched_at is null and claimed_until is null`;
  return row !== undefined;
}

const delivered = (...ids: string[]) => Promise.all(ids.map((id) => stack.untilState(id, 'delivered')));
const workflow = async (id: string) => stack.client.workflow.getHandle(await workflowIdOf(stack.sql, id));
const ask = (action: ActionName, id: string) => request(action, id, { by: 'anna', reason: '' });
const tryNow = (id: string) => ask('tryNow', id);

/** Restarts the worker: its reconciler checks everything. */
async function restart(): Promise<void> {
  await stack.stopWorker();
  await stack.startWorker();
}

test('a blocked delivery waits while the head is at the receiver, and goes once it is delivered', async () => {
  await subscribe('record');
  const [there, arrives] = later();
  const [accepted, accept] = later();
  receiver.respond(async ({ headers }) => {
    if (headers['x-service-event'] !== 'CREATE_ORDER') return { status: 200 };
    arrives();
    await accepted;
    return { status: 200 };
  });
  const [created, ...others] = await happen('underway', ...TYPES);
  stack.notify();
  await there;
  for (const id of others) await stack.until('it to wait', () => waits(id));
  expect(arrived('underway')).toEqual([created]);
  accept();
  await delivered(...others);
  expect(arrived('underway')).toEqual([created, ...others]);
});

test('after a failed head, the next deliveries go to the other webhooks', async () => {
  const [created] = await subscribe('record');
  const [first, ...others] = await group('failed', ...TYPES);
  receiver.respond(({ headers }) => ({ status: headers['x-service-event'] === 'CREATE_ORDER' ? 503 : 200 }));
  await tryNow(first);
  await stack.untilState(first, 'failed');
  await delivered(...others);
  expect(await stack.webhook(Number(created))).toMatchObject({ active: false });
});

test('a 410 deactivates the webhook, and the next deliveries go to the others', async () => {
  await subscribe('record');
  const [first, ...others] = await group('gone', ...TYPES);
  receiver.respond(({ headers }) => ({ status: headers['x-service-event'] === 'CREATE_ORDER' ? 410 : 200 }));
  await tryNow(first);
  await stack.untilState(first, 'failed');
  await delivered(...others);
});

test('a held head blocks its group until it expires', async () => {
  await subscribe('record');
  const [first, ...others] = await group('held', ...TYPES);
  await ask('hold', first);
  await endWindowIn(stack, first, -1);
  for (const id of others) expect(await waits(id)).toBe(true);
  await (await workflow(first)).signal(webhookChangedSignal);
  await stack.untilState(first, 'expired');
  await delivered(...others);
});

test('a head that is given up releases the next; a blocked delivery can be given up at once', async () => {
  await subscribe('record');
  const [first, second, third] = await group('given-up', ...TYPES);
  if (second === undefined || third === undefined) throw new Error('three events');
  expect(await tryNow(second)).toMatchObject({
    accepted: false,
    message: `It waits for its order: delivery ${first}, of the same record, has to end first.`,
  });
  await ask('giveUp', second);
  await stack.untilState(second, 'canceled');
  expect(await waits(third)).toBe(true);
  await ask('giveUp', first);
  await stack.untilState(first, 'canceled');
  await delivered(third);
  expect(arrived('given-up')).toEqual([first, third]);
});

test('a head canceled in Temporal releases the next', async () => {
  await subscribe('record');
  const [first, ...others] = await group('canceled', ...TYPES);
  await (await workflow(first)).cancel();
  await stack.untilState(first, 'canceled');
  await delivered(...others);
});

test('the reconciler releases the next after a termination in Temporal, or a dead process', async () => {
  await subscribe('record');
  const [first, ...others] = await group('terminated', ...TYPES);
  const [accepted, ...behind] = await group('dead', ...TYPES);
  await (await workflow(first)).terminate();
  await stack.sql`update deliveries set state = 'delivered', finished_at = now(), next_attempt_at = null where id = ${accepted}`;
  await restart();
  await stack.untilState(first, 'canceled');
  await delivered(...others, ...behind);
});

test('a deactivated head lets the others go; after the activation the rest goes in order', async () => {
  const [created] = await subscribe('record', ['CREATE_ORDER', 'UPDATE_ORDER']);
  const [first, second, other] = await group('inactive', 'CREATE_ORDER', 'CREATE_ORDER', 'UPDATE_ORDER');
  await stack.changeWebhook(Number(created), { active: false });
  await delivered(String(other));
  expect(await waits(String(second))).toBe(true);
  await stack.changeWebhook(Number(created), { active: true });
  await tryNow(first);
  await delivered(first, String(second));
  expect(arrived('inactive')).toEqual([first, other, first, second]);
});

/** The second delivery of a record gets its workflow before its first attempt: an operator holds it in a pause. */
async function heldBehind(entityId: string, webhook: number | undefined): Promise<string> {
  await pauseWebhook(stack.sql, stack.eshopId, Number(webhook), new Date(Date.now() + 3_600_000));
  const id = (await happen(entityId, 'CREATE_ORDER')).at(-1) ?? '';
  await ask('hold', id);
  await stack.until('its workflow', async () => (await stack.delivery(id)).dispatchedAt !== null);
  await resumeWebhook(stack.sql, stack.eshopId, Number(webhook));
  return id;
}

test('a delivery that has its workflow before its first attempt waits for its turn, too', async () => {
  const [webhook] = await subscribe('record', ['CREATE_ORDER']);
  const [first] = await group('held', 'CREATE_ORDER');
  const second = await heldBehind('held', webhook);
  await ask('resume', second);
  await stack.until('a plan', async () => (await stack.delivery(second)).nextAttemptAt !== null);
  expect(arrived('held')).toEqual([first]);
  // The hold had begun its window, which the wait for others must not use up.
  expect((await stack.delivery(second)).windowStartedAt).toBeNull();
});

test('a delivery that has its workflow before its first attempt supersedes older ones, too', async () => {
  const [webhook] = await subscribe('latest', ['CREATE_ORDER']);
  const [first] = await group('newest', 'CREATE_ORDER');
  const second = await heldBehind('newest', webhook);
  await ask('resume', second);
  await delivered(second);
  expect((await stack.delivery(first)).state).toBe('superseded');
  expect(arrived('newest')).toEqual([first, second]);
  // It goes on with the count of failures.
  expect(receiver.requests.at(-1)?.headers['x-service-attempt']).toBe('2');
});

test('with latest, a first attempt of a workflow waits for the request of an older delivery, too', async () => {
  const [webhook] = await subscribe('latest', ['CREATE_ORDER']);
  const [first] = await group('beside', 'CREATE_ORDER');
  const second = await heldBehind('beside', webhook);
  const [accepted, accept] = later();
  receiver.respond(async () => {
    await accepted;
    return { status: 200 };
  });
  await tryNow(first);
  await stack.until('its request', async () => arrived('beside').length === 2);
  await ask('resume', second);
  await stack.until('a plan', async () => (await stack.delivery(second)).nextAttemptAt !== null);
  expect(arrived('beside')).toEqual([first, first]);
  accept();
  await delivered(first);
});

test('a superseded delivery without an attempt leaves no window behind, even after an operator held it', async () => {
  const [webhook] = await subscribe('latest', ['CREATE_ORDER']);
  const held = await heldBehind('unattempted', webhook);
  const [newest] = await happen('unattempted', 'CREATE_ORDER');
  stack.notify();
  await stack.until('it to wait', () => waits(String(newest)));
  await stack.until('its window', async () => (await stack.delivery(held)).windowStartedAt !== null);
  const resumedAt = Date.now();
  await ask('resume', held);
  await delivered(String(newest));
  expect(await stack.delivery(held)).toMatchObject({ state: 'superseded', supersededBy: newest });
  expect(Number((await stack.delivery(String(newest))).windowStartedAt)).toBeGreaterThanOrEqual(resumedAt);
});

test('deliveries without an ordering go, even if those claimed with them cannot be put in order', async () => {
  await subscribe('record', ['CREATE_ORDER']);
  await subscribe('none', ['UPDATE_ORDER']);
  await group('disordered', 'CREATE_ORDER');
  await stack.stopWorker();
  const notBlocked = stack.sql.unsafe(`check (class <> ${CLASS.blocked}) not valid`);
  await stack.sql`alter table deliveries add constraint away ${notBlocked}`;
  try {
    const [, unordered] = await happen('disordered', 'CREATE_ORDER', 'UPDATE_ORDER');
    await stack.startWorker();
    await delivered(String(unordered));
  } finally {
    await stack.sql`alter table deliveries drop constraint away`;
  }
});

test('a head deactivated during its request releases the next once that is over', async () => {
  const [created] = await subscribe('record', ['CREATE_ORDER', 'UPDATE_ORDER']);
  const [accepted, accept] = later();
  receiver.respond(async ({ headers }) => {
    if (headers['x-service-event'] === 'CREATE_ORDER') await accepted;
    return { status: 200 };
  });
  const [first, second] = await happen('leaving', 'CREATE_ORDER', 'UPDATE_ORDER');
  stack.notify();
  await stack.until('its request', async () => arrived('leaving').length === 1);
  await stack.until('it to wait', () => waits(String(second)));
  await stack.changeWebhook(Number(created), { active: false });
  // The relay has passed the change on and settled the order.
  await stack.until('the change', async () => {
    const rows = await stack.sql`select from changes_to_signal where webhook_id = ${Number(created)}`;
    return rows.length === 0;
  });
  expect(await waits(String(second))).toBe(true);
  accept();
  await delivered(String(first), String(second));
  expect(arrived('leaving')).toEqual([first, second]);
});

test('the deliveries of a deleted webhook are canceled, and the others go', async () => {
  const [created] = await subscribe('record', ['CREATE_ORDER', 'UPDATE_ORDER']);
  const [first, again, other] = await group('deleted', 'CREATE_ORDER', 'CREATE_ORDER', 'UPDATE_ORDER');
  await stack.changeWebhook(Number(created), { deleted: true });
  await delivered(String(other));
  for (const id of [first, again]) await stack.untilState(String(id), 'canceled');
  expect(arrived('deleted')).toEqual([first, other]);
});

test('a webhook with another receiver or no ordering lets its blocked deliveries go at once', async () => {
  const elsewhere = await receiverOfTest();
  const [, updates, statuses] = await subscribe('record');
  const [first, moved, loose] = await group('moved', ...TYPES);
  await stack.changeWebhook(Number(updates), { url: elsewhere.url });
  await delivered(String(moved));
  expect(elsewhere.requests).toHaveLength(1);
  expect(await waits(String(loose))).toBe(true);
  const before = await findWebhook(stack.sql, stack.eshopId, Number(statuses));
  if (before === null) throw new Error('no webhook');
  await replaceWebhook(stack.sql, stack.eshopId, before.id, { ...before, ordering: 'none' });
  await delivered(String(loose));
  expect(await stack.delivery(first)).toMatchObject({ state: 'retrying' });
});

test('a redelivery is never blocked', async () => {
  await subscribe('record');
  const [done] = await happen('again', 'UPDATE_ORDER');
  await delivered(String(done));
  const [first] = await group('again', 'CREATE_ORDER', 'UPDATE_ORDER');
  const made = await redeliver(stack.sql, stack.eshopId, String(done));
  if (made.kind !== 'created') throw new Error(made.kind);
  stack.notify();
  await delivered(made.id);
  expect(await stack.delivery(first)).toMatchObject({ state: 'retrying' });
});

/** A delivery that may have taken over failed attempts. Times in milliseconds since 1970. */
async function chainOf(id: string) {
  const [row] = await stack.sql<{ attemptsMade: number; windowStartedAt: number; dueAt: number }[]>`
    select attempts_made, (extract(epoch from window_started_at) * 1000)::float8 as window_started_at,
      (extract(epoch from due_at) * 1000)::float8 as due_at from deliveries where id = ${id}`;
  if (row === undefined) throw new Error(`no delivery ${id}`);
  return row;
}

test('the newest of superseded deliveries continues with the count and window, behind deliveries in between', async () => {
  await subscribe('latest', ['UPDATE_ORDER']);
  await subscribe('record', ['UPDATE_ORDER_STATUS']);
  const [first, second] = await group('latest', 'UPDATE_ORDER', 'UPDATE_ORDER');
  const [between, newest] = await happen('latest', 'UPDATE_ORDER_STATUS', 'UPDATE_ORDER');
  stack.notify();
  await stack.untilState(String(second), 'superseded');
  await stack.until('it to wait', () => waits(String(between)));
  const { windowStartedAt } = await stack.delivery(first);
  receiver.respond(({ headers }) => ({
    status: headers['x-service-event'] === 'UPDATE_ORDER_STATUS' ? 503 : 200,
  }));
  await tryNow(first);
  await stack.untilState(String(between), 'retrying');
  expect(await waits(String(newest))).toBe(true);
  const waiting = await chainOf(String(newest));
  expect(Math.floor(waiting.windowStartedAt)).toBe(Number(windowStartedAt));
  receiver.respond({ status: 200 });
  await tryNow(String(between));
  await delivered(String(between), String(newest));
  expect(arrived('latest')).toEqual([first, between, between, newest]);
  expect(receiver.requests.at(-1)?.headers['x-service-attempt']).toBe('2');
  const chain = await chainOf(String(newest));
  expect(chain.attemptsMade).toBe(2);
  // Its window gets back the wait behind the one in between: from when it took over until that one had ended.
  const ended = (await stack.attempts(String(between))).at(-1)?.finishedAt;
  const begun = (await stack.attempts(String(newest))).at(-1)?.startedAt;
  const backMs = chain.windowStartedAt - waiting.windowStartedAt;
  expect(backMs).toBeGreaterThanOrEqual(Number(ended) - waiting.dueAt - 1);
  expect(backMs).toBeLessThanOrEqual(Number(begun) - waiting.dueAt + 1);
  const rows = await stack.sql`
    select id, superseded_by from deliveries where entity_id = 'latest' and state = 'superseded' order by sequence`;
  expect(rows).toEqual([
    { id: first, supersededBy: newest },
    { id: second, supersededBy: newest },
  ]);
});

test('a recovery delivers the events of each record in order', async () => {
  const [webhook] = await subscribe('record', ['UPDATE_ORDER']);
  await stack.changeWebhook(Number(webhook), { active: false });
  const since = new Date();
  for (const record of ['lost', 'other', 'lost', 'other', 'lost']) await happen(record, 'UPDATE_ORDER');
  await stack.changeWebhook(Number(webhook), { active: true });
  answer('lost', refusing);
  const asked = { eshopId: stack.eshopId, webhookId: Number(webhook), webhookType: 'UPDATE_ORDER' } as const;
  const begun = await beginRecovery(stack.sql, { ...asked, since, until: null, include: ['missed'] });
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  stack.notify();
  const recovered = async (record: string) => {
    const rows = await stack.sql<{ id: string }[]>`
      select id from deliveries where recovery_id = ${begun.recoveryId} and entity_id = ${record} order by sequence`;
    return rows.map(({ id }) => id);
  };
  await stack.until('those of the other record', async () => arrived('other').length === 2);
  const [first, ...others] = await stack.until('all of them', async () => {
    const ids = await recovered('lost');
    return ids.length === 3 && ids;
  });
  await stack.untilState(String(first), 'retrying');
  for (const id of others) await stack.until('it to wait', () => waits(id));
  answer('lost', { status: 200 });
  await tryNow(String(first));
  await delivered(...others);
  expect(arrived('lost')).toEqual([first, first, ...others]);
  expect(arrived('other')).toEqual(await recovered('other'));
});

test('with the ordering latest, a broken receiver gets the attempts of one event, its warning and deactivation', async () => {
  const policy = { ...stack.policy, initialIntervalMs: 60_000, maxRetries: 4 };
  await stack.stopWorker();
  await stack.startWorker({ policy });
  await stack.untilCalm();
  receiver.respond(refusing);
  const [plain] = await subscribe('none', ['CREATE_ORDER']);
  const [latest] = await subscribe('latest', ['UPDATE_ORDER']);
  const [lonely] = await happen('lonely', 'CREATE_ORDER');
  let [head] = await happen('broken', 'UPDATE_ORDER');
  const warned = async () => {
    const rows = await stack.sql<{ webhookId: number }[]>`
      select webhook_id from notices
      where kind = 'warning' and webhook_id = any(${[Number(plain), Number(latest)]}) order by webhook_id`;
    return rows.map(({ webhookId }) => webhookId);
  };
  /** The state of a delivery after its attempt of this number, without absolute times. */
  async function after(id: string | undefined, attempt: number) {
    const row = await stack.until(`attempt ${attempt}`, async () => {
      const read = await stack.delivery(String(id));
      const there =
        read.attemptsMade === attempt && read.lastAttemptAt !== null && read.dispatchedAt !== null;
      return there && (attempt < maxAttempts(policy) || read.state === 'failed') && read;
    });
    const { state, attemptsMade } = row;
    const [nextAttemptAt, lastAttemptAt] = [
      row.nextAttemptAt?.getTime() ?? null,
      row.lastAttemptAt?.getTime() ?? 0,
    ];
    const times = { nextAttemptAt, lastAttemptAt, windowStartedAt: row.windowStartedAt?.getTime() ?? 0 };
    const planned = jitteredWait(policy, String(id), attempt);
    return {
      state,
      asPlanned: nextAttemptAt === null ? null : nextAttemptAt - lastAttemptAt === planned,
      lastCall:
        state === 'retrying' && isLastCall(policy, { deliveryId: String(id), attemptsMade, ...times }),
    };
  }
  for (let attempt = 1; ; attempt += 1) {
    const [alone, newest] = [await after(lonely, attempt), await after(head, attempt)];
    // The waits of each delivery are its own, and so is the attempt from which few are left.
    const lastCalls = [alone, newest].filter(({ lastCall }) => lastCall).length;
    expect({ ...newest, lastCall: null }).toEqual({ ...alone, lastCall: null });
    // Each attempt is that of another delivery: the newest at the time.
    expect(new Set(arrived('broken')).size).toBe(attempt);
    if (lastCalls > 0)
      await stack.until('them to be warned of', async () => (await warned()).length >= lastCalls);
    else if (alone.state === 'retrying') expect(await warned()).toEqual([]);
    if (attempt === maxAttempts(policy)) break;
    const newer = await happen('broken', 'UPDATE_ORDER', 'UPDATE_ORDER');
    stack.notify();
    for (const id of newer.slice(0, -1)) await stack.untilState(id, 'superseded');
    await stack.until('it to wait', () => waits(String(newer.at(-1))));
    for (const id of [lonely, head]) await tryNow(String(id));
    head = newer.at(-1);
  }
  expect(new Set(await warned())).toEqual(new Set([plain, latest]));
  for (const id of [plain, latest]) expect(await stack.webhook(Number(id))).toMatchObject({ active: false });
  for (const entityId of ['lonely', 'broken']) {
    // On a busy machine a request may be made again under its number.
    const numbers = requestsOf(entityId).map(({ headers }) => headers['x-service-attempt']);
    expect([...new Set(numbers)]).toEqual(['1', '2', '3', '4', '5']);
  }
});
