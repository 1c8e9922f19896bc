/** Recoveries over HTTP, without a worker: requested, previewed, refused and shown. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { lowWaterMark } from '../../src/db/maintenance/low-water-mark.ts';
import { countLostEvents } from '../../src/db/recoveries/lost-events.ts';
import { stepRecovery } from '../../src/db/recoveries/step.ts';
import { timeOf } from '../../src/domain/id-time.ts';
import { endDeliveries, fireEvent, type Lost, loseEvents, recoveredBy } from '../support/api/recoveries.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { insertDeliveryOf, insertEventAt } from '../support/database/event-rows.ts';
import { untilBlocked } from '../support/database/lock-waits.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';

let webhookId: number;
let lost: Lost;

const api = await apiOfFile();
const { eshop, request } = eshopOfEachTest(api);
beforeEach(async () => {
  webhookId = await newWebhook();
  lost = { sql: api.sql, eshopId: eshop.eshopId, webhookId };
});

const newWebhook = async (change: object = {}): Promise<number> => (await createWebhook(request, change)).id;

const path = (more = '', version = 'v21') => `/${version}/webhooks/${webhookId}/${more}`;
const hourAgo = () => new Date(Date.now() - 3_600_000).toISOString();
const recover = (body: object = {}) => request('POST', path('recover'), { since: hourAgo(), ...body });
const preview = async (body: object = {}) => (await recover({ dryRun: true, ...body })).data;
const read = (recoveryId: string) => request('GET', path(`recoveries/${recoveryId}`));
const control = (recoveryId: string, action: string) =>
  request('POST', path(`recoveries/${recoveryId}/${action}`));

/** Steps until no more deliveries are created. */
async function runOn(recoveryId: string): Promise<void> {
  for (;;) {
    const step = await stepRecovery(api.sql, recoveryId);
    if (step === null) return;
    const { exhausted, state, webhookInactive } = step.recovery;
    if (exhausted || state !== 'running' || webhookInactive) return;
  }
}

test('counting very many events for some e-shops keeps nobody else waiting', async () => {
  const others = [await api.newEshop(), await api.newEshop()];
  const asked: Promise<{ status: number }>[] = [];
  await api.sql.begin(async (tx) => {
    await tx`lock table events in access exclusive mode`;
    for (const { shop } of others) {
      const { id } = await createWebhook(shop.request);
      const body = { since: hourAgo(), dryRun: true };
      for (let time = 0; time < 8; time += 1)
        asked.push(shop.request('POST', `/v21/webhooks/${id}/recover`, body));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await request('GET', '/v21/webhooks')).status).toBe(200);
  });
  for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
});

test.each([true, false])(
  'counting under an Idempotency-Key holds up no cursors (dry run: %s)',
  async (dryRun) => {
    const headers = { 'Idempotency-Key': randomUUID() };
    let asked: ReturnType<typeof request> | undefined;
    await api.sql.begin(async (tx) => {
      await tx`lock table events in access exclusive mode`;
      asked = request('POST', path('recover'), { since: hourAgo(), dryRun }, headers);
      await untilBlocked(api.sql);
      const [waiting] = await tx<{ at: Date }[]>`select clock_timestamp() as at`;
      await pause(100);
      // As a reader sees it who does not wait for this older transaction.
      const mark = timeOf(await lowWaterMark(tx));
      expect(mark.getTime()).toBeGreaterThan((waiting?.at.getTime() ?? 0) - 1_000);
    });
    expect((await asked)?.status).toBe(200);
  },
);

describe('the search for losses', () => {
  test('failed, expired and missed events are found by default', async () => {
    for (const state of ['failed', 'expired', 'canceled', 'missed', 'delivered', 'pending'] as const) {
      await loseEvents(lost, state, [state]);
    }
    const include = ['failed', 'expired', 'missed'];
    expect(await preview()).toMatchObject({ recoveryId: null, count: 3, include });
    for (const state of ['failed', 'expired', 'canceled', 'missed'] as const) {
      expect(await preview({ include: [state] }), state).toMatchObject({ count: 1 });
    }
    expect(await preview({ include: ['missed', 'failed', 'canceled'] })).toMatchObject({ count: 3 });
  });

  test('events from before the webhook existed or while it was inactive are missed; other types are not', async () => {
    await fireEvent(lost, 'of another type', 'UPDATE_ORDER');
    await request('PUT', path('deactivate'));
    await fireEvent(lost, 'while inactive');
    await request('PUT', path('activate'));
    expect(await preview({ include: ['missed'] })).toMatchObject({ count: 1 });
    webhookId = await newWebhook();
    expect(await preview({ include: ['missed'] })).toMatchObject({ count: 1 });
    webhookId = await newWebhook({ webhookType: 'UPDATE_ORDER' });
    expect(await preview({ include: ['missed'] })).toMatchObject({ count: 1 });
    webhookId = await newWebhook({ webhookType: 'CREATE_RETURN' });
    expect(await preview({ include: ['missed'] })).toMatchObject({ count: 0, first: null, last: null });
  });

  test('an event without a kept delivery was not missed, unless the webhook was changed near it', async () => {
    const eventId = await fireEvent(lost, 'no longer kept');
    await api.sql`delete from deliveries where event_id = ${eventId}`;
    expect(await preview({ include: ['missed'] })).toMatchObject({ count: 1 });
    await api.sql`update webhook_versions set at = at - interval '1 minute' where webhook_id = ${webhookId}`;
    expect(await preview({ include: ['missed'] })).toMatchObject({ count: 0 });
  });

  test('the period begins at the deactivation, and reaches back before the webhook only on request', async () => {
    const before = new Date(Date.now() - 60_000).toISOString();
    await fireEvent(lost, 'before it existed');
    webhookId = await newWebhook();
    const include = ['failed', 'expired', 'missed'];
    expect(await preview({ since: before })).toMatchObject({ count: 0, include });
    expect(await preview({ since: before, include: ['missed'] })).toMatchObject({ count: 1 });
    const { registeredAt, lastDeactivation } = (await request('PUT', path('deactivate'))).data;
    await fireEvent(lost, 'while inactive');
    expect(await preview({ since: undefined })).toMatchObject({
      count: 1,
      since: lastDeactivation.at,
      include,
    });
    expect(await preview({ since: before })).toMatchObject({ count: 1, since: registeredAt, include });
    expect(await preview({ since: before, include })).toMatchObject({ count: 2, since: before });
    const missed = { since: lastDeactivation.at, count: 1 };
    expect((await request('PUT', path('activate'))).data).toMatchObject({ active: true, missed });
    await fireEvent(lost, 'while active');
    // Activated again it says the same; other responses do not.
    expect((await request('PUT', path('activate'))).data).toMatchObject({ missed });
    expect((await request('GET', `/v21/webhooks/${webhookId}`)).data).not.toHaveProperty('missed');
    expect((await recover({ since: undefined })).data).toMatchObject({
      count: 1,
      since: lastDeactivation.at,
    });
    webhookId = await newWebhook({ active: false });
    await fireEvent(lost, 'before its first activation');
    const { data } = await request('PUT', path('activate'));
    expect(data.missed).toEqual({ since: data.registeredAt, count: 1 });
    expect(await preview()).toMatchObject({ count: 1, since: data.registeredAt });
    expect((await request('PUT', `/v21/webhooks/${webhookId}`, data)).status).toBe(200);
  });

  test('`since` is inclusive and `until` exclusive, by the time of the event', async () => {
    const times = ['2026-11-20T10:00:00.000Z', '2026-11-20T11:00:00.000Z', '2026-11-20T12:00:00.000Z'];
    for (const time of times) {
      const id = await insertEventAt(api.sql, new Date(time), { eshopId: eshop.eshopId });
      // Its transaction began a while before, and waited for a lock.
      await api.sql`update events set created_at = created_at - interval '1 second' where id = ${id}`;
      await insertDeliveryOf(api.sql, id, { webhookId, state: 'failed' });
    }
    const [first, second, third] = times;
    const found = async (since: string | undefined, until?: string) =>
      await preview({ since, include: ['failed'], ...(until === undefined ? {} : { until }) });
    expect(await found(first)).toMatchObject({ count: 3, first, last: third });
    expect(await found(second)).toMatchObject({ count: 2, first: second });
    expect(await found('2026-11-20T10:00:00.001Z', third)).toMatchObject({ count: 1, last: second });
    expect(await found('2026-11-20T13:00:00+02:00', '2026-11-20T13:00:00+01:00')).toMatchObject({
      count: 1,
      first: second,
    });
  });

  test('events that were delivered again, or are being delivered, are not found', async () => {
    const [, again = '', open = '', twice = ''] = await loseEvents(lost, 'failed', ['1', '2', '3', '4']);
    const [accepted = ''] = await loseEvents(lost, 'delivered', ['5']);
    for (const [id, state] of [
      // Redelivered after it had been accepted.
      [accepted, 'failed'],
      [again, 'delivered'],
      [open, 'retrying'],
      [twice, 'canceled'],
    ] as const) {
      await insertDeliveryOf(api.sql, id, { webhookId, state, again: new Date() });
    }
    expect(await preview()).toMatchObject({ count: 1 });
    expect(await preview({ include: ['canceled'] })).toMatchObject({ count: 1 });
  });

  test('events are counted in batches, however many there are', async () => {
    await loseEvents(lost, 'failed', ['1', '2', '3', '4', '5']);
    await loseEvents(lost, 'delivered', ['6']);
    await loseEvents(lost, 'missed', ['7', '8']);
    const search = {
      ...lost,
      since: new Date(hourAgo()),
      until: new Date(Date.now() + 60_000),
      include: ['failed', 'missed'],
    } as const;
    const whole = await countLostEvents(api.sql, search);
    expect(whole.count).toBe(7);
    for (const atOnce of [1, 3, 8]) expect(await countLostEvents(api.sql, search, { atOnce })).toEqual(whole);
    expect(await countLostEvents(api.sql, search, { atOnce: 2, enough: 3 })).toMatchObject({ count: 4 });
  });

  test('events lost by another webhook are not found', async () => {
    await loseEvents(lost, 'failed', ['1', '2']);
    webhookId = await newWebhook();
    expect(await preview()).toMatchObject({ count: 0, estimatedDurationMs: 0 });
  });

  test('a dry run changes nothing, and works for an inactive webhook', async () => {
    await loseEvents(lost, 'failed', ['1']);
    await request('PUT', path('deactivate'));
    const answer = await recover({ dryRun: true });
    expect(answer.body.message).toBe('Nothing was recovered: a dry run.');
    expect(answer.data).toMatchObject({ recoveryId: null, count: 1 });
    expect(await api.sql`select from recoveries where webhook_id = ${webhookId}`).toHaveLength(0);
  });

  test('the duration is estimated from measurements of the receiver', async () => {
    const ids = await loseEvents(lost, 'delivered', ['1', '2']);
    await loseEvents(lost, 'failed', ['3', '4', '5']);
    await api.sql`update deliveries set attempts_made = 1 where event_id = any(${ids}::uuid[])`;
    await api.sql`
      insert into attempts (delivery_id, number, generation, started_at, outcome, duration_ms)
      select id, 1, 1, now(), 'success', 10_000 from deliveries where event_id = any(${ids}::uuid[])`;
    // Ten at once, ten seconds each: one per second, plus two seconds.
    expect((await preview()).estimatedDurationMs).toBe(5_000);
    await api.sql`
      insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, state, rate)
      values (${randomUUID()}, ${eshop.eshopId}, ${webhookId}, now(), now(), '{failed}', 1, 'completed', 0.5)`;
    expect((await preview()).estimatedDurationMs).toBe(8_000);
  });
});

test('a recovery creates a new delivery of each event, and reports its progress', async () => {
  const events = await loseEvents(lost, 'failed', ['1', '2', '3', '4']);
  const before = api.notified();
  const asked = await recover();
  expect(asked.status).toBe(200);
  expect(asked.body.message).toBe('Recovery started.');
  const { recoveryId, count } = asked.data;
  expect(count).toBe(4);
  expect(api.notified()).toBe(before + 1);
  expect((await read(recoveryId)).data).toMatchObject({
    state: 'running',
    done: 0,
    failed: 0,
    left: 4,
    estimatedEndAt: expect.any(String),
    finishedAt: null,
  });
  await runOn(recoveryId);
  const created = await recoveredBy(api.sql, recoveryId);
  expect(created.map(({ eventId }) => eventId).sort()).toEqual([...events].sort());
  for (const [index, state] of (['delivered', 'delivered', 'failed'] as const).entries()) {
    await api.sql`update deliveries set state = ${state} where id = ${created[index]?.id ?? ''}`;
  }
  expect((await read(recoveryId)).data).toMatchObject({ state: 'running', done: 2, failed: 1, left: 1 });
  await api.sql`update deliveries set state = 'delivered' where id = ${created[3]?.id ?? ''}`;
  await stepRecovery(api.sql, recoveryId);
  expect((await read(recoveryId)).body).toEqual({
    statusCode: 200,
    message: 'Recovery found.',
    data: {
      recoveryId,
      webhookId,
      since: asked.data.since,
      until: asked.data.until,
      include: ['failed', 'expired', 'missed'],
      count: 4,
      first: asked.data.first,
      last: asked.data.last,
      state: 'completed',
      reason: null,
      done: 3,
      failed: 1,
      superseded: 0,
      left: 0,
      createdAt: expect.any(String),
      estimatedEndAt: null,
      finishedAt: expect.any(String),
    },
  });
});

test('a repeated request returns the recovery under way; a later one finds only new failures', async () => {
  await loseEvents(lost, 'failed', ['1', '2']);
  const body = { since: hourAgo(), include: ['failed', 'expired'] };
  const first = await recover(body);
  const again = await recover({ ...body, include: ['expired', 'failed', 'failed'] });
  expect(again.body).toMatchObject({
    message: 'This recovery is under way.',
    data: { ...first.data, estimatedDurationMs: expect.any(Number) },
  });
  const { recoveryId } = first.data;
  await runOn(recoveryId);
  expect((await recover(body)).data.recoveryId).toBe(recoveryId);
  const [one, other] = await recoveredBy(api.sql, recoveryId);
  await api.sql`update deliveries set state = 'delivered' where id = ${one?.id ?? ''}`;
  await api.sql`update deliveries set state = 'failed' where id = ${other?.id ?? ''}`;
  await stepRecovery(api.sql, recoveryId);
  const later = (await recover(body)).data;
  expect(later).toMatchObject({ count: 1 });
  expect(later.recoveryId).not.toBe(recoveryId);
});

test('simultaneous requests start one recovery', async () => {
  await loseEvents(lost, 'failed', ['1', '2', '3']);
  const since = hourAgo();
  const answers = await Promise.all(Array.from({ length: 8 }, () => recover({ since })));
  expect(new Set(answers.map(({ data }) => data.recoveryId)).size).toBe(1);
  const { recoveryId } = answers[0]?.data ?? {};
  await Promise.all(Array.from({ length: 8 }, () => stepRecovery(api.sql, recoveryId)));
  expect(await recoveredBy(api.sql, recoveryId)).toHaveLength(3);
});

test('a recovery blocks another one only while it looks for events', async () => {
  await loseEvents(lost, 'failed', ['1']);
  const { recoveryId } = (await recover()).data;
  const other = await recover({ include: ['canceled'] });
  expect(other.status).toBe(409);
  expect(other.body.message).toContain(recoveryId);
  await runOn(recoveryId);
  expect((await recover({ include: ['canceled'] })).status).toBe(200);
});

test('recoveries are listed by webhook, newest first', async () => {
  await loseEvents(lost, 'failed', ['1']);
  const first = (await recover()).data.recoveryId;
  await runOn(first);
  const second = (await recover({ include: ['canceled'] })).data.recoveryId;
  const ids = async (query = '') => {
    const { data, body } = await request('GET', path(`recoveries${query}`));
    return [data.map((record: { recoveryId: string }) => record.recoveryId), body.pagination];
  };
  expect(await ids()).toEqual([[second, first], { page: 1, items: 30, totalCount: 2, totalPages: 1 }]);
  expect(await ids('?page=2&items=1')).toEqual([
    [first],
    { page: 2, items: 1, totalCount: 2, totalPages: 2 },
  ]);
  webhookId = await newWebhook();
  expect((await ids())[0]).toEqual([]);
});

test('a recovery skips events that were delivered in the meantime', async () => {
  const [, second = ''] = await loseEvents(lost, 'failed', ['1', '2']);
  const { recoveryId } = (await recover()).data;
  await endDeliveries(lost, 'delivered', [second]);
  await runOn(recoveryId);
  expect((await recoveredBy(api.sql, recoveryId)).map(({ entityId }) => entityId)).toEqual(['1']);
  expect((await read(recoveryId)).data).toMatchObject({ count: 2, left: 1 });
});

test('a recovery and a redelivery do not repeat each other', async () => {
  const [first = '', second = ''] = await loseEvents(lost, 'failed', ['1', '2']);
  const deliveryOf = async (eventId: string) => {
    const [row] = await api.sql<{ id: string }[]>`
        select id from deliveries where event_id = ${eventId} and recovery_id is null order by id limit 1`;
    return row?.id ?? '';
  };
  const redeliver = async (eventId: string) =>
    await request('POST', `/v21/deliveries/${await deliveryOf(eventId)}/redeliver`);
  const { recoveryId } = (await recover()).data;
  expect((await redeliver(first)).status).toBe(200);
  await runOn(recoveryId);
  const created = await recoveredBy(api.sql, recoveryId);
  expect(created.map(({ eventId }) => eventId)).toEqual([second]);
  const refused = await redeliver(second);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(created[0]?.id);
});

test('a recovery keeps a bounded number of deliveries waiting, and goes on as they are accepted', async () => {
  const entityIds = Array.from({ length: 130 }, (_, index) => `order ${index}`);
  const events = await loseEvents(lost, 'failed', entityIds);
  const { recoveryId } = (await recover()).data;
  for (let step = 0; step < 3; step += 1) await stepRecovery(api.sql, recoveryId);
  expect(await recoveredBy(api.sql, recoveryId)).toHaveLength(20);
  const take = () =>
    api.sql`update deliveries set state = 'delivered' where recovery_id = ${recoveryId} and state = 'pending'`;
  const sizes: number[] = [];
  for (let step = 0; step < 4; step += 1) {
    await take();
    await stepRecovery(api.sql, recoveryId);
    sizes.push((await recoveredBy(api.sql, recoveryId)).length);
  }
  expect(sizes).toEqual([60, 130, 130, 130]);
  const created = await recoveredBy(api.sql, recoveryId);
  expect(created.map(({ eventId }) => eventId)).toEqual([...events].sort());
  await until('the end', async () => {
    await stepRecovery(api.sql, recoveryId);
    return (await read(recoveryId)).data.state === 'completed';
  });
  expect((await read(recoveryId)).data).toMatchObject({ done: 130, left: 0 });
});

test('a recovery merely probes a receiver that accepts nothing', async () => {
  await loseEvents(
    lost,
    'failed',
    Array.from({ length: 60 }, (_, index) => `order ${index}`),
  );
  const { recoveryId } = (await recover()).data;
  const sizes: number[] = [];
  for (let step = 0; step < 4; step += 1) {
    await stepRecovery(api.sql, recoveryId);
    await api.sql`update deliveries set state = 'retrying' where recovery_id = ${recoveryId}`;
    sizes.push((await recoveredBy(api.sql, recoveryId)).length);
  }
  expect(sizes).toEqual([20, 21, 22, 23]);
});

describe('control', () => {
  test('a recovery can be paused, resumed and canceled; repeated requests change nothing', async () => {
    await loseEvents(lost, 'failed', ['1', '2']);
    const { recoveryId } = (await recover()).data;
    for (const message of ['Recovery paused.', 'Recovery paused.']) {
      const paused = await control(recoveryId, 'pause');
      expect(paused.body.message).toBe(message);
      expect(paused.data).toMatchObject({ state: 'paused', reason: 'Paused on request.', left: 2 });
      expect(paused.data.estimatedEndAt).toBeNull();
    }
    await runOn(recoveryId);
    expect(await recoveredBy(api.sql, recoveryId)).toHaveLength(0);
    for (let times = 0; times < 2; times += 1) {
      expect((await control(recoveryId, 'resume')).data).toMatchObject({ state: 'running', reason: null });
    }
    await control(recoveryId, 'pause');
    for (let times = 0; times < 2; times += 1) {
      expect((await control(recoveryId, 'cancel')).data).toMatchObject({
        state: 'canceled',
        reason: 'Canceled on request.',
        left: 0,
        finishedAt: expect.any(String),
      });
    }
    await runOn(recoveryId);
    expect(await recoveredBy(api.sql, recoveryId)).toHaveLength(0);
    for (const action of ['pause', 'resume']) {
      const refused = await control(recoveryId, action);
      expect(refused.status).toBe(409);
      expect(refused.body.message).toBe(`Recovery ${recoveryId} is canceled: there is nothing to ${action}.`);
    }
  });

  test('a completed recovery cannot be canceled', async () => {
    const { recoveryId, count } = (await recover()).data;
    expect(count).toBe(0);
    await runOn(recoveryId);
    await stepRecovery(api.sql, recoveryId);
    expect((await read(recoveryId)).data).toMatchObject({ state: 'completed' });
    expect((await control(recoveryId, 'cancel')).status).toBe(409);
  });

  test('an inactive webhook starts no recovery, and one under way waits for its activation', async () => {
    await loseEvents(lost, 'failed', ['1']);
    const { recoveryId } = (await recover()).data;
    await request('PUT', path('deactivate'));
    const refused = await recover();
    expect(refused.status).toBe(400);
    expect(refused.body.message).toBe(`Webhook ${webhookId} is inactive. Activate it first.`);
    await runOn(recoveryId);
    expect(await recoveredBy(api.sql, recoveryId)).toHaveLength(0);
    expect((await read(recoveryId)).data).toMatchObject({
      state: 'paused',
      reason: 'The webhook is inactive: the recovery continues when it is activated.',
    });
    expect((await control(recoveryId, 'resume')).status).toBe(400);
    await request('PUT', path('activate'));
    await runOn(recoveryId);
    expect(await recoveredBy(api.sql, recoveryId)).toHaveLength(1);
    await control(recoveryId, 'cancel');
    await request('PUT', path('deactivate'));
    expect((await control(recoveryId, 'resume')).status).toBe(409);
  });

  test('every change to a recovery raises its version, for the relay to pass on', async () => {
    await loseEvents(lost, 'failed', ['1']);
    const { recoveryId } = (await recover()).data;
    const version = async () => {
      const [row] = await api.sql<
        { version: number }[]
      >`select version from recoveries where id = ${recoveryId}`;
      return row?.version;
    };
    expect(await version()).toBe(1);
    await control(recoveryId, 'pause');
    await control(recoveryId, 'pause');
    expect(await version()).toBe(2);
    await request('PUT', path('deactivate'));
    await request('PUT', path('activate'));
    expect(await version()).toBe(4);
    await request('DELETE', path('').slice(0, -1));
    expect(await version()).toBe(5);
  });

  test('a deletion of the webhook cancels the recovery, which is then a 404', async () => {
    await loseEvents(lost, 'failed', ['1']);
    const { recoveryId } = (await recover()).data;
    await request('DELETE', path('').slice(0, -1));
    await stepRecovery(api.sql, recoveryId);
    const [row] = await api.sql`select state, by, finished_at from recoveries where id = ${recoveryId}`;
    expect(row).toMatchObject({ state: 'canceled', by: 'deletion', finishedAt: expect.any(Date) });
    expect((await read(recoveryId)).status).toBe(404);
    expect((await recover()).status).toBe(404);
  });
});

describe('refusals', () => {
  test.each([
    [{ since: undefined }, 'since: is required: the webhook has never been deactivated'],
    [{ since: 'yesterday' }, 'since: must be an ISO 8601 date-time with an offset'],
    [{ since: '2999-01-01T00:00:00Z' }, 'since: must not be in the future'],
    [{ until: '2020-01-01T00:00:00Z' }, 'until: must be later than since'],
    [
      { since: '2019-01-01T00:00:00Z', until: '2020-01-01T00:00:00Z' },
      'until: must be later than the creation of the webhook: earlier events are recovered only with include',
    ],
    [{ include: [] }, 'include: must name at least one'],
    [{ include: ['pending'] }, 'include.0: must be one of failed, expired, canceled, missed'],
    [{ dryRun: 'yes' }, 'dryRun: must be true or false'],
    [{ from: 1 }, 'from: unknown field'],
  ])('%o is refused', async (body, message) => {
    const answer = await recover(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  });

  test('foreign and unknown webhooks and recoveries are a 404', async () => {
    await loseEvents(lost, 'failed', ['1']);
    const { recoveryId } = (await recover()).data;
    const stranger = (await api.newEshop()).shop.request;
    const other = await newWebhook();
    expect((await stranger('GET', path('recoveries'))).status).toBe(404);
    for (const [who, where] of [
      [stranger, path(`recoveries/${recoveryId}`)],
      [request, `/v21/webhooks/${other}/recoveries/${recoveryId}`],
      [request, path(`recoveries/${randomUUID()}`)],
    ] as const) {
      expect((await who('GET', where)).status).toBe(404);
      for (const action of ['pause', 'resume', 'cancel']) {
        expect((await who('POST', `${where}/${action}`)).status).toBe(404);
      }
    }
    expect((await stranger('POST', path('recover'), { since: hourAgo() })).status).toBe(404);
    expect((await request('GET', path('recoveries/7'))).status).toBe(400);
    expect((await read(recoveryId)).data).toMatchObject({ state: 'running' });
  });
});

test('recoveries do not exist under /v2', async () => {
  const asked = await request('POST', path('recover', 'v2'), { since: hourAgo() });
  expect(asked.status).toBe(404);
});
