/**
 * The delivery log over HTTP, its rows written as the relay and the activities write them.
 */
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestApi, type TestApi, type TestEshop } from '../support/api.ts';

let api: TestApi;
let eshop: TestEshop;
let request: TestEshop['shop']['request'];
let webhookId: number;

beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  eshop = await api.newEshop();
  request = eshop.shop.request;
  webhookId = await newWebhook(eshop);
});
afterAll(() => api.drop());

async function newWebhook({ shop }: TestEshop): Promise<number> {
  const answer = await shop.request('POST', '/v21/webhooks', {
    url: 'https://shop.example',
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
  });
  return answer.data.id;
}

interface Fields {
  state?: string;
  entityId?: string;
  createdAt?: string;
  nextAttemptAt?: string | null;
  lastError?: string | null;
}

async function newDelivery(fields: Fields = {}): Promise<string> {
  const { state = 'pending', entityId = '10001', createdAt = '2026-11-20T10:00:00Z' } = fields;
  const { nextAttemptAt = null, lastError = null } = fields;
  const id = uuidv7();
  await api.sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, created_at, next_attempt_at, last_error)
    values (${id}, ${uuidv7()}, ${eshop.eshopId}, ${webhookId}, 'CREATE_ORDER', ${entityId}, ${state}, ${createdAt},
            ${nextAttemptAt}, ${lastError})`;
  return id;
}

async function ids(query: string): Promise<string[]> {
  const answer = await request('GET', `/v21/webhooks/${webhookId}/deliveries${query}`);
  expect(answer.body).toMatchObject({ statusCode: 200, message: 'Deliveries found.' });
  return answer.data.map(({ id }: { id: string }) => id);
}

test('newest first, paged', async () => {
  const made: string[] = [];
  for (let i = 0; i < 5; i++) made.unshift(await newDelivery());
  expect(await ids('')).toEqual(made);
  const page = await request('GET', `/v21/webhooks/${webhookId}/deliveries?items=2&page=3`);
  expect(page.data.map(({ id }: { id: string }) => id)).toEqual(made.slice(4));
  expect(page.body.pagination).toEqual({ page: 3, items: 2, totalCount: 5, totalPages: 3 });
});

test('a delivery never tried', async () => {
  const id = await newDelivery();
  const record = {
    id,
    webhookId,
    eventId: expect.any(String),
    webhookType: 'CREATE_ORDER',
    entityId: '10001',
    state: 'pending',
    attemptsMade: 0,
    createdAt: '2026-11-20T10:00:00.000Z',
    lastAttemptAt: null,
    lastStatus: null,
    lastError: null,
    nextAttemptAt: null,
    finishedAt: null,
    canceledBy: null,
  };
  expect((await request('GET', `/v21/webhooks/${webhookId}/deliveries`)).data).toEqual([record]);
  expect((await request('GET', `/v21/deliveries/${id}`)).body).toEqual({
    statusCode: 200,
    message: 'Delivery found.',
    data: { ...record, attempts: [] },
  });
});

test('open deliveries of an inactive webhook are held at once, and the filter knows', async () => {
  const pending = await newDelivery();
  const retrying = await newDelivery({ state: 'retrying', nextAttemptAt: '2026-11-20T11:00:00Z' });
  const delivered = await newDelivery({ state: 'delivered' });
  expect(await ids('?state=pending')).toEqual([pending]);
  expect(await ids('?state=retrying')).toEqual([retrying]);
  expect(await ids('?state=held')).toEqual([]);
  expect((await request('GET', `/v21/deliveries/${retrying}`)).data).toMatchObject({
    state: 'retrying',
    nextAttemptAt: '2026-11-20T11:00:00.000Z',
  });

  await request('PUT', `/v21/webhooks/${webhookId}/deactivate`);
  expect(await ids('?state=held')).toEqual([retrying, pending]);
  expect(await ids('?state=pending')).toEqual([]);
  expect(await ids('?state=retrying')).toEqual([]);
  expect(await ids('?state=delivered')).toEqual([delivered]);
  expect((await request('GET', `/v21/deliveries/${retrying}`)).data).toMatchObject({
    state: 'held',
    nextAttemptAt: null,
  });

  await request('PUT', `/v21/webhooks/${webhookId}/activate`);
  expect(await ids('?state=held')).toEqual([]);
  expect(await ids('?state=retrying')).toEqual([retrying]);
});

test.each(['delivered', 'failed', 'expired', 'canceled'])('a delivery that is %s', async (state) => {
  const id = await newDelivery({ state });
  await newDelivery();
  expect(await ids(`?state=${state}`)).toEqual([id]);
});

test('filters: entity, since (inclusive), until (exclusive), together', async () => {
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

test('every attempt is shown', async () => {
  const id = await newDelivery({
    state: 'retrying',
    nextAttemptAt: '2026-11-20T10:02:00Z',
    lastError: 'no answer',
  });
  await api.sql`
    update deliveries set attempts_made = 3, last_status = 503, last_attempt_at = '2026-11-20T10:01:00Z' where id = ${id}`;
  await api.sql`
    insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status, error, response_excerpt, next_attempt_at)
    values (${id}, 2, 1, '2026-11-20T10:01:00Z', '2026-11-20T10:01:01Z', 'failure', 212, 503,
            'HTTP 503 from shop.example after 212 ms', 'busy', '2026-11-20T10:02:00Z'),
           (${id}, 1, 1, '2026-11-20T10:00:00Z', '2026-11-20T10:00:05Z', 'failure', 5000, null, 'no answer', null,
            '2026-11-20T10:01:00Z'),
           (${id}, 3, 1, '2026-11-20T10:02:00Z', null, null, null, null, null, null, null)`;
  const { data } = await request('GET', `/v21/deliveries/${id}`);
  expect(data).toMatchObject({ attemptsMade: 3, lastStatus: 503, lastError: 'no answer' });
  expect(data.attempts).toEqual([
    {
      number: 1,
      startedAt: '2026-11-20T10:00:00.000Z',
      durationMs: 5000,
      outcome: 'failure',
      status: null,
      error: 'no answer',
      responseExcerpt: null,
      nextAttemptAt: '2026-11-20T10:01:00.000Z',
    },
    {
      number: 2,
      startedAt: '2026-11-20T10:01:00.000Z',
      durationMs: 212,
      outcome: 'failure',
      status: 503,
      error: 'HTTP 503 from shop.example after 212 ms',
      responseExcerpt: 'busy',
      nextAttemptAt: '2026-11-20T10:02:00.000Z',
    },
    {
      number: 3,
      startedAt: '2026-11-20T10:02:00.000Z',
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
