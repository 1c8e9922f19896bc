/** Examinations of receivers (docs/interface.md, W17), over HTTP to real ones. */
import { createServer } from 'node:http';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { memoryOrder, memoryStore, receiver as receiverOf } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { createExaminer } from '../../src/attempt/examiner.ts';
import type { Examination } from '../../src/domain/examination.ts';
import { createTestApi } from '../support/api/api.ts';
import { createWebhook, webhookRow } from '../support/api/webhooks.ts';
import { later } from '../support/later.ts';
import { apiOfFile, eshopOfEachTest, receiverOfFile } from '../support/lifetimes.ts';
import { listenLocally } from '../support/servers/ports.ts';

const closing: (() => void)[] = [];

const api = await apiOfFile();
const receiver = await receiverOfFile();
const { request } = eshopOfEachTest(api);
afterEach(() => {
  for (const close of closing.splice(0)) close();
  receiver.clear();
  receiver.respond({});
});

const create = (fields: object = {}) =>
  createWebhook(request, { url: `${receiver.url}/hook?id=`, ...fields });
const examine = (id: number) => request('POST', `/v21/webhooks/${id}/examine`);
const faults = ({ rows }: Pick<Examination, 'rows'>) =>
  Object.fromEntries(rows.flatMap(({ name, verdict }) => (verdict === 'ok' ? [] : [[name, verdict]])));

/** A receiver made with the kit. Its secrets come later: they are known once its webhook exists. */
async function kit() {
  const secrets: string[] = [];
  const hooks = receiverOf({
    secrets: () => secrets,
    store: memoryStore(),
    order: memoryOrder(),
    read: async () => ({}),
    onProblem: () => {},
  }).otherwise(() => {});
  const server = createServer(nodeListener(hooks));
  const port = await listenLocally(server);
  closing.push(() => server.close().closeAllConnections());
  return { url: `http://127.0.0.1:${port}/hooks?of=`, secrets };
}

test('a firewall in front of the receiver is named, and does not prove that signatures are checked', async () => {
  const { id } = await create();
  receiver.respond({ status: 403, headers: { 'cf-mitigated': 'challenge' } });
  const { data } = await examine(id);
  const found = data.rows.filter(({ name }: { name: string }) =>
    /^(?:valid request|no signature)$/.test(name),
  );
  expect(found).toEqual([
    expect.objectContaining({ verdict: 'fail', received: '403 from a firewall (Cloudflare)' }),
    expect.objectContaining({ verdict: 'warning', received: '403 from a firewall (Cloudflare)' }),
  ]);
  for (const { remedy } of found) expect(remedy).toContain('pass the firewall');
});

test.each([
  ['UPDATE_ORDER_STATUS', 'POST', 'v2'],
  ['CREATE_STOCK_MOVEMENT_RETURN', 'POST', 'v21'],
  ['CREATE_PRODUCT', 'GET', 'v2'],
] as const)('a careful receiver passes: %s, %s, %s', async (webhookType, method, payloadVersion) => {
  const { url, secrets } = await kit();
  const { id, secret } = await create({ url, webhookType, method, payloadVersion });
  secrets.push(secret);
  const { status, body, data } = await examine(id);
  expect([status, body.message]).toEqual([200, 'Receiver examined.']);
  expect(faults(data)).toEqual({});
  expect(data).toMatchObject({ complete: true, answerMs: expect.any(Number) });
  expect(data.rows[0]).toEqual({
    name: 'valid request',
    sent: expect.stringContaining('correctly signed'),
    received: '200, new',
    verdict: 'ok',
    remedy: null,
  });
});

test('a receiver that accepts everything fails, and the examination has no side effects', async () => {
  const { id } = await create({ active: false });
  const before = await webhookRow(api.sql, id);
  const woken = api.notified();
  const { data } = await examine(id);
  expect(faults(data)).toEqual({
    'wrong signature': 'fail',
    'no signature': 'fail',
    'signature of another body': 'fail',
    'old timestamp': 'fail',
    'only v1 matches': 'warning',
  });
  for (const { verdict, remedy } of data.rows) expect(remedy === null).toBe(verdict === 'ok');
  expect(receiver.requests.every(({ headers }) => headers['x-service-test'] === 'true')).toBe(true);
  expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/hook?id=']));
  receiver.respond({ status: 410 });
  const { data: gone } = await examine(id);
  expect(faults(gone)).toMatchObject({ 'valid request': 'fail' });
  expect(await webhookRow(api.sql, id)).toEqual(before);
  expect(await api.sql`select from failures where webhook_id = ${id}`).toHaveLength(0);
  expect(await api.sql`select from changes_to_signal where webhook_id = ${id}`).toHaveLength(0);
  expect((await request('GET', `/v21/webhooks/${id}/deliveries`)).data).toEqual([]);
  expect(api.notified()).toBe(woken);
});

test('the webhook’s own secret signs, and the former one beside it during a replacement', async () => {
  const { url, secrets } = await kit();
  const { id } = await create({ url, secret: 'a plain secret of the shop' });
  secrets.push('a plain secret of the shop');
  expect(faults((await examine(id)).data)).toEqual({});
  await request('PUT', `/v21/webhooks/${id}/regenerate-secret`);
  expect(faults((await examine(id)).data)).toEqual({});
});

test('a second examination during the first is a 409, and an examination that never ended expires', async () => {
  const [released, release] = later();
  receiver.respond(async () => {
    await released;
    return {};
  });
  const { id } = await create();
  const first = examine(id);
  await receiver.waitFor(1);
  expect((await examine(id)).body).toEqual({
    statusCode: 409,
    error: 'Conflict',
    message: `Webhook ${id} is being examined. Wait for the result.`,
  });
  // As left by a process that died, then as seen by a clock that was set back.
  for (const hours of [-1, 1]) {
    await api.sql`
      update examinations set busy_until = now() + make_interval(hours => ${hours}) where webhook_id = ${id}`;
    release();
    expect((await examine(id)).status).toBe(200);
  }
  expect((await first).status).toBe(200);
});

test('a webhook can be examined ten times an hour, whatever the results', async () => {
  receiver.respond({ status: 401 });
  const { id } = await create();
  const begun = (minutes: readonly number[]) => api.sql`
    update examinations
    set times = array(select now() + make_interval(mins => m) from unnest(${[...minutes]}::int[]) m)
    where webhook_id = ${id}`;
  expect((await examine(id)).status).toBe(200);
  await begun([-59, -30, -30, -30, -30, -5, -5, -5, -5]);
  expect((await examine(id)).status).toBe(200);
  const refused = await examine(id);
  expect(refused.body).toEqual({
    statusCode: 429,
    error: 'Too Many Requests',
    message: `Webhook ${id} was examined 10 times within the last hour. Try again later.`,
  });
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait > 0 && wait <= 60).toBe(true);
  // Neither those older than an hour count, nor those too far ahead: the clock was set back.
  await begun([-61, -30, -30, -30, -30, -5, -5, -5, -5, 50, 50]);
  expect((await examine(id)).status).toBe(200);
});

test('private destinations are refused, and internal failures do not blame the receiver', async () => {
  const { id } = await create({ url: 'http://10.0.0.5/' });
  expect((await examine(id)).data).toEqual({
    rows: [
      expect.objectContaining({
        name: 'valid request',
        received: 'destination 10.0.0.5 is in a private range',
        verdict: 'fail',
      }),
    ],
    answerMs: null,
    complete: false,
  });
  const sender = {
    send: async () => ({
      outcome: 'internal' as const,
      status: null,
      error: 'our resolver is not responding',
      durationMs: 5,
      responseExcerpt: null,
      retryAfterMs: null,
    }),
    certificateEnd: async () => null,
  };
  const keys = api.keys;
  const away = await createTestApi({ keys, examine: createExaminer({ sender, keys, timeoutMs: 1_000 }) });
  onTestFinished(() => away.drop());
  const webhook = await createWebhook(away.shop, { url: receiver.url });
  expect(await away.shop('POST', `/v21/webhooks/${webhook.id}/examine`)).toMatchObject({
    status: 503,
    body: { message: 'The receiver could not be examined: our resolver is not responding. Try again.' },
  });
});

test('webhooks that are foreign, deleted or unknown cannot be examined', async () => {
  const { id } = await create();
  const other = await api.newEshop();
  expect((await other.shop.request('POST', `/v21/webhooks/${id}/examine`)).status).toBe(404);
  await request('DELETE', `/v21/webhooks/${id}`);
  for (const wrong of [id, 999_999, -1]) expect((await examine(wrong)).status).toBe(404);
  expect((await api.anonymous('POST', `/v21/webhooks/${id}/examine`)).status).toBe(401);
  expect(receiver.requests).toHaveLength(0);
});

test('any type of the webhook can be examined, with records of that type alone', async () => {
  const { id } = await create({ webhookType: 'CREATE_ORDER', additionalTypes: ['CREATE_RETURN'] });
  const { data } = await request('POST', `/v21/webhooks/${id}/examine?type=CREATE_RETURN`);
  expect(data.rows.length).toBeGreaterThan(5);
  const kinds = new Set(receiver.requests.map(({ headers }) => headers['x-service-event']));
  expect([...kinds]).toEqual(['CREATE_RETURN']);
  expect(receiver.requests[0]?.text).toContain('eshopReturnId');
});
