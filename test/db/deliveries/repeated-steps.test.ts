/** A delivery's records hold when a step is repeated, late or over: each step checks the state that it changes. */
import { expect, test } from 'vitest';
import { lostTimeMs } from '../../../src/attempt/decisions.ts';
import { loadForAttempt } from '../../../src/db/deliveries/attempts.ts';
import { compensate } from '../../../src/db/deliveries/compensation.ts';
import { closeDelivery, exhaustRetries } from '../../../src/db/deliveries/deliveries.ts';
import { recordOperatorAction } from '../../../src/db/deliveries/operator-actions.ts';
import { type AttemptRecord, recordAttempts } from '../../../src/db/deliveries/results.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { deferClaimed } from '../../../src/db/outbox/release.ts';
import { deleteWebhook, replaceWebhook, setActive } from '../../../src/db/webhooks/change.ts';
import { findWebhook } from '../../../src/db/webhooks/webhooks.ts';
import type { ActionName } from '../../../src/domain/operator-action.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import {
  accepted,
  attemptRecord,
  beginAttempt,
  finishAttempt,
  fireDelivery,
} from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database);

const fire = () => fireDelivery(sql, shop);
async function load(id: string) {
  const delivery = await loadForAttempt(sql, id);
  if (delivery === undefined) throw new Error(`no delivery ${id}`);
  return delivery;
}
const begin = (deliveryId: string, number: number) =>
  beginAttempt(sql, { deliveryId, number, generation: 1 });
const attempts = (id: string) =>
  sql<{ number: number; outcome: string | null; status: number | null; startedAt: Date }[]>`
    select number, outcome, status, started_at from attempts where delivery_id = ${id} order by number`;
const finish = (deliveryId: string, number: number, change: Partial<AttemptRecord> = {}) =>
  finishAttempt(sql, deliveryId, number, change);
/** A delivery whose only attempt failed, with no retries left. */
async function exhausted(): Promise<string> {
  const id = await fire();
  await begin(id, 1);
  await finish(id, 1);
  return id;
}
const deactivations = () => sql`
  select generation, reason, delivery_id from deactivations where webhook_id = ${shop.webhookId} order by generation`;
const changesSignaled = async () =>
  (await sql`select 1 from changes_to_signal where webhook_id = ${shop.webhookId}`).length;
const webhook = async (id = shop.webhookId) => await findWebhook(sql, shop.eshopId, id);

test('an attempt with a result does not begin again', async () => {
  const id = await exhausted();
  const before = await attempts(id);
  expect(await begin(id, 1)).toBeUndefined();
  expect(await attempts(id)).toEqual(before);
});

test('an attempt that begins again after an interruption keeps its window', async () => {
  const id = await fire();
  const first = await begin(id, 1);
  const again = await begin(id, 1);
  expect(again?.windowStartedAt).toEqual(first?.windowStartedAt);
  expect(again?.startedAt.getTime()).toBeGreaterThanOrEqual(first?.startedAt.getTime() ?? 0);
  expect(await attempts(id)).toHaveLength(1);
});

test('the second and third attempt leave the window of a delivery where it began', async () => {
  const id = await fire();
  const begun: (Date | undefined)[] = [];
  for (const number of [1, 2, 3]) {
    begun.push((await begin(id, number))?.windowStartedAt);
    await finish(id, number, { nextAttemptAt: new Date() });
  }
  const [first] = await attempts(id);
  expect(begun).toEqual([first?.startedAt, first?.startedAt, first?.startedAt]);
  expect((await load(id)).windowStartedAt).toEqual(first?.startedAt);
});

test('an attempt begins only the window of its own delivery', async () => {
  const [id, other] = [await fire(), await fire()];
  await begin(id, 1);
  expect((await load(other)).windowStartedAt).toBeNull();
});

test('a second result changes nothing: the first one stays', async () => {
  const id = await exhausted();
  await finish(id, 1, { status: 500 });
  expect(await load(id)).toMatchObject({ state: 'retrying', lastStatus: 503 });
  expect(await attempts(id)).toMatchObject([{ outcome: 'failure', status: 503 }]);
});

test('a success replaces a recorded failure, since the receiver has accepted the delivery', async () => {
  const id = await exhausted();
  expect(await finish(id, 1, accepted)).toBe('delivered');
  expect(await load(id)).toMatchObject({ state: 'delivered', attemptsMade: 1 });
  expect(await attempts(id)).toMatchObject([{ outcome: 'success' }]);
  expect(await finish(id, 1)).toBeUndefined();
  expect(await load(id)).toMatchObject({ state: 'delivered' });
});

test('a result changes only its own attempt and delivery', async () => {
  const [id, other] = [await fire(), await fire()];
  for (const [delivery, number] of [
    [id, 1],
    [id, 2],
    [other, 2],
  ] as const) {
    await begin(delivery, number);
  }
  await finish(id, 2, accepted);
  expect(await attempts(id)).toMatchObject([{ outcome: null }, { outcome: 'success' }]);
  expect(await attempts(other)).toMatchObject([{ outcome: null }]);
  expect(await load(other)).toMatchObject({ state: 'pending', attemptsMade: 0 });
});

test('results recorded together change only their own deliveries', async () => {
  const [id, other] = [await fire(), await fire()];
  for (const delivery of [id, other]) await begin(delivery, 1);
  const records = [attemptRecord(id, accepted), attemptRecord(other)];
  await recordAttempts(sql, records);
  expect(await load(id)).toMatchObject({ state: 'delivered', lastStatus: 200 });
  expect(await load(other)).toMatchObject({
    state: 'retrying',
    lastStatus: (await attempts(other))[0]?.status,
  });
});

test('a result does not reopen a delivery that was canceled during the request', async () => {
  const id = await fire();
  await begin(id, 1);
  await closeDelivery(sql, id, 'canceled');
  await finish(id, 1);
  expect(await load(id)).toMatchObject({ state: 'canceled', attemptsMade: 0 });
});

test('a late cancellation does not undo a success', async () => {
  const id = await fire();
  await begin(id, 1);
  await finish(id, 1, accepted);
  await closeDelivery(sql, id, 'canceled');
  expect(await load(id)).toMatchObject({ state: 'delivered' });
});

test('a result recorded since then keeps its plan when earlier retries are reported as spent', async () => {
  const id = await fire();
  await begin(id, 1);
  const nextAttemptAt = new Date(Date.now() + 60_000);
  await finish(id, 1, { nextAttemptAt });
  await exhaustRetries(sql, id, 0);
  expect((await load(id)).nextAttemptAt).toEqual(nextAttemptAt);
});

test('the compensation deactivates the webhook, and has its other open deliveries signaled', async () => {
  const id = await exhausted();
  expect(await compensate(sql, id)).toMatchObject({ state: 'failed', deactivatedGeneration: 1 });
  expect(await webhook()).toMatchObject({ active: false });
  expect(await deactivations()).toEqual([{ generation: 1, reason: 'retriesExhausted', deliveryId: id }]);
  expect(await changesSignaled()).toBe(1);
});

test('the compensation cancels a delivery given up during its last attempt; its webhook stays active', async () => {
  const id = await exhausted();
  await sql`update deliveries set operator_stop = 'giveUp' where id = ${id}`;
  expect(await compensate(sql, id)).toMatchObject({
    state: 'canceled',
    deactivatedGeneration: null,
    transition: { deactivated: null },
  });
  expect(await load(id)).toMatchObject({ state: 'canceled' });
  expect(await webhook()).toMatchObject({ active: true });
  expect(await deactivations()).toEqual([]);
});

test('the compensation of a delivered delivery does nothing', async () => {
  const id = await fire();
  await begin(id, 1);
  await finish(id, 1, accepted);
  expect(await compensate(sql, id)).toMatchObject({
    state: 'delivered',
    deactivatedGeneration: null,
  });
  expect(await load(id)).toMatchObject({ state: 'delivered' });
  expect(await webhook()).toMatchObject({ active: true });
  expect(await changesSignaled()).toBe(0);
});

test('the compensation leaves a webhook active whose URL has changed since the last attempt', async () => {
  const id = await exhausted();
  const before = await webhook();
  if (before === null) throw new Error('no webhook');
  await replaceWebhook(sql, shop.eshopId, shop.webhookId, {
    ...before,
    url: 'https://shop.example/new',
  });
  expect(await compensate(sql, id)).toMatchObject({
    state: 'failed',
    deactivatedGeneration: null,
  });
  expect(await webhook()).toMatchObject({ active: true });
  expect(await deactivations()).toEqual([]);
});

test('the compensation neither deactivates nor mails again after a user’s deactivation', async () => {
  const id = await exhausted();
  await setActive(sql, shop.eshopId, shop.webhookId, false);
  const before = await webhook();
  expect(await compensate(sql, id)).toMatchObject({
    state: 'failed',
    deactivatedGeneration: null,
  });
  expect(await webhook()).toEqual(before);
  expect(await deactivations()).toEqual([{ generation: 1, reason: 'user', deliveryId: null }]);
});

test('the compensation sends no mail about a deleted webhook', async () => {
  const id = await exhausted();
  await deleteWebhook(sql, shop.eshopId, shop.webhookId);
  expect(await compensate(sql, id)).toMatchObject({
    state: 'failed',
    deactivatedGeneration: null,
  });
  expect(await deactivations()).toEqual([]);
});

test('the compensation deactivates no other webhook', async () => {
  const other = await insertWebhook(sql, shop.eshopId, 'CREATE_ORDER');
  await compensate(sql, await exhausted());
  expect(await webhook(other)).toMatchObject({ active: true });
});

test('repeated compensations of two deliveries deactivate their webhook once, for the first one', async () => {
  const [first, second] = [await exhausted(), await exhausted()];
  const deactivated = async (id: string) => (await compensate(sql, id)).deactivatedGeneration;
  expect([await deactivated(first), await deactivated(second)]).toEqual([1, null]);
  expect([await deactivated(first), await deactivated(second)]).toEqual([1, null]);
  expect(await deactivations()).toHaveLength(1);
});

/** An action by an operator named after it. */
const act = (id: string, action: ActionName, order = action as string) =>
  recordOperatorAction(sql, id, { id: order, action, by: action, reason: '' }, defaultRetryPolicy);

test('no attempt begins once an operator has stopped the delivery', async () => {
  const id = await fire();
  await act(id, 'hold');
  expect(await begin(id, 1)).toBeUndefined();
  expect(await attempts(id)).toEqual([]);
  await act(id, 'resume');
  expect(await begin(id, 1)).toBeDefined();
  await act(id, 'giveUp');
  expect(await begin(id, 1)).toBeUndefined();
});

test('a deferral keeps the plan of another process that attempted the delivery after the lease', async () => {
  const id = await fire();
  const claim = async () => {
    const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 100 });
    return deliveries.filter((delivery) => delivery.id === id);
  };
  const late = await claim();
  await sql`update deliveries set claimed_until = now() - interval '1 s' where id = ${id}`;
  const [{ claimId = '' } = {}] = await claim();
  await begin(id, 1);
  const plan = { claimId, workflow: 'unstarted', firstWaitMs: 25_000 } as const;
  await finish(id, 1, { webhookId: shop.webhookId, plan, nextAttemptAt: new Date(Date.now() + 40_000) });
  const { nextAttemptAt } = await load(id);
  await deferClaimed(sql, late);
  expect((await load(id)).nextAttemptAt).toEqual(nextAttemptAt);
  expect(nextAttemptAt).not.toBeNull();
});

test('an operator action takes effect once, even if its step is repeated; the latest fifty are kept', async () => {
  const id = await fire();
  await begin(id, 1);
  await finish(id, 1, { nextAttemptAt: new Date(Date.now() + 3_600_000) });
  const first = await act(id, 'hold', 'first');
  await act(id, 'resume', 'second');
  expect(await act(id, 'hold', 'first')).toMatchObject({ accepted: true, at: first?.at });
  expect((await load(id)).operatorStop).toBeNull();
  for (let round = 0; round < 30; round += 1) {
    await act(id, 'hold', `hold ${round}`);
    await act(id, 'resume', `resume ${round}`);
  }
  const { operatorActions } = await load(id);
  expect(operatorActions).toHaveLength(50);
  expect(operatorActions?.at(-1)).toMatchObject({ id: 'resume 29', action: 'resume' });
});

test('the time that a hold took from an attempt shortens the remaining waits', async () => {
  const id = await fire();
  await begin(id, 1);
  await finish(id, 1, { nextAttemptAt: new Date(Date.now() + 3_600_000) });
  await act(id, 'hold');
  await sql`update deliveries set next_attempt_at = now() - interval '5 hours' where id = ${id}`;
  expect(await act(id, 'resume')).toMatchObject({ message: 'Resumed: attempt 2 of 21 follows at once.' });
  const late = lostTimeMs(await load(id), new Date());
  expect(late).toBeGreaterThan(5 * 3_600_000 - 60_000);
});
