/** The pause of a webhook (docs/interface.md, W23): its bounds, and what is shown of it. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { recordOperatorAction } from '../../src/db/deliveries/operator-actions.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { createWebhook, takeSignaledWebhooks, webhookRow } from '../support/api/webhooks.ts';
import { beginAttempt, exhaustDelivery, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { eshop, request } = eshopOfEachTest(api);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const create = () => createWebhook(request);
const pause = (id: number, body?: object) => request('PUT', `/v21/webhooks/${id}/pause`, body);
const resume = (id: number) => request('PUT', `/v21/webhooks/${id}/resume`);

test('a pause can be moved and ended, and keeps its beginning; a repeated resume changes nothing', async () => {
  const made = await create();
  expect(made.pausedUntil).toBeNull();
  const until = inMs(2 * HOUR);
  const paused = await pause(made.id, { until });
  expect(paused).toMatchObject({ status: 200, data: { id: made.id, active: true, pausedUntil: until } });
  const begun = (await webhookRow(api.sql, made.id))?.pausedAt;
  const later = inMs(3 * HOUR);
  expect((await pause(made.id, { until: later })).data.pausedUntil).toBe(later);
  expect(await webhookRow(api.sql, made.id)).toMatchObject({ pausedAt: begun, generation: 1 });
  expect((await request('GET', `/v21/webhooks/${made.id}`)).data.pausedUntil).toBe(later);

  const resumed = await resume(made.id);
  expect(resumed).toMatchObject({ status: 200, data: { pausedUntil: null, active: true } });
  const signaled = await takeSignaledWebhooks(api.sql, eshop.eshopId);
  expect(signaled).toEqual([made.id]);
  expect(await resume(made.id)).toMatchObject({ status: 200, data: resumed.data });
  expect(await takeSignaledWebhooks(api.sql, eshop.eshopId)).toEqual([]);
});

test('an earlier end is signaled to the open deliveries; a later end is not', async () => {
  const { id } = await create();
  await pause(id);
  expect(await takeSignaledWebhooks(api.sql, eshop.eshopId)).toEqual([]);
  await pause(id, { until: inMs(HOUR) });
  expect(await takeSignaledWebhooks(api.sql, eshop.eshopId)).toEqual([id]);
  await pause(id, { until: inMs(2 * HOUR) });
  expect(await takeSignaledWebhooks(api.sql, eshop.eshopId)).toEqual([]);
});

test('a pause can be moved and ended after the clock was set back, and earlier pauses stay known', async () => {
  const { id } = await create();
  const [first, second] = [
    [inMs(-3 * HOUR), inMs(-2 * HOUR)],
    [inMs(HOUR), inMs(4 * HOUR)],
  ];
  const set = () =>
    api.sql`
      update webhooks set pauses = array[${`[${first.join()})`}, ${`[${second.join()})`}]::tstzrange[] where id = ${id}`;
  const pauses = async () => {
    const rows = await api.sql<{ begun: Date; ended: Date }[]>`
      select lower(pause) as begun, upper(pause) as ended from webhooks w cross join unnest(w.pauses) pause where id = ${id}`;
    return rows.map(({ begun, ended }) => [begun?.toISOString(), ended?.toISOString()]);
  };
  await set();
  const sooner = inMs(HOUR / 2);
  expect(await pause(id, { until: sooner })).toMatchObject({ status: 200, data: { pausedUntil: sooner } });
  expect(await pauses()).toEqual([first, [expect.any(String), sooner]]);
  await set();
  expect(await resume(id)).toMatchObject({ status: 200, data: { pausedUntil: null } });
  expect(await pauses()).toEqual([first]);
});

test('a pause lasts seven days by default, and a PUT does not change it', async () => {
  const { id } = await create();
  for (const body of [undefined, {}, { until: null }]) {
    const { data } = await pause(id, body);
    const ahead = Date.parse(data.pausedUntil) - Date.now();
    expect(ahead).toBeGreaterThan(7 * DAY - HOUR);
    expect(ahead).toBeLessThanOrEqual(7 * DAY);
  }
  const { data: record } = await request('GET', `/v21/webhooks/${id}`);
  const replaced = await request('PUT', `/v21/webhooks/${id}`, { ...record, pausedUntil: null });
  expect(replaced).toMatchObject({ status: 200, data: { pausedUntil: record.pausedUntil } });
});

test.each([
  ['in the past', inMs(-1_000)],
  ['more than seven days ahead', inMs(7 * DAY + HOUR)],
  ['that is not a time', 'tomorrow'],
])('an end %s is refused, and nothing changes', async (_, until) => {
  const { id } = await create();
  const { status, body } = await pause(id, { until });
  expect({ status, message: body.message }).toEqual({
    status: 400,
    message: expect.stringContaining('until'),
  });
  expect((await request('GET', `/v21/webhooks/${id}`)).data.pausedUntil).toBeNull();
});

test('pausing an inactive webhook is a 409, an unknown one a 404; a deactivation ends the pause', async () => {
  const { id } = await create();
  await pause(id);
  const { data } = await request('PUT', `/v21/webhooks/${id}/deactivate`);
  expect(data).toMatchObject({ active: false, pausedUntil: null });
  expect((await pause(id)).status).toBe(409);
  expect((await resume(id)).status).toBe(409);
  expect((await request('PUT', `/v21/webhooks/${id}/activate`)).data.pausedUntil).toBeNull();
  expect((await pause(999_999_999)).status).toBe(404);
});

test('the deletion of a webhook ends its pause', async () => {
  const { id } = await create();
  await pause(id);
  expect((await request('DELETE', `/v21/webhooks/${id}`)).status).toBe(200);
  const [row] =
    await api.sql`select paused_until <= clock_timestamp() as ended from webhooks where id = ${id}`;
  expect(row).toEqual({ ended: true });
});

test('exhausted retries end the pause with the deactivation', async () => {
  const { id } = await create();
  const deliveryId = await fireDelivery(api.sql, { eshopId: eshop.eshopId, webhookId: id });
  await exhaustDelivery(api.sql, deliveryId);
  expect((await request('GET', `/v21/webhooks/${id}`)).data).toMatchObject({
    active: false,
    pausedUntil: null,
  });
});

test('deliveries of a paused webhook are held, none can be tried now, and a redelivery waits', async () => {
  const { id } = await create();
  const ended = await fireDelivery(api.sql, { eshopId: eshop.eshopId, webhookId: id });
  await makeAttempt(api.sql, ended, 1, { outcome: 'success', status: 200, error: null });
  const retried = await fireDelivery(api.sql, { eshopId: eshop.eshopId, webhookId: id });
  await makeAttempt(api.sql, retried, 1, { nextAttemptAt: new Date(Date.now() + HOUR) });
  const until = inMs(2 * HOUR);
  await pause(id, { until });
  const since = (await webhookRow(api.sql, id))?.pausedAt;
  const fresh = await fireDelivery(api.sql, { eshopId: eshop.eshopId, webhookId: id });

  const waitsFor = { reason: 'pause', deliveryId: null, nextAttemptAt: until };
  const of = async (delivery: string) => (await request('GET', `/v21/deliveries/${delivery}`)).data;
  expect(await of(retried)).toMatchObject({
    state: 'held',
    nextAttemptAt: null,
    heldBy: null,
    waitsFor: { ...waitsFor, since: since?.toISOString() },
  });
  expect(await of(fresh)).toMatchObject({ state: 'held', waitsFor });
  expect(await of(ended)).toMatchObject({ state: 'delivered', waitsFor: null });

  for (const delivery of [retried, fresh]) {
    const message = `Webhook ${id} is paused until ${until}. Resume it, and an attempt follows.`;
    const asked = { id: randomUUID(), action: 'tryNow', by: 'anna', reason: '' } as const;
    expect(await recordOperatorAction(api.sql, delivery, asked, defaultRetryPolicy)).toMatchObject({
      accepted: false,
      message,
    });
  }
  const again = await request('POST', `/v21/deliveries/${ended}/redeliver`);
  expect(again.status).toBe(200);
  expect(await of(again.data.id ?? again.data.deliveryId)).toMatchObject({ state: 'held', waitsFor });

  const listed = async (state: string) =>
    (await request('GET', `/v21/deliveries?state=${state}`)).data.map((row: { id: string }) => row.id);
  expect(await listed('held')).toEqual(expect.arrayContaining([retried, fresh]));
  expect(await listed('pending')).toEqual([]);
  expect(await listed('retrying')).toEqual([]);
  await resume(id);
  expect(await listed('held')).toEqual([]);
  expect(await of(retried)).toMatchObject({ state: 'retrying', waitsFor: null });
  expect(await of(fresh)).toMatchObject({ state: 'pending', waitsFor: null });
});

test('deliveries of a paused webhook are neither claimed nor attempted until the pause ends by itself', async () => {
  const { id } = await create();
  const other = await create();
  const mine = await fireDelivery(api.sql, { eshopId: eshop.eshopId, webhookId: id });
  const begin = () => beginAttempt(api.sql, { deliveryId: mine, number: 1, generation: 1 });
  const claimed = async () =>
    (await claimDeliveries(api.sql, { class: CLASS.fresh, limit: 100 })).deliveries
      .filter(({ eshopId }) => eshopId === eshop.eshopId)
      .map(({ webhookId }) => webhookId);
  await pause(id);
  await api.sql`update deliveries set claimed_until = null, claim_id = null where eshop_id = ${eshop.eshopId}`;
  expect(await claimed()).toEqual([other.id]);
  expect(await begin()).toBeUndefined();
  // Its end passes.
  await api.sql`
    update webhooks set pauses = array[tstzrange(now() - interval '2 hours', clock_timestamp())] where id = ${id}`;
  expect((await request('GET', `/v21/webhooks/${id}`)).data.pausedUntil).toBeNull();
  expect(await claimed()).toEqual([id]);
  expect(await begin()).toBeDefined();
});
