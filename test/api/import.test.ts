/**
 * The import over HTTP: a result per line, in order, whether the line is valid or not.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { createApp } from '../../src/api/app.ts';
import { setDisabled } from '../../src/db/accounts/eshops.ts';
import { listen } from '../../src/http/http-server.ts';
import type { TestEshop } from '../support/api/api.ts';
import { minimalOrder, stockedProduct } from '../support/api/orders.ts';
import { firedTypes, insertWebhook } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';

let eshop: TestEshop;

const api = await apiOfFile();
beforeEach(async () => {
  eshop = await api.newEshop();
  await stockedProduct(eshop, 'TEA', '10');
});

const path = '/v21/warehouse/events/import';
const ndjson = { 'content-type': 'application/x-ndjson' };
type Result = Record<string, unknown>;

/** Sends lines (strings as they are); answers their results. */
async function send(...lines: (object | string)[]): Promise<Result[]> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const answer = await eshop.warehouse.request('POST', path, text, ndjson);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
const movement = (count: number | string, more: object = {}) => ({
  operation: 'stockMovement',
  body: { type: 'stock_correction', sku: 'TEA', count, ...more },
});
const status = (id: string, to: string, more: object = {}) => ({
  operation: 'orderStatus',
  id,
  body: { status: to, ...more },
});
const stock = async () => (await eshop.shop.request('GET', '/v2/products/TEA')).data.stock;
const order = async (id: string, quantity = 1) => {
  const body = { eshopOrderId: id, orderProducts: [{ sku: 'TEA', quantity }] };
  expect((await eshop.shop.request('POST', '/v21/orders', body)).status).toBe(200);
};

describe('operations', () => {
  test('a stock movement returns its id and fires its event', async () => {
    const webhook = await insertWebhook(api.sql, eshop.eshopId, 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION');
    const woken = api.notified();
    const [result] = await send(movement('2.5'));
    expect(result).toEqual({
      line: 1,
      statusCode: 200,
      message: 'Stock movement recorded.',
      id: expect.any(Number),
    });
    expect(api.notified()).toBe(woken + 1);
    expect(await stock()).toMatchObject({ available: '12.5' });
    const rows = await api.sql`select webhook_id from deliveries where entity_id = ${String(result?.id)}`;
    expect(rows).toEqual([{ webhookId: webhook }]);
  });

  test('statuses and packing lists of an order are applied, including notes', async () => {
    await order('10 / ž');
    const results = await send(
      status('10 / ž', 'received'),
      status('10 / ž', 'processing', { note: 'shelf 4' }),
      {
        operation: 'orderPackingLists',
        id: '10 / ž',
        body: {
          orderProducts: [
            { sku: 'TEA', packingLists: [{ packageNumber: 1, packageType: 'box', quantity: 1 }] },
          ],
        },
      },
    );
    expect(results.map(({ message }) => message)).toEqual([
      'Order status changed.',
      'Order status changed.',
      'Packing lists replaced.',
    ]);
    expect(await firedTypes(api.sql, eshop.eshopId, '10 / ž')).toEqual([
      'CREATE_ORDER',
      'UPDATE_ORDER_STATUS',
      'UPDATE_ORDER_STATUS',
      'UPDATE_ORDER',
    ]);
    const { data } = await eshop.shop.request('GET', `/v21/orders/${encodeURIComponent('10 / ž')}`);
    expect(data.statusHistory.at(-1)).toMatchObject({ status: 'processing', note: 'shelf 4' });
  });
});

test('receivings and returns take statuses and counts, and end in stock movements', async () => {
  const products = [{ sku: 'TEA', quantity: 4 }];
  await eshop.shop.request('POST', '/v21/receivings', { eshopReceivingId: 'in', supplier: 'x', products });
  await eshop.shop.request('POST', '/v21/returns', {
    eshopReturnId: 'back',
    returnedOrderProducts: products,
  });
  await order('big', 17);
  const on = (operation: string, id: string, body: object) => ({ operation, id, body });
  const results = await send(
    on('receivingStatus', 'in', { status: 'arrived' }),
    on('returnStatus', 'back', { status: 'arrived', note: 'torn' }),
    on('receivingLines', 'in', { products: [{ sku: 'TEA', lot: 'A', received: 5 }] }),
    on('returnLines', 'back', { returnedOrderProducts: [{ sku: 'TEA', received: 2 }] }),
    on('receivingStatus', 'in', { status: 'received' }),
    on('receivingStatus', 'in', { status: 'stocked' }),
    on('returnStatus', 'back', { status: 'processing' }),
    on('returnStatus', 'back', { status: 'completed' }),
    on('returnStatus', 'back', { status: 'completed' }),
    on('orderStatus', 'big', { status: 'received' }),
  );
  expect(results.map(({ message }) => message)).toEqual([
    'Receiving status changed.',
    'Return status changed.',
    'Receiving counted.',
    'Return counted.',
    'Receiving status changed.',
    'Receiving status changed.',
    'Return status changed.',
    'Return status changed.',
    'The return is completed and cannot become completed: this status is final.',
    'Order status changed.',
  ]);
  expect(await stock()).toMatchObject({ available: '0', reserved: '17', awaiting: '0' });
});

describe('invalid lines', () => {
  const bad: [string, object | string, number, string][] = [
    ['malformed JSON', '{"operation":', 400, 'The line is not well-formed JSON in UTF-8.'],
    ['a list', '[]', 400, 'The line must be a JSON object.'],
    ['an unknown operation', { operation: 'none', body: {} }, 400, 'operation: must be one of stockMovement'],
    ['a typo', { ...movement(1), key: 'x' }, 400, 'key: unknown field'],
    ['a missing body', { operation: 'stockMovement' }, 400, 'body: is required'],
    ['a missing id', { operation: 'orderStatus', body: { status: 'received' } }, 400, 'id: is required'],
    ['an unexpected id', { ...movement(1), id: 'x' }, 400, 'id: stockMovement has none'],
    ['an invalid body', movement(0), 400, 'count: must not be 0'],
    ['an unknown product', movement(1, { sku: 'NONE' }), 400, 'sku: "NONE" is not a known product'],
    ['an unknown order', status('none', 'received'), 404, 'Order none does not exist.'],
    ['an excess of units', movement(-100), 409, 'TEA has only'],
    ['a NUL character', movement(1, { note: 'a\u0000b' }), 400, 'must not'],
    [
      'a line over 1 MiB',
      movement(1, { note: 'x'.repeat(1024 * 1024) }),
      413,
      'The line is longer than 1 MiB.',
    ],
  ];
  test.each(bad)('%s is refused without stopping other lines', async (_name, line, statusCode, message) => {
    const [before, refused, after] = await send(movement(1), line, movement(1));
    expect(before).toMatchObject({ line: 1, statusCode: 200 });
    expect(refused).toMatchObject({ line: 2, statusCode, message: expect.stringContaining(message) });
    expect(refused).toHaveProperty('error');
    expect(after).toMatchObject({ line: 3, statusCode: 200 });
    expect(await stock()).toMatchObject({ available: '12' });
  });

  test('invalid UTF-8 is refused without stopping other lines', async () => {
    const text = Buffer.concat([
      Buffer.from('{"operation":"'),
      Buffer.from([0xff]),
      Buffer.from(`"}\n${JSON.stringify(movement(1))}`),
    ]);
    const results = await sendRaw(text);
    expect(results.map(({ statusCode }) => statusCode)).toEqual([400, 200]);
  });
});

/** Sends bytes in chunks of this size. */
async function sendRaw(bytes: Buffer, pieces = bytes.length): Promise<Result[]> {
  const body = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += pieces) controller.enqueue(bytes.subarray(at, at + pieces));
      controller.close();
    },
  });
  const headers = {
    ...ndjson,
    'x-api-key': eshop.apiKey,
    authorization: `Bearer ${eshop.warehouse.token}`,
  };
  const answer = await api.app.request(path, { method: 'POST', headers, body, duplex: 'half' });
  return (await answer.text())
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('lines end with LF, CRLF or the body; empty lines are skipped but counted', async () => {
  const line = JSON.stringify(movement(1, { note: 'ž' }));
  for (const pieces of [1, 7, 10_000]) {
    const results = await sendRaw(Buffer.from(`\n${line}\r\n \n\n${line}`), pieces);
    expect(results.map((result) => [result.line, result.statusCode])).toEqual([
      [2, 200],
      [5, 200],
    ]);
  }
});

test('an empty body gets an empty answer', async () => {
  expect(await send('')).toEqual([]);
});

describe('the order of lines', () => {
  test('an order can use units of the line before, and leaves fewer to the line after', async () => {
    for (const id of ['a', 'b']) await order(id, 15);
    const results = await send(
      ...Array.from({ length: 20 }, () => movement('0.25')),
      status('a', 'received'),
      status('b', 'received'),
      movement('15'),
      status('b', 'received'),
      movement('-0.25'),
    );
    expect(results.slice(20).map(({ statusCode }) => statusCode)).toEqual([200, 409, 200, 200, 409]);
    expect(await stock()).toMatchObject({ available: '0', reserved: '30' });
  });

  test('two hundred lines move twenty orders through all statuses', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `way-${index}`);
    await eshop.warehouse.request('POST', '/v21/warehouse/stock-movements', movement(10).body);
    for (const id of ids) await eshop.shop.request('POST', '/v21/orders', minimalOrder(id));
    const way = ['received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay', 'delivered'];
    const lines = way.flatMap((to) => ids.map((id) => status(id, to)));
    const results = await send(...lines);
    expect(results.map(({ statusCode }) => statusCode)).toEqual(lines.map(() => 200));
    expect(results.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
    expect(await stock()).toMatchObject({ available: '0', reserved: '0' });
  });
});

describe('idempotency keys', () => {
  const keyed = (key: string, line: object) => ({ ...line, idempotencyKey: key });

  test('a line sent again under its key changes nothing', async () => {
    const lines = [keyed('k-1', movement(1)), keyed('k-2', movement(2))];
    const first = await send(...lines);
    expect(first.map(({ idempotencyKey, repeated }) => [idempotencyKey, repeated])).toEqual([
      ['k-1', undefined],
      ['k-2', undefined],
    ]);
    const again = await send(...lines, keyed('k-1', movement(1)));
    expect(again).toEqual(
      ['k-1', 'k-2', 'k-1'].map((idempotencyKey, index) => ({
        line: index + 1,
        statusCode: 200,
        message: 'Already applied.',
        idempotencyKey,
        repeated: true,
      })),
    );
    expect(await stock()).toMatchObject({ available: '13' });
  });

  test('a key of a different line is refused', async () => {
    const results = await send(keyed('k', movement(1)), keyed('k', movement(2)), keyed('k', movement(1)));
    expect(results.map(({ statusCode }) => statusCode)).toEqual([200, 409, 200]);
    expect(results[1]).toMatchObject({
      message: 'The idempotencyKey "k" was already used for a different line.',
    });
    expect(await stock()).toMatchObject({ available: '11' });
  });

  test('a key accepts another spelling of its line: field order, a decimal, a null', async () => {
    const { operation, body } = movement('1.5');
    const spelled = {
      operation,
      body: { note: null, ...Object.fromEntries(Object.entries(body).reverse()), count: '1.50' },
    };
    const number = { operation, body: { ...body, count: 1.5 } };
    const results = await send(keyed('k', movement('1.5')), keyed('k', spelled), keyed('k', number));
    expect(results.map(({ statusCode, repeated }) => [statusCode, repeated])).toEqual([
      [200, undefined],
      [200, true],
      [200, true],
    ]);
    const other = keyed('k', { operation, body: { ...body, count: '1.5', note: 'another' } });
    expect(await send(other)).toMatchObject([{ statusCode: 409 }]);
  });

  test('a key of a failed line is free', async () => {
    const line = keyed('k', movement(-20));
    expect(await send(line)).toMatchObject([{ statusCode: 409, idempotencyKey: 'k' }]);
    expect(await send(movement(20), line)).toMatchObject([{ statusCode: 200 }, { statusCode: 200, line: 2 }]);
  });

  test('a key belongs to its e-shop, and expires after 30 days', async () => {
    await send(keyed('k', movement(1)));
    eshop = await api.newEshop();
    await stockedProduct(eshop, 'TEA', '10');
    expect(await send(keyed('k', movement(1)))).toMatchObject([{ message: 'Stock movement recorded.' }]);
    await api.sql`update import_keys set created_at = now() - interval '29 days' where eshop_id = ${eshop.eshopId}`;
    expect(await send(keyed('k', movement(1)))).toMatchObject([{ repeated: true }]);
    await api.sql`update import_keys set created_at = now() - interval '31 days' where eshop_id = ${eshop.eshopId}`;
    expect(await send(keyed('k', movement(1)))).toMatchObject([{ message: 'Stock movement recorded.' }]);
  });

  test('an expired key stays until the retention: an import does not wait for its removal', async () => {
    await api.sql`
      insert into import_keys (eshop_id, key, fingerprint, created_at)
      select ${eshop.eshopId}, 'old-' || n, '', now() - interval '31 days' from generate_series(1, 3) n`;
    await send(keyed('k', movement(1)), keyed('old-2', movement(1)));
    const rows = await api.sql<{ key: string; old: boolean }[]>`
      select key, created_at < now() - interval '30 days' as old from import_keys where eshop_id = ${eshop.eshopId} order by key`;
    expect(rows).toEqual([
      { key: 'k', old: false },
      { key: 'old-1', old: true },
      { key: 'old-2', old: false },
      { key: 'old-3', old: true },
    ]);
  });

  test('a key sent simultaneously is applied once', async () => {
    const lines = Array.from({ length: 10 }, (_, index) => keyed(`k-${index}`, movement(1)));
    const answers = await Promise.all([send(...lines), send(...lines), send(...lines)]);
    expect(answers.flat().filter(({ repeated }) => repeated === true)).toHaveLength(20);
    expect(await stock()).toMatchObject({ available: '20' });
  });
});

test('a client that disconnects leaves whole lines and a working server', async () => {
  const server = await listen(api.app, '127.0.0.1', 0);
  const gone = new AbortController();
  const headers = { ...ndjson, 'x-api-key': eshop.apiKey, authorization: eshop.warehouse.token };
  let sent = 0;
  const endless = new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      sent += 1;
      controller.enqueue(Buffer.from(`${JSON.stringify(movement(1))}\n{"operation":`));
      controller.enqueue(Buffer.from('"none"}\n'));
    },
  });
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers,
    body: endless,
    duplex: 'half',
    signal: gone.signal,
  });
  const reader = answer.body?.getReader();
  let results = '';
  while (results.split('\n').length < 200)
    results += Buffer.from((await reader?.read())?.value ?? []).toString();
  gone.abort();
  await reader?.closed.catch(() => {});
  const moved = async () => Number((await stock()).available) - 10;
  const afterwards = await until('the lines under way', async () => {
    const before = await moved();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return (await moved()) === before ? before : false;
  });
  expect(afterwards).toBeGreaterThanOrEqual(99);
  expect(afterwards).toBeLessThanOrEqual(sent);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await send(movement(1))).toMatchObject([{ statusCode: 200 }]);
  await server.close();
});

test('disabling the e-shop ends an open import: no further line is applied, and the answer ends', async () => {
  const strict = createApp({ ...api.deps, importCheckMs: 0 });
  const server = await listen(strict, '127.0.0.1', 0);
  const encoder = new TextEncoder();
  const upload = new TransformStream<Uint8Array, Uint8Array>();
  const writer = upload.writable.getWriter();
  const line = `${JSON.stringify(movement(1))}\n`;
  const answering = fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { ...ndjson, 'x-api-key': eshop.apiKey, authorization: eshop.warehouse.token },
    body: upload.readable,
    duplex: 'half',
  });
  await writer.write(encoder.encode(line));
  const reader = (await answering).body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(JSON.parse((await reader?.read())?.value ?? 'null')).toMatchObject({ line: 1, statusCode: 200 });
  expect(await setDisabled(api.sql, eshop.eshopId, true)).toBe(true);
  await writer.write(encoder.encode(line.repeat(3)));
  // The body stays open: the service ends the answer.
  let rest = '';
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) rest += part.value;
  const results = rest
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(results).toMatchObject(
    [2, 3, 4].map((number) => ({ line: number, statusCode: 401, error: 'Unauthorized' })),
  );
  await writer.close().catch(() => {});
  const rows =
    await api.sql`select count(*)::int as lines from stock_movements where eshop_id = ${eshop.eshopId}
    and count = 1`;
  expect(rows).toEqual([{ lines: 1 }]);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  await server.close();
});

describe('the request', () => {
  test('an import must be NDJSON and come from the warehouse', async () => {
    const line = JSON.stringify(movement(1));
    expect((await eshop.warehouse.request('POST', path, line)).status).toBe(415);
    expect((await eshop.shop.request('POST', path, line, ndjson)).status).toBe(403);
    expect((await api.anonymous('POST', path, line, ndjson)).status).toBe(401);
    expect((await eshop.warehouse.request('GET', path)).status).toBe(405);
  });
});
