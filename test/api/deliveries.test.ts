/**
 * The delivery log over HTTP, its rows written as by the relay and the activities.
 */
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, expect, test } from 'vitest';
import { recordOperatorAction } from '../../src/db/deliveries/operator-actions.ts';
import type { ActionName } from '../../src/domain/operator-action.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import type { TestEshop } from '../support/api/api.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { accepted, beginAttempt, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { insertDeliveryOf, insertEventAt } from '../support/database/event-rows.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

let webhookId: number;

const api = await apiOfFile();
const { eshop, request } = eshopOfEachTest(api);
beforeEach(async () => {
  webhookId = await newWebhook(eshop);
});

const newWebhook = async ({ shop }: TestEshop): Promise<number> => (await createWebhook(shop.request)).id;

interface Fields {
  readonly entityId?: string;
  readonly createdAt?: string;
}

/** A delivery without an attempt. */
async function newDelivery(fields: Fields = {}): Promise<string> {
  const { entityId = '10001', createdAt } = fields;
  const { eshopId } = eshop;
  if (createdAt !== undefined) {
    const eventId = await insertEventAt(api.sql, new Date(createdAt), { eshopId, entityId });
    return await insertDeliveryOf(api.sql, eventId, { webhookId });
  }
  const id = await fireDelivery(api.sql, { eshopId, webhookId, entityId });
  await api.sql`update deliveries set created_at = '2026-11-20T10:00:00Z' where id = ${id}`;
  return id;
}

async function ids(query: string): Promise<string[]> {
  const answer = await request('GET', `/v21/webhooks/${webhookId}/deliveries${query}`);
  expect(answer.body).toMatchObject({ statusCode: 200, message: 'Deliveries found.' });
  return answer.data.map(({ id }: { id: string }) => id);
}

test('deliveries are listed newest first, paged', async () => {
  const made: string[] = [];
  for (let i = 0; i < 5; i++) made.unshift(await newDelivery());
  expect(await ids('')).toEqual(made);
  const page = await request('GET', `/v21/webhooks/${webhookId}/deliveries?items=2&page=3`);
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual(made.slice(4));
  expect(page.body.pagination).toEqual({ page: 3, items: 2, totalCount: 5, totalPages: 3 });
});

test('lastStatus filters by the last attempt, or by any attempt', async () => {
  const never = await newDelivery();
  const made: string[] = [];
  for (let count = 0; count < 5; count += 1) made.push(await newDelivery());
  const [refused = '', unreachable = '', accepted201 = '', recovered = '', notFound = ''] = made;
  const nextAttemptAt = new Date('2026-11-20T11:00:00Z');
  await makeAttempt(api.sql, refused, 1, { status: 403, nextAttemptAt });
  await makeAttempt(api.sql, unreachable, 1, { status: 403, nextAttemptAt });
  await makeAttempt(api.sql, unreachable, 2, { status: null, error: 'no answer', nextAttemptAt });
  await makeAttempt(api.sql, accepted201, 1, { ...accepted, status: 201 });
  await makeAttempt(api.sql, recovered, 1, { status: 503, nextAttemptAt });
  await makeAttempt(api.sql, recovered, 2, accepted);
  await makeAttempt(api.sql, notFound, 1, { status: 404 });
  // Under way: it has no status yet, and none is not its result.
  await beginAttempt(api.sql, { deliveryId: never, number: 1, generation: 1 });

  for (const [filter, expected] of [
    ['lastStatus=403', [refused]],
    ['lastStatus=403&attempts=last', [refused]],
    ['lastStatus=403&attempts=any', [refused, unreachable]],
    ['lastStatus=4xx', [refused, notFound]],
    ['lastStatus=4xx&attempts=any', [refused, unreachable, notFound]],
    ['lastStatus=5xx', []],
    ['lastStatus=5xx&attempts=any', [recovered]],
    ['lastStatus=none', [unreachable]],
    ['lastStatus=none&attempts=any', [unreachable]],
    ['lastStatus=2xx', [accepted201, recovered]],
    ['lastStatus=2xx&attempts=any', [accepted201, recovered]],
    ['lastStatus=201', [accepted201]],
    ['lastStatus=3xx', []],
    ['lastStatus=4xx&state=retrying&entityId=10001', [refused, notFound]],
  ] as const) {
    const newestFirst = [...expected].sort().reverse();
    expect(await ids(`?${filter}`), filter).toEqual(newestFirst);
    const all = await request('GET', `/v21/deliveries?${filter}`);
    expect(
      all.data.map(({ id }: { id: string }) => id),
      filter,
    ).toEqual(newestFirst);
    expect(all.body.pagination, filter).toMatchObject({ totalCount: expected.length });
  }
  for (const path of [`/v21/webhooks/${webhookId}/deliveries`, '/v21/deliveries'])
    for (const wrong of [
      'lastStatus=1xx',
      'lastStatus=40',
      'lastStatus=',
      'lastStatus=403&attempts=all',
      'attempts=any',
    ])
      expect((await request('GET', `${path}?${wrong}`)).status, wrong).toBe(400);
});

test('a delivery without an attempt is shown with empty results', async () => {
  const id = await newDelivery();
  const record = {
    id,
    webhookId,
    eventId: expect.any(String),
    webhookType: 'CREATE_ORDER',
    entityId: '10001',
    sequence: 1,
    origin: 'service',
    changed: null,
    state: 'pending',
    attemptsMade: 0,
    createdAt: '2026-11-20T10:00:00.000Z',
    lastAttemptAt: null,
    lastStatus: null,
    lastError: null,
    nextAttemptAt: null,
    finishedAt: null,
    canceledBy: null,
    supersededBy: null,
    waitsFor: null,
    heldBy: null,
  };
  expect((await request('GET', `/v21/webhooks/${webhookId}/deliveries`)).data).toEqual([record]);
  expect((await request('GET', `/v21/deliveries/${id}`)).body).toEqual({
    statusCode: 200,
    message: 'Delivery found.',
    data: { ...record, operatorActions: [], attempts: [] },
  });
});

test('an operator hold is shown and filtered, with its author and reason, until it is resumed', async () => {
  const id = await newDelivery();
  const found = async (path: string) =>
    (await request('GET', path)).data.map((each: { id: string }) => each.id);
  const ask = (action: ActionName, by: string, reason: string) =>
    recordOperatorAction(api.sql, id, { id: `${action} ${by}`, action, by, reason }, defaultRetryPolicy);
  await ask('hold', 'anna', 'stock-taking');
  const heldBy = { by: 'anna', reason: 'stock-taking', at: expect.any(String) };
  const held = await request('GET', `/v21/deliveries/${id}`);
  expect(held.data).toMatchObject({ state: 'held', heldBy, nextAttemptAt: null });
  expect(held.data.operatorActions).toEqual([{ action: 'hold', ...heldBy }]);
  for (const list of ['/v21/deliveries', `/v21/webhooks/${webhookId}/deliveries`]) {
    expect(await found(`${list}?state=held`)).toEqual([id]);
    expect(await found(`${list}?state=pending`)).toEqual([]);
  }
  expect(await found('/v21/deliveries?state=held&entityId=10001')).toEqual([id]);
  await ask('resume', 'ben', '');
  expect((await request('GET', `/v21/deliveries/${id}`)).data).toMatchObject({
    state: 'pending',
    heldBy: null,
    operatorActions: [{ action: 'hold' }, { action: 'resume', by: 'ben', reason: '' }],
  });
  for (const list of ['/v21/deliveries', `/v21/webhooks/${webhookId}/deliveries`]) {
    expect(await found(`${list}?state=held`)).toEqual([]);
    expect(await found(`${list}?state=pending`)).toEqual([id]);
  }
});

test('filters by entity and time (since inclusive, until exclusive) can be combined', async () => {
  const odd = 'A/1 ž&x=1';
  const first = await newDelivery({ entityId: odd, createdAt: '2026-11-20T10:00:00Z' });
  const second = await newDelivery({ createdAt: '2026-11-20T11:00:00Z' });
  const third = await newDelivery({ entityId: odd, createdAt: '2026-11-20T12:00:00Z' });
  expect(await ids(`?entityId=${encodeURIComponent(odd)}`)).toEqual([third, first]);
  expect(await ids('?since=2026-11-20T11:00:00Z')).toEqual([third, second]);
  expect(await ids('?until=2026-11-20T12:00:00Z')).toEqual([second, first]);
  expect(
    await ids(`?since=${encodeURIComponent('2026-11-20T12:00:00+01:00')}&until=2026-11-20T11:30:00Z`),
  ).toEqual([second]);
  expect(await ids('?entityId=nothing')).toEqual([]);
  for (const wrong of [
    'state=open',
    'since=yesterday',
    'until=2026-11-20',
    'since=2026-13-01T00:00:00Z',
    'status=failed',
  ]) {
    const answer = await request('GET', `/v21/webhooks/${webhookId}/deliveries?${wrong}`);
    expect(answer.body, wrong).toMatchObject({ statusCode: 400, error: 'Bad Request' });
  }
});

test('since and until filter by the displayed time, not by the time in the id', async () => {
  const id = await newDelivery({ createdAt: '2026-11-20T11:04:00Z' });
  await api.sql`update deliveries set created_at = '2026-11-20T11:00:00Z' where id = ${id}`;
  expect(await ids('?since=2026-11-20T11:00:00Z&until=2026-11-20T11:00:00.001Z')).toEqual([id]);
  expect(await ids('?since=2026-11-20T11:00:00.001Z')).toEqual([]);
  expect(await ids('?until=2026-11-20T11:00:00Z')).toEqual([]);
});

test('at most 10,000 deliveries are counted and can be reached by pages', async () => {
  const id = await newDelivery();
  await api.sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id)
    select overlay(id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, event_id, eshop_id, webhook_id, event_type, entity_id
    from deliveries, generate_series(1, 10_000) n where id = ${id}`;
  const path = `/v21/webhooks/${webhookId}/deliveries`;
  const last = await request('GET', `${path}?page=100&items=100`);
  expect(last.data).toHaveLength(100);
  expect(last.body.pagination).toMatchObject({ totalCount: 10_000, totalPages: 100 });
  expect((await request('GET', `${path}?page=334`)).data).toHaveLength(10);
  const beyond = await request('GET', `${path}?page=101&items=100`);
  expect(beyond.body).toMatchObject({ statusCode: 400 });
  expect(beyond.body.message).toContain('page: must not reach beyond the first 10,000; use until');
});

test('every attempt is shown', async () => {
  const id = await newDelivery();
  const [second, third] = [new Date('2030-11-20T10:01:00Z'), new Date('2030-11-20T10:02:00Z')];
  await makeAttempt(api.sql, id, 1, {
    durationMs: 5_000,
    status: null,
    error: 'no answer',
    nextAttemptAt: second,
  });
  const error = 'HTTP 503 from shop.example after 212 ms';
  await makeAttempt(api.sql, id, 2, {
    durationMs: 212,
    error,
    responseExcerpt: 'busy',
    nextAttemptAt: third,
  });
  await beginAttempt(api.sql, { deliveryId: id, number: 3, generation: 1 });
  const { data } = await request('GET', `/v21/deliveries/${id}`);
  expect(data).toMatchObject({ attemptsMade: 2, lastStatus: 503, lastError: error });
  expect(data.attempts).toEqual([
    {
      number: 1,
      startedAt: expect.stringMatching(/Z$/),
      durationMs: 5000,
      outcome: 'failure',
      status: null,
      error: 'no answer',
      responseExcerpt: null,
      nextAttemptAt: second.toISOString(),
    },
    {
      number: 2,
      startedAt: expect.stringMatching(/Z$/),
      durationMs: 212,
      outcome: 'failure',
      status: 503,
      error: 'HTTP 503 from shop.example after 212 ms',
      responseExcerpt: 'busy',
      nextAttemptAt: third.toISOString(),
    },
    {
      number: 3,
      startedAt: expect.stringMatching(/Z$/),
      durationMs: null,
      outcome: null,
      status: null,
      error: null,
      responseExcerpt: null,
      nextAttemptAt: null,
    },
  ]);
});

test("another e-shop's deliveries and those of a deleted webhook do not exist", async () => {
  const id = await newDelivery();
  const other = await api.newEshop();
  const missing = uuidv7();
  const foreign = await other.shop.request('GET', `/v21/deliveries/${id}`);
  expect(foreign.body).toEqual({
    statusCode: 404,
    error: 'Not Found',
    message: `Delivery ${id} does not exist.`,
  });
  expect((await request('GET', `/v21/deliveries/${missing}`)).body.message).toBe(
    `Delivery ${missing} does not exist.`,
  );
  expect((await other.shop.request('GET', `/v21/webhooks/${webhookId}/deliveries`)).status).toBe(404);
  for (const wrong of ['1', 'x', `${id}0`, '%00']) {
    expect((await request('GET', `/v21/deliveries/${wrong}`)).body).toMatchObject({ statusCode: 400 });
  }

  await request('DELETE', `/v21/webhooks/${webhookId}`);
  expect((await request('GET', `/v21/deliveries/${id}`)).status).toBe(404);
  expect((await request('GET', `/v21/webhooks/${webhookId}/deliveries`)).status).toBe(404);
});

test('deliveries of one webhook do not appear under another', async () => {
  await newDelivery();
  const second = await newWebhook(eshop);
  expect((await request('GET', `/v21/webhooks/${second}/deliveries`)).data).toEqual([]);
});
