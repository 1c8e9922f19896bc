/**
 * Test deliveries with a sample (docs/interface.md, W13), over HTTP to a real receiver.
 */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestSender } from '../../src/attempt/test-sender.ts';
import { findWebhookWithSecrets } from '../../src/db/webhooks/with-secrets.ts';
import { createSender } from '../../src/delivery/sender.ts';
import { entryOf, idOf, sampleChangesOf, sampleOf } from '../../src/domain/catalogue.ts';
import { eventTypeNames, packingListEventTypes } from '../../src/domain/event-types.ts';
import { render } from '../../src/domain/render.ts';
import { createKeys } from '../../src/secrets/keys.ts';
import { createTestApi, type TestEshop } from '../support/api/api.ts';
import { createWebhook, webhookRow } from '../support/api/webhooks.ts';
import { later } from '../support/later.ts';
import { apiOfFile, eshopOfEachTest, receiverOfFile } from '../support/lifetimes.ts';
import { signedBy } from '../support/signed-by.ts';

const api = await apiOfFile();
const receiver = await receiverOfFile();
const { eshop, request } = eshopOfEachTest(api);
afterEach(() => {
  receiver.clear();
  receiver.respond({});
});

const create = (fields: object = {}) =>
  createWebhook(request, { url: `${receiver.url}/hook?id=`, ...fields });
const tryOut = (id: number) => request('POST', `/v21/webhooks/${id}/test`);

test.each(eventTypeNames)(
  '%s: a test sends a sample of the type in each version, and its identifier by GET',
  async (webhookType) => {
    const sample = sampleOf(webhookType);
    const withPackingLists = packingListEventTypes.includes(webhookType);
    const fresh: string[] = [];
    const parameters = withPackingLists ? { withPackingLists } : null;
    for (const version of ['v2', 'v21'] as const) {
      const { id, secret } = await create({ webhookType, payloadVersion: version, parameters });
      const { data } = await tryOut(id);
      const received = receiver.requests.at(-1);
      expect(received?.text).toBe(render(sample, { version, withPackingLists }));
      expect(received?.headers).toMatchObject({
        ...data.request.headers,
        'content-type': 'application/json',
        'x-service-event': webhookType,
        'x-service-test': 'true',
        'x-service-attempt': '1',
        'x-service-sequence': '1',
        'x-service-origin': 'service',
        'x-service-webhook': String(id),
        'x-service-event-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'x-service-event-time': expect.stringMatching(/^\d{4}-.*Z$/),
      });
      expect(received?.headers['x-service-changed'] ?? null).toBe(sampleChangesOf(webhookType));
      fresh.push(String(received?.headers['x-service-event-id']));
      fresh.push(String(received?.headers['x-service-delivery']));
      expect(data).toMatchObject({
        request: { method: 'POST', url: `${receiver.url}/hook?id=`, body: received?.text },
        response: { status: 200, excerpt: null },
        outcome: 'success',
        error: null,
      });
      if (received === undefined) throw new Error('nothing was received');
      expect(signedBy(secret, received)).toEqual(['v1', 'v2', 'v3']);
    }
    expect(new Set(fresh).size).toBe(4);
    const { id } = await create({ webhookType, method: 'GET' });
    const { data } = await tryOut(id);
    const received = receiver.requests.at(-1);
    const path = `/hook?id=${encodeURIComponent(idOf(entryOf(webhookType), sample))}`;
    expect(received).toMatchObject({ method: 'GET', path, text: '' });
    expect(data.request).toMatchObject({ method: 'GET', url: `${receiver.url}${path}`, body: null });
  },
);

test('a test reports its request and response, and has no side effects', async () => {
  const { id } = await create();
  const before = await webhookRow(api.sql, id);
  const woken = api.notified();
  receiver.respond({
    status: 503,
    body: `out of order ${'x'.repeat(2_000)}`,
    headers: { 'content-type': 'text/plain', 'retry-after': '120', 'set-cookie': 'session=secret' },
  });
  const answer = await tryOut(id);
  expect(answer.body).toMatchObject({ statusCode: 200, message: 'Webhook tested.' });
  expect(answer.data).toMatchObject({
    outcome: 'failure',
    error: expect.stringMatching(/^HTTP 503 from 127\.0\.0\.1:\d+ after \d+ ms$/),
    durationMs: expect.any(Number),
    response: { status: 503, headers: { 'content-type': 'text/plain', 'retry-after': '120' } },
  });
  expect(answer.data.response.headers).not.toHaveProperty('set-cookie');
  expect(answer.data.response.excerpt).toMatch(/^out of order x+$/);
  expect(answer.data.response.excerpt).toHaveLength(1_024);
  receiver.respond({ status: 410 });
  expect((await tryOut(id)).data).toMatchObject({ outcome: 'gone', response: { status: 410 } });
  expect(receiver.requests.map(({ headers }) => headers['x-service-test'])).toEqual(['true', 'true']);
  expect(await webhookRow(api.sql, id)).toEqual(before);
  expect((await request('GET', `/v21/webhooks/${id}/deliveries`)).data).toEqual([]);
  expect(await api.sql`select from changes_to_signal where webhook_id = ${id}`).toHaveLength(0);
  expect(api.notified()).toBe(woken);
});

test('an inactive webhook can be tested, with both secrets during a replacement', async () => {
  const { id } = await create({ active: false });
  await request('PUT', `/v21/webhooks/${id}/regenerate-secret`);
  expect((await tryOut(id)).data).toMatchObject({ outcome: 'success' });
  expect(receiver.requests[0]?.headers['x-service-signature']).toMatch(
    /^t=\d+(,v1=[0-9a-f]{64}){2}(,v2=[0-9a-f]{64}){2}(,v3=[0-9a-f]{64}){2}$/,
  );
  expect((await request('GET', `/v21/webhooks/${id}`)).data.active).toBe(false);
});

describe('errors', () => {
  const outcome = async (url: string) => (await tryOut((await create({ url })).id)).data;
  test('a private address is explained in a sentence', async () => {
    expect(await outcome('http://10.0.0.5/')).toMatchObject({
      response: null,
      outcome: 'failure',
      error: 'destination 10.0.0.5 is in a private range',
    });
  });
  test('a redirect is not followed, and explained in a sentence', async () => {
    receiver.respond({ status: 302, headers: { location: 'https://shop.example/elsewhere' } });
    expect(await outcome(receiver.url)).toMatchObject({
      response: { status: 302, headers: { location: 'https://shop.example/elsewhere' } },
      outcome: 'failure',
      error: expect.stringContaining('redirects are not followed'),
    });
  });
});

test('an internal failure says nothing about the receiver', async () => {
  const { id } = await create();
  const sender = {
    send: async () => ({
      outcome: 'internal' as const,
      status: null,
      error: 'our resolver is not responding (DNS: ETIMEOUT), so shop.example could not be looked up',
      durationMs: 5,
      responseExcerpt: null,
      retryAfterMs: null,
    }),
  };
  const sendTest = createTestSender({ sender, keys: api.keys });
  const webhook = await findWebhookWithSecrets(api.sql, eshop.eshopId, id);
  if (webhook === null) throw new Error('the webhook is not there');
  expect(await sendTest(webhook)).toMatchObject({ outcome: 'inconclusive', response: null });
});

test('webhooks that are foreign, deleted or unknown cannot be tested', async () => {
  const { id } = await create();
  const other = await api.newEshop();
  const path = `/v21/webhooks/${id}/test`;
  expect((await other.shop.request('POST', path)).body).toEqual({
    statusCode: 404,
    error: 'Not Found',
    message: `Webhook ${id} does not exist.`,
  });
  await request('DELETE', `/v21/webhooks/${id}`);
  for (const wrong of [id, 999_999, -1]) expect((await tryOut(wrong)).status).toBe(404);
  expect((await request('POST', '/v21/webhooks/x/test')).status).toBe(400);
  expect((await api.anonymous('POST', path)).status).toBe(401);
  expect(receiver.requests).toHaveLength(0);
});

test('hanging tests are limited per e-shop, and leave the API and other e-shops alone', async () => {
  const keys = createKeys(randomBytes(32));
  const sender = createSender({ timeoutMs: 60_000, allowCidrs: ['127.0.0.0/8'], version: '1' });
  const patient = await createTestApi({ keys, sendTest: createTestSender({ sender, keys }) });
  const [released, release] = later();
  try {
    receiver.respond(async () => {
      await released;
      return {};
    });
    const hanging = async ({ shop }: TestEshop, path: string, count: number) => {
      const { id } = await createWebhook(shop.request, { url: `${receiver.url}${path}` });
      return Array.from({ length: count }, () => shop.request('POST', `/v21/webhooks/${id}/test`));
    };
    const mine = await hanging(patient.eshop, '/mine', 12);
    await receiver.waitFor(8);
    expect((await patient.shop('GET', '/v21/webhooks')).status).toBe(200);
    const theirs = await hanging(await patient.newEshop(), '/theirs', 1);
    await receiver.waitFor(({ path }) => path === '/theirs');
    expect((await patient.shop('GET', '/v21/webhooks')).status).toBe(200);
    expect(receiver.requests.filter(({ path }) => path === '/mine')).toHaveLength(8);
    release();
    const answers = await Promise.all([...mine, ...theirs]);
    expect(answers.map(({ data }) => data.outcome)).toEqual(Array.from({ length: 13 }, () => 'success'));
  } finally {
    release();
    await sender.close();
    await patient.drop();
  }
});

test('any type of the webhook can be tested, and no other', async () => {
  const { id } = await create({
    webhookType: 'CREATE_PRODUCT',
    additionalTypes: ['CREATE_ORDER', 'UPDATE_ORDER'],
    parameters: { withPackingLists: true },
  });
  const sent = async (type?: string) => {
    const { status } = await request(
      'POST',
      `/v21/webhooks/${id}/test${type === undefined ? '' : `?type=${type}`}`,
    );
    expect(status).toBe(200);
    const { headers, text = '' } = receiver.requests.at(-1) ?? {};
    return { type: headers?.['x-service-event'], lists: text.includes('packingLists') };
  };
  expect(await sent()).toEqual({ type: 'CREATE_PRODUCT', lists: false });
  expect(await sent('CREATE_ORDER')).toEqual({ type: 'CREATE_ORDER', lists: false });
  expect(await sent('UPDATE_ORDER')).toEqual({ type: 'UPDATE_ORDER', lists: true });
  const count = receiver.requests.length;
  for (const path of ['test', 'examine']) {
    const refused = await request('POST', `/v21/webhooks/${id}/${path}?type=UPDATE_ORDER_STATUS`);
    expect(refused.body).toMatchObject({
      statusCode: 400,
      message: `type: must be one of the types of webhook ${id}: CREATE_PRODUCT, CREATE_ORDER, UPDATE_ORDER`,
    });
    expect((await request('POST', `/v21/webhooks/${id}/${path}?type=X`)).status).toBe(400);
    expect((await request('POST', `/v21/webhooks/999999/${path}?type=UPDATE_ORDER`)).status).toBe(404);
  }
  expect(receiver.requests).toHaveLength(count);
});
