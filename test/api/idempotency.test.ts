/** `Idempotency-Key`: a request that is sent again is not done again (docs/interface.md, C21). */
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OpenApiDocument } from '../../src/api/openapi/document.ts';
import { resealAll } from '../../src/app/key-rotation.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { closeDelivery } from '../../src/db/deliveries/deliveries.ts';
import { eraseCustomer } from '../../src/db/maintenance/erasure.ts';
import { exportEshop } from '../../src/db/maintenance/eshop-export.ts';
import { removeEshop } from '../../src/db/maintenance/eshop-removal.ts';
import { createKeys } from '../../src/secrets/keys.ts';
import { createTestApi, type Request, type TestEshop } from '../support/api/api.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { createWebhook, minimalWebhook } from '../support/api/webhooks.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const secretKey = randomBytes(32);
const api = await apiOfFile({ keys: createKeys(secretKey) });
const { eshop, request: shop } = eshopOfEachTest(api, stockedProducts);
const warehouse: Request = (...args) => eshop.warehouse.request(...args);

const under = (key: string) => ({ 'Idempotency-Key': key });
const REPLAYED = 'idempotency-replayed';
const MOVEMENT = { type: 'stock_correction', sku: 'TEA', count: '-2' };
const move = (key: string, body: object = MOVEMENT) =>
  warehouse('POST', '/v21/warehouse/stock-movements', body, under(key));
const available = async () => (await shop('GET', '/v21/products/TEA')).data.stock.available;

async function rows(table: string): Promise<number> {
  return (await api.sql`select from ${api.sql(table)} where eshop_id = ${eshop.eshopId}`).count;
}

/** Sends a request twice under one key. @returns the first answer, which the second repeated byte for byte */
async function twice(send: (headers: Record<string, string>) => ReturnType<Request>) {
  const headers = under(randomUUID());
  const first = await send(headers);
  expect(first.headers.get(REPLAYED)).toBeNull();
  const second = await send(headers);
  expect([second.status, second.text]).toEqual([first.status, first.text]);
  expect(second.headers.get(REPLAYED)).toBe('true');
  expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
  return first;
}

test.each([
  ['orders', { eshopOrderId: 'a', orderProducts: [{ sku: 'TEA', quantity: 1 }] }],
  ['products', { sku: 'a', name: 'A' }],
  ['receivings', { eshopReceivingId: 'a', supplier: 'S', products: [{ sku: 'TEA', quantity: 1 }] }],
  ['returns', { eshopReturnId: 'a', returnedOrderProducts: [{ sku: 'TEA', quantity: 1 }] }],
])('a repeated creation of %s makes one record, event and delivery', async (kind, body) => {
  await createWebhook(shop, { webhookType: `CREATE_${kind.slice(0, -1).toUpperCase()}` });
  const events = await rows('events');
  const notified = api.notified();
  const first = await twice((headers) => shop('POST', `/v21/${kind}`, body, headers));
  expect(first.status).toBe(200);
  expect(await rows('events')).toBe(events + 1);
  expect(await rows('deliveries')).toBe(1);
  expect(api.notified()).toBe(notified + 1);
});

test('a repeated request moves stock once', async () => {
  expect(
    (await twice((headers) => warehouse('POST', '/v21/warehouse/stock-movements', MOVEMENT, headers))).status,
  ).toBe(200);
  expect(await available()).toBe(9998);
});

test('a repeated request creates one webhook, and returns its secret again', async () => {
  const first = await twice((headers) => shop('POST', '/v21/webhooks', minimalWebhook, headers));
  expect(first.data.secret).toMatch(/^whsec_/);
  expect(await rows('webhooks')).toBe(1);
  const again = await twice((headers) =>
    shop('PUT', `/v21/webhooks/${first.data.id}/regenerate-secret`, undefined, headers),
  );
  expect(again.data.secret).not.toBe(first.data.secret);
});

test('a repeated request redelivers once and recovers once', async () => {
  const { id: webhookId } = await createWebhook(shop);
  await shop('POST', '/v21/orders', minimalOrder('a'));
  const [delivery] = await api.sql<
    { id: string }[]
  >`select id from deliveries where webhook_id = ${webhookId}`;
  await closeDelivery(api.sql, delivery?.id ?? '', 'expired');
  const send = (headers: Record<string, string>) =>
    shop('POST', `/v21/deliveries/${delivery?.id}/redeliver`, undefined, headers);
  const made = await twice(send);
  expect(made.status).toBe(200);
  // A conflict is an answer as well, whatever has become of its reason.
  const key = under(randomUUID());
  expect((await send(key)).status).toBe(409);
  await closeDelivery(api.sql, made.data.id, 'expired');
  expect(await send(key)).toMatchObject({ status: 409, body: { error: 'Conflict' } });
  expect((await send(key)).headers.get(REPLAYED)).toBe('true');
  expect(await rows('deliveries')).toBe(2);

  const since = new Date(Date.now() - 3_600_000).toISOString();
  const begun = await twice((headers) =>
    shop('POST', `/v21/webhooks/${webhookId}/recover`, { since }, headers),
  );
  expect(begun).toMatchObject({ status: 200, data: { count: 1 } });
  expect(await rows('recoveries')).toBe(1);
});

test('a repeated request may be written differently, with or without defaults', async () => {
  const body = { ...minimalOrder('a'), note: 'n' };
  const first = await shop('POST', '/v21/orders', body, under('k'));
  const other = `{ "note":"n", "priority": 0,\n "orderProducts":[{"quantity":"1","sku":"TEA"}],"eshopOrderId":"a","createdAt":null}`;
  const again = await shop('POST', '/v21/orders', other, {
    ...under('k'),
    'content-type': 'application/json',
  });
  expect(again.text).toBe(first.text);
  expect(again.headers.get(REPLAYED)).toBe('true');
});

test('a key with another body, path, method or query is a 422', async () => {
  await move('k');
  const { id } = await createWebhook(shop);
  await shop('PUT', `/v21/webhooks/${id}/regenerate-secret`, undefined, under('r'));
  const others = [
    move('k', { ...MOVEMENT, count: '-3' }),
    shop('PUT', `/v21/webhooks/${id}/regenerate-secret?overlap=0`, undefined, under('r')),
    shop('POST', '/v21/orders', minimalOrder('a'), under('r')),
    shop('POST', `/v21/webhooks/${id}/recover`, { dryRun: true, since: '2026-01-01T00:00:00Z' }, under('r')),
  ];
  for (const answer of await Promise.all(others)) {
    expect(answer.body).toEqual({
      statusCode: 422,
      error: 'Unprocessable Content',
      message: 'This Idempotency-Key belongs to another request: use a new one.',
    });
  }
  expect(await available()).toBe(9998);
  expect(await rows('orders')).toBe(0);
});

test('a key belongs to one role of one e-shop', async () => {
  const other = await api.newEshop();
  const product = { sku: 'X', name: 'X' };
  for (const request of [shop, warehouse, other.shop.request]) {
    const { status, headers } = await request('POST', '/v21/products', product, under('k'));
    expect([status, headers.get(REPLAYED)]).toEqual([request === warehouse ? 409 : 200, null]);
  }
});

test('a key is free again after any error but 409', async () => {
  const order = minimalOrder('a', { orderProducts: [{ sku: 'NONE', quantity: 1 }] });
  expect((await shop('POST', '/v21/orders', order, under('k'))).status).toBe(400);
  await shop('POST', '/v21/products', { sku: 'NONE', name: 'n' });
  const answer = await shop('POST', '/v21/orders', order, under('k'));
  expect([answer.status, answer.headers.get(REPLAYED)]).toEqual([200, null]);
  const missing = `/v21/deliveries/${randomUUID()}/redeliver`;
  expect((await shop('POST', missing, undefined, under('m'))).status).toBe(404);
  expect((await shop('POST', '/v21/webhooks/999999/recover', {}, under('m'))).status).toBe(404);
  expect(await rows('stored_responses')).toBe(1);
});

test('a key is free again after an internal failure, which changes nothing', async () => {
  await api.sql.unsafe(`
      create function no_answers() returns trigger language plpgsql as $$ begin raise exception 'full' using errcode = '53100'; end $$;
      create trigger none before insert on stored_responses for each row execute function no_answers()`);
  try {
    expect((await move('k')).status).toBe(503);
    expect(await available()).toBe(10_000);
  } finally {
    await api.sql.unsafe('drop trigger none on stored_responses; drop function no_answers');
  }
  expect((await move('k')).status).toBe(200);
  expect(await available()).toBe(9998);
});

test('a key is refused while its request is under way, and free if that request dies', async () => {
  let first: ReturnType<Request> | undefined;
  await api.sql.begin(async (tx) => {
    await tx`select from products where eshop_id = ${eshop.eshopId} for update`;
    first = move('k');
    const waiting = () => api.sql<{ pid: number }[]>`
        select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(waiting).toHaveLength(1);
    const second = await move('k');
    expect(second).toMatchObject({ status: 409, body: { error: 'Conflict' } });
    expect(second.headers.get('retry-after')).toBe('1');
    expect(second.headers.get(REPLAYED)).toBeNull();
    const [held] = await waiting();
    await tx`select pg_terminate_backend(${held?.pid ?? 0})`;
    expect((await first).status).toBe(503);
  });
  expect((await move('k')).status).toBe(200);
  expect((await move('k')).headers.get(REPLAYED)).toBe('true');
  expect(await available()).toBe(9998);
});

test('a key has a lock that no one can aim at: it is not a hash that can be inverted', async () => {
  await api.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`answer ${eshop.eshopId} warehouse k`}, 0))`;
    expect((await move('k')).status).toBe(200);
  });
});

test('simultaneous requests with one key are executed once', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => move('k')));
  for (const { status } of answers) expect([200, 409]).toContain(status);
  expect(
    answers.filter(({ headers, status }) => status === 200 && headers.get(REPLAYED) === null),
  ).toHaveLength(1);
  expect(await available()).toBe(9998);
});

test('an Idempotency-Key expires after 24 hours', async () => {
  await move('k');
  await api.sql`update stored_responses set created_at = now() - interval '23 hours' where eshop_id = ${eshop.eshopId}`;
  expect((await move('k')).headers.get(REPLAYED)).toBe('true');
  await api.sql`update stored_responses set created_at = now() - interval '25 hours' where eshop_id = ${eshop.eshopId}`;
  expect((await move('k', { ...MOVEMENT, count: '-3' })).headers.get(REPLAYED)).toBeNull();
  expect(await available()).toBe(9995);
  expect((await move('k', { ...MOVEMENT, count: '-3' })).headers.get(REPLAYED)).toBe('true');
});

test.each(['', 'x'.repeat(256), 'é'])(
  'a key with invalid characters or length is refused: %j',
  async (key) => {
    const answer = await shop('POST', '/v21/products', { sku: 'X', name: 'X' }, { 'Idempotency-Key': key });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe('Idempotency-Key must consist of 1 to 255 printable ASCII characters.');
  },
);

test('a key may have any printable ASCII characters', async () => {
  const key = `"${'~!'.repeat(126)} "`.slice(0, 255);
  expect((await move(key)).status).toBe(200);
  expect((await move(key)).headers.get(REPLAYED)).toBe('true');
});

test('a key is refused by every other write, and ignored by reads', async () => {
  const document: OpenApiDocument = JSON.parse((await shop('GET', '/openapi.json')).text);
  const taking: string[] = [];
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { parameters = [] }] of Object.entries(operations)) {
      if (parameters.some(({ name }) => name === 'Idempotency-Key')) {
        taking.push(`${method.toUpperCase()} ${path}`);
        continue;
      }
      const isRead = method === 'get';
      const send = path.startsWith('/v21/warehouse') ? warehouse : shop;
      const answer = await send(
        method.toUpperCase(),
        path.replaceAll(/\{\w+\}/g, '1'),
        isRead ? undefined : {},
        under('k'),
      );
      if (isRead) expect(answer.body.message).not.toContain('Idempotency-Key');
      else {
        expect([path, answer.body.message]).toEqual([
          path,
          'This operation takes no Idempotency-Key: send the request without one.',
        ]);
        expect(answer.status).toBe(400);
      }
    }
  }
  expect(taking.sort()).toEqual([
    'POST /v21/deliveries/{id}/redeliver',
    'POST /v21/orders',
    'POST /v21/products',
    'POST /v21/receivings',
    'POST /v21/returns',
    'POST /v21/warehouse/stock-movements',
    'POST /v21/webhooks',
    'POST /v21/webhooks/{id}/recover',
    'PUT /v21/webhooks/{id}/regenerate-secret',
  ]);
});

test('a request with a key uses a single connection, so that many cannot block each other', async () => {
  const sql = createPool(api.database.url, 1);
  const narrow = await createTestApi({ sql, keys: api.keys });
  onTestFinished(() => sql.end());
  onTestFinished(() => narrow.drop());
  const { data } = await shop('POST', '/v21/webhooks', minimalWebhook);
  await shop('POST', '/v21/orders', minimalOrder('a'));
  const [delivery] = await api.sql<{ id: string }[]>`select id from deliveries where webhook_id = ${data.id}`;
  await closeDelivery(api.sql, delivery?.id ?? '', 'expired');
  const send = (who: keyof TestEshop & ('shop' | 'warehouse'), method: string, path: string, body?: object) =>
    narrow.app.request(`/v21/${path}`, {
      method,
      headers: {
        'x-api-key': eshop.apiKey,
        authorization: eshop[who].token,
        'content-type': 'application/json',
        ...under(path),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const unknown = minimalOrder('b', { orderProducts: [{ sku: 'NONE', quantity: 1 }] });
  const answers = [
    await send('shop', 'POST', 'orders', unknown),
    await send('shop', 'POST', 'orders', minimalOrder('b')),
    await send('warehouse', 'POST', 'warehouse/stock-movements', MOVEMENT),
    await send('shop', 'POST', 'webhooks', minimalWebhook),
    await send('shop', 'PUT', `webhooks/${data.id}/regenerate-secret`, {}),
    await send('shop', 'POST', `webhooks/${data.id}/recover`, { since }),
    await send('shop', 'POST', `deliveries/${delivery?.id}/redeliver`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 200, 200, 200, 200, 200, 200]);
});

describe('storage', () => {
  const stored = async () => {
    const [row] = await api.sql<{ key: string; response: Buffer }[]>`
      select key, response from stored_responses where eshop_id = ${eshop.eshopId}`;
    return row;
  };

  test('a stored response is sealed, and resealed with a new master key', async () => {
    const { data } = await shop('POST', '/v21/webhooks', minimalWebhook, under('k'));
    const owner = { eshopId: eshop.eshopId, role: 'shop', key: 'k' };
    const before = (await stored())?.response ?? Buffer.alloc(0);
    expect(before.includes('whsec_')).toBe(false);
    expect(api.keys.decryptSecret(before, owner)).toContain(data.secret);
    // Of no use to another e-shop, another role, or as the secret of a webhook.
    expect(() => api.keys.decryptSecret(before, { ...owner, eshopId: owner.eshopId + 1 })).toThrow();
    expect(() => api.keys.decryptSecret(before, { ...owner, role: 'warehouse' })).toThrow();

    const next = randomBytes(32);
    await resealAll(api.sql, createKeys(next, [secretKey]), { batch: 1 });
    const after = (await stored())?.response ?? Buffer.alloc(0);
    expect(createKeys(next).decryptSecret(after, owner)).toContain(data.secret);
    // This process does not know the next key: the request is not done again.
    const again = await shop('POST', '/v21/webhooks', minimalWebhook, under('k'));
    expect(again.body).toMatchObject({
      statusCode: 409,
      message: expect.stringContaining('can no longer be read'),
    });
    expect(await rows('webhooks')).toBe(1);
    await resealAll(api.sql, createKeys(secretKey, [next]));
    expect((await shop('POST', '/v21/webhooks', minimalWebhook, under('k'))).data.secret).toBe(data.secret);
  });

  test('a stored response is erased with its customer’s data, and the order is not created again', async () => {
    const order = minimalOrder('hers', { recipientEmail: 'zoe@customer.example' });
    await shop('POST', '/v21/orders', order, under('k'));
    await shop('POST', '/v21/orders', minimalOrder('his'), under('l'));
    await shop('POST', '/v21/orders/hers/cancel');
    const hers = { orders: [{ id: 'hers', status: 'canceled' }], returns: [] } as const;
    expect(await eraseCustomer(api.sql, eshop.eshopId, hers)).not.toBeNull();
    expect((await stored())?.key).toBe('l');
    expect((await shop('POST', '/v21/orders', order, under('k'))).status).toBe(409);
    expect((await shop('GET', '/v21/orders/hers')).data.recipientEmail).toBeNull();
  });

  test('a stored response is exported without its content, and deleted with its e-shop', async () => {
    await move('k');
    const exported: object[] = [];
    await exportEshop(api.sql, eshop.eshopId, async (slice) => {
      exported.push(...slice.filter(({ kind }) => kind === 'storedResponse'));
    });
    expect(exported).toEqual([
      {
        kind: 'storedResponse',
        data: { role: 'warehouse', key: 'k', kind: null, entityId: null, createdAt: expect.any(Date) },
      },
    ]);
    expect(await removeEshop(api.sql, eshop.eshopId, new AbortController().signal)).toBe(true);
    expect(await rows('stored_responses')).toBe(0);
  });
});
