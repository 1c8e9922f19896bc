/**
 * Bodies that are large within the 1 MiB: lists that are too long, endless problems, records that grow.
 */
import { describe, expect, test } from 'vitest';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);
await api.shop('POST', '/v21/orders', minimalOrder('big'));
await api.shop('POST', '/v21/receivings', {
  eshopReceivingId: 'big',
  supplier: 'S',
  products: [{ sku: 'TEA', quantity: 1 }],
});
await api.shop('POST', '/v21/returns', {
  eshopReturnId: 'big',
  returnedOrderProducts: [{ sku: 'TEA', quantity: 1 }],
});

// biome-ignore lint/suspicious/noExplicitAny: the document as any tool would see it
type Json = any;

interface FoundList {
  readonly operation: string;
  /** The path from the body to the list; `orderProducts.0` stands for an item of a list. */
  readonly path: readonly string[];
  readonly maxItems: unknown;
}

/** Every list in a schema, including those in the items of lists. */
function listsOf(document: Json, schema: Json, operation: string, path: readonly string[] = []): FoundList[] {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1);
    return listsOf(document, document.components.schemas[name], operation, path);
  }
  const ways: Json[] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [
    ...(schema.type === 'array' ? [{ operation, path, maxItems: schema.maxItems }] : []),
    ...(schema.items === undefined ? [] : listsOf(document, schema.items, operation, itemOf(path))),
    ...ways.flatMap((way) => listsOf(document, way, operation, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
      listsOf(document, field, operation, [...path, name]),
    ),
  ];
}

function itemOf(path: readonly string[]): readonly string[] {
  return path.map((name, index) => (index === path.length - 1 ? `${name}.0` : name));
}

async function requestLists(): Promise<FoundList[]> {
  const document = JSON.parse((await api.anonymous('GET', '/openapi.json')).text);
  return Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
    Object.entries<Json>(operations).flatMap(([method, { requestBody, parameters = [] }]) => [
      ...Object.values<Json>(requestBody?.content ?? {}).flatMap(({ schema }) =>
        listsOf(document, schema, `${method.toUpperCase()} ${path}`),
      ),
      ...parameters.flatMap(({ schema }: Json) => listsOf(document, schema, `${method} ${path}`)),
    ]),
  );
}

test('every list in a request has a maximum length in the OpenAPI document', async () => {
  const found = await requestLists();
  expect(found.filter(({ maxItems }) => typeof maxItems !== 'number')).toEqual([]);
  const names = new Set(found.map(({ path }) => path.at(-1)));
  expect(names).toEqual(
    new Set([
      'orderProducts',
      'packingLists',
      'serialNumbers',
      'trackingNumbers',
      'orderFiles',
      'products',
      'packagings',
      'returnedOrderProducts',
      'include',
      'additionalTypes',
      'emails',
    ]),
  );
});

/** A body with this many useless items in the list at the path. */
function bodyWith(path: readonly string[], count: number): Json {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return { [name]: Array.from({ length: count }, () => ({})) };
  const inner = bodyWith(rest, count);
  return name.endsWith('.0') ? { [name.slice(0, -2)]: [inner] } : { [name]: inner };
}

test('a list that is too long is refused by its length, whatever its items are', async () => {
  const lists = (await requestLists()).filter(({ operation }) => !operation.includes('/import'));
  expect(lists.length).toBeGreaterThan(20);
  for (const { operation, path, maxItems } of lists) {
    const [method = '', template = ''] = operation.split(' ');
    const request = template.startsWith('/v21/warehouse/') ? api.warehouse : api.shop;
    const answer = await request(
      method,
      template.replace(/\{\w+\}/, template.includes('/webhooks/') ? '1' : 'big'),
      bodyWith(path, Number(maxItems) + 1),
    );
    expect(answer.status, `${operation} ${path}: ${answer.text.slice(0, 200)}`).toBe(400);
    const at = path.join('.');
    expect(answer.body.message).toContain(`${at}: must have at most ${maxItems} `);
    expect(answer.body.message).not.toContain(`${at}.0.`);
  }
});

describe('the number of problems', () => {
  test.each([
    ['POST', '/v21/orders', 'shop', () => ({ eshopOrderId: 'x', orderProducts: items(1000) })],
    [
      'POST',
      '/v21/receivings',
      'shop',
      () => ({ eshopReceivingId: 'x', supplier: 'S', products: items(1000) }),
    ],
    ['PATCH', '/v21/returns/big', 'shop', () => ({ returnedOrderProducts: items(1000) })],
    [
      'PUT',
      '/v21/warehouse/orders/big/packing-lists',
      'warehouse',
      () => ({
        orderProducts: Array.from({ length: 300 }, () => ({ sku: 'TEA', packingLists: items(1000) })),
      }),
    ],
  ] as const)(
    'validation stops soon after the reported problems: %s %s',
    async (method, path, user, body) => {
      const answer = await api[user](method, path, body());
      expect(answer.status).toBe(400);
      expect(answer.body.message).toMatch(/; and at least \d+ more$/);
      expect(answer.text.length).toBeLessThan(10_000);
      // Not many more problems were found than are reported: the rest was never examined.
      expect(Number(/at least (\d+) more$/.exec(answer.body.message)?.[1])).toBeLessThan(500);
    },
  );

  test('an object with more than 250 fields is not validated further', async () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`"{${n}`, n]));
    const order = (line: object) =>
      api.shop('POST', '/v21/orders', { eshopOrderId: 'wide', orderProducts: [{ sku: 'TEA' }, line] });
    const message = 'An object in the body has more than 250 fields.';
    expect((await api.shop('POST', '/v21/orders', fields(60_000))).body).toMatchObject({
      statusCode: 400,
      message,
    });
    expect((await order(fields(251))).body.message).toBe(message);
    expect((await order(fields(250))).body.message).toMatch(
      /orderProducts.1."\{\d+: unknown field.*; and at least \d+ more$/,
    );
    const line = `{"operation":"orderStatus","id":"big","body":${JSON.stringify(fields(251))}}`;
    const { text } = await api.warehouse('POST', '/v21/warehouse/events/import', line, {
      'content-type': 'application/x-ndjson',
    });
    expect(JSON.parse(text)).toMatchObject({
      statusCode: 400,
      message: 'An object in the line has more than 250 fields.',
    });
  });
});

function items(count: number): object[] {
  return Array.from({ length: count }, () => ({}));
}

describe('the size of a record', () => {
  const lots = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      sku: 'TEA',
      quantity: 1,
      lot: `${index}`.padStart(64, 'x'),
    }));
  const note = (size: number) => 'x'.repeat(size);
  /** An order of about 245 KiB: the limit for a write is 248. */
  async function almostFull(eshopOrderId: string): Promise<void> {
    const made = await api.shop('POST', '/v21/orders', minimalOrder(eshopOrderId));
    expect(made.status).toBe(200);
    const numbers = Array.from({ length: 24 }, (_, index) => `${index}`.padStart(128, 'n'));
    const files = Array.from({ length: 100 }, (_, index) => ({
      type: 'other',
      fileName: `${index}`.padStart(255, 'f'),
      url: `https://shop.example/${'u'.repeat(2020)}`,
    }));
    const patched = await api.shop('PATCH', `/v21/orders/${eshopOrderId}`, {
      orderFiles: files,
      trackingNumbers: numbers,
    });
    expect(patched.status, patched.text.slice(0, 300)).toBe(200);
  }

  test('a record over 256 KiB cannot be created', async () => {
    const full = minimalOrder('full', { orderProducts: lots(1000), trackingNumbers: [], note: note(4000) });
    expect((await api.shop('POST', '/v21/orders', full)).status).toBe(200);
    const files = Array.from({ length: 60 }, (_, index) => ({
      type: 'other',
      fileName: `f${index}`,
      url: `https://shop.example/${'u'.repeat(2000)}`,
    }));
    const answer = await api.shop('POST', '/v21/orders', {
      ...full,
      eshopOrderId: 'over',
      orderFiles: files,
    });
    expect(answer.body).toMatchObject({ statusCode: 400 });
    expect(answer.body.message).toMatch(/^The order would be \d+ KiB as JSON, but may be at most 248 KiB/);
    expect((await api.shop('GET', '/v21/orders/over')).status).toBe(404);
  });

  test('a small change cannot push a record over 256 KiB', async () => {
    await almostFull('almost');
    const { data: before } = await api.shop('GET', '/v21/orders/almost');
    expect((await api.shop('PATCH', '/v21/orders/almost', { note: note(4000) })).status).toBe(200);
    const refused = await api.shop('PATCH', '/v21/orders/almost', {
      trackingNumbers: Array.from({ length: 300 }, (_, index) => `${index}`.padStart(128, 'n')),
    });
    expect(refused.body.message).toMatch(/^The order would be \d+ KiB as JSON/);
    expect((await api.shop('GET', '/v21/orders/almost')).data).toMatchObject({
      trackingNumbers: before.trackingNumbers,
    });
  });

  test('packing lists cannot push a record over 256 KiB', async () => {
    const packingLists = Array.from({ length: 1000 }, (_, index) => ({
      packageNumber: index + 1,
      quantity: 1,
      lot: 'x'.repeat(64),
      trackingNumber: 'n'.repeat(128),
    }));
    const answer = await api.warehouse('PUT', '/v21/warehouse/orders/big/packing-lists', {
      orderProducts: [{ sku: 'TEA', packingLists }],
    });
    expect(answer.body.message).toMatch(/^The order would be \d+ KiB as JSON/);
  });

  test('an almost full record can still change its status', async () => {
    await almostFull('moving');
    for (const status of ['received', 'suspended', 'received', 'processing', 'canceled']) {
      const moved = await api.warehouse('PUT', '/v21/warehouse/orders/moving/status', { status });
      expect(moved.status, moved.text.slice(0, 200)).toBe(200);
    }
  });
});

describe('field names that every object inherits', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];
  test.each(names)('%s is an unknown field of a body', async (name) => {
    const product = (field: string) => `{"sku":"inherited","name":"N",${field}}`;
    const line = `{"sku":"TEA","quantity":1,"${name}":{}}`;
    for (const [path, body, at] of [
      ['/v21/products', product(`"${name}":{"a":1}`), name],
      ['/v21/orders', `{"eshopOrderId":"i","orderProducts":[${line}]}`, `orderProducts.0.${name}`],
    ] as const) {
      const answer = await api.shop('POST', path, body);
      expect(answer.body, path).toMatchObject({
        statusCode: 400,
        message: expect.stringContaining(`${at}: unknown field`),
      });
    }
  });

  test('inherited names are unknown fields of queries and import lines, too', async () => {
    for (const name of names) {
      expect((await api.shop('GET', `/v21/orders?${name}=1`)).body.message, name).toBe(
        `${name}: unknown field`,
      );
    }
    const line = '{"operation":"orderStatus","id":"big","body":{"status":"received","__proto__":{}}}';
    const { text } = await api.warehouse('POST', '/v21/warehouse/events/import', line, {
      'content-type': 'application/x-ndjson',
    });
    expect(JSON.parse(text)).toMatchObject({ statusCode: 400, message: 'body.__proto__: unknown field' });
  });
});

describe('long lists', () => {
  /** Makes this many copies of an order, with a note of this length. */
  async function copies(count: number, noteLength: number): Promise<void> {
    await api.database.sql`
      insert into orders
      select copy.* from orders o, generate_series(1, ${count}::int) n,
        jsonb_populate_record(o, jsonb_build_object(
          'eshop_order_id', 'copy ' || lpad(n::text, 3, '0'), 'note', repeat('x', ${noteLength}),
          'created_at', now() + make_interval(secs => n))) copy
      where o.eshop_order_id = 'big' and o.eshop_id = ${api.eshop.eshopId}
      on conflict (eshop_id, eshop_order_id) do update set note = excluded.note`;
  }
  const list = (items: number) => api.shop('GET', `/v21/orders?items=${items}`);

  test('a page over 8 MiB is refused, and the response names a size that always fits', async () => {
    await copies(40, 250_000);
    const refused = await list(100);
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: 'items: the records of this page are more than 8 MiB as JSON: ask for fewer; 30 always fit.',
    });
    const fitting = await list(30);
    expect(fitting.status).toBe(200);
    expect(fitting.body.data).toHaveLength(30);
    expect(fitting.body.pagination).toMatchObject({ items: 30 });
  });

  test('a page of a hundred ordinary records is complete and in order', async () => {
    await copies(100, 10);
    const { body } = await list(100);
    const all = await api.database.sql<{ eshopOrderId: string }[]>`
      select eshop_order_id from orders where eshop_id = ${api.eshop.eshopId} order by created_at, eshop_order_id limit 100`;
    expect(body.data).toMatchObject(all.map(({ eshopOrderId }) => ({ eshopOrderId })));
  });
});
