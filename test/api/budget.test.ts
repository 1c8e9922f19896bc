/**
 * The budget of one e-shop: many requests of one e-shop delay only that e-shop.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { BudgetLimits } from '../../src/api/budget/allowance.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { createTestApi, type TestApi, type TestEshop } from '../support/api/api.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { insertWebhook } from '../support/database/events.ts';
import { untilBlocked } from '../support/database/lock-waits.ts';
import { later } from '../support/later.ts';

const MIB = 1024 * 1024;
const generous = { requests: 200, connections: 4, allConnections: 6, bytesPerSecond: 32 * MIB };
let api: TestApi | undefined;
afterEach(async () => {
  await api?.drop();
  api = undefined;
});

interface Two {
  readonly api: TestApi;
  readonly busy: TestEshop;
  readonly other: TestEshop;
}

async function twoEshops(budget: Partial<BudgetLimits> = {}): Promise<Two> {
  api = await createTestApi({ budget: { ...generous, ...budget } });
  await stockedProducts(api.eshop);
  const other = await api.newEshop();
  expect((await api.shop('POST', '/v21/orders', minimalOrder('locked'))).status).toBe(200);
  return { api, busy: api.eshop, other };
}

/** As its `RateLimit` header says. */
const bytesLeft = ({ headers }: { readonly headers: Headers }) =>
  Number(/"bytes";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

/** Keeps the order locked until it is released: every write to it waits in the database. */
async function lockOrder({ api, busy }: Two): Promise<() => Promise<void>> {
  const [held, release] = later();
  const [ready, locked] = later();
  const sql = createPool(api.database.url, 1);
  const transaction = sql.begin(async (tx) => {
    await tx`select from orders where eshop_id = ${busy.eshopId} for update`;
    locked();
    await held;
  });
  await ready;
  return async () => {
    release();
    await transaction;
    await sql.end();
  };
}

/** Sends this many patches of the locked order at once. */
function patches({ busy }: Two, count: number) {
  const answers = Array.from({ length: count }, (_, index) =>
    busy.shop.request('PATCH', '/v21/orders/locked', { note: `${index}` }),
  );
  let answered = 0;
  for (const answer of answers) {
    void answer.then(() => {
      answered += 1;
    });
  }
  return { all: Promise.all(answers), answered: () => answered };
}

test('a hundred blocked writes of one e-shop leave connections to another', async () => {
  const two = await twoEshops();
  const release = await lockOrder(two);
  const busy = patches(two, 100);
  await untilBlocked(two.api.sql, generous.connections);
  for (let i = 0; i < 5; i++) {
    expect((await two.other.shop.request('GET', '/v21/orders')).status).toBe(200);
  }
  // The busy e-shop still waits: the other e-shop did not wait for it.
  expect(busy.answered()).toBe(0);
  const rows = await two.api.sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  expect(rows).toHaveLength(generous.connections);
  await release();
  expect(new Set((await busy.all).map(({ status }) => status))).toEqual(new Set([200]));
});

test('readyz has a connection of its own', async () => {
  api = await createTestApi();
  const { sql, anonymous } = api;
  const [held, release] = later();
  // Every connection of the pool is taken, and more work waits for one.
  const taken = Array.from({ length: sql.options.max }, () =>
    sql.begin(async (tx) => {
      await tx`select`;
      await held;
    }),
  );
  let free = false;
  const waiting = sql`select`.then(() => {
    free = true;
  });
  const ready = await anonymous('GET', '/readyz');
  expect([ready.status, free]).toEqual([200, false]);
  release();
  await Promise.all([...taken, waiting]);
});

describe('concurrent requests', () => {
  test('requests beyond the budget get 429 and rate-limit headers; other e-shops are not affected', async () => {
    const two = await twoEshops({ requests: 5 });
    const release = await lockOrder(two);
    const first = patches(two, 5);
    await untilBlocked(two.api.sql, generous.connections);
    const refused = await two.busy.shop.request('GET', '/v21/orders/locked');
    expect(refused.body).toMatchObject({ statusCode: 429, error: 'Too Many Requests' });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toMatch(/^"requests";r=0, "bytes";r=\d+;t=\d+$/);
    expect(refused.headers.get('ratelimit-policy')).toBe(
      `"requests";q=5;qu="concurrent-requests", "bytes";q=${320 * MIB};qu="content-bytes";w=10`,
    );
    const other = await two.other.shop.request('GET', '/v21/orders');
    expect(other.status).toBe(200);
    expect(other.headers.get('ratelimit')).toMatch(/^"requests";r=4, "bytes";/);
    const missing = await two.other.shop.request('GET', '/v21/orders/none');
    expect(missing.status).toBe(404);
    expect(missing.headers.get('ratelimit')).toMatch(/^"requests";r=4, "bytes";/);
    await release();
    expect((await first.all).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await two.busy.shop.request('GET', '/v21/orders/locked')).status).toBe(200);
  });

  test('fifty connections at full speed stay within the budget', async () => {
    api = await createTestApi();
    const { shop } = api;
    const statuses = new Set<number>();
    await Promise.all(
      Array.from({ length: 50 }, async (_, connection) => {
        for (let i = 0; i < 3; i++) {
          const sku = `s-${connection}-${i}`;
          statuses.add((await shop('POST', '/v21/products', { sku, name: sku })).status);
          statuses.add((await shop('GET', '/v21/products')).status);
        }
      }),
    );
    expect(statuses).toEqual(new Set([200]));
  });
});

describe('bytes', () => {
  test('after too many received bytes, requests are refused until the announced time', async () => {
    const two = await twoEshops({ bytesPerSecond: 10_000 });
    const body = { sku: 'P', name: 'P', note: 'x'.repeat(4000) };
    const answers = [];
    for (let i = 0; i < 40; i++) answers.push(await two.busy.shop.request('PUT', '/v21/products/TEA', body));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    const wait = Number(refused[0]?.headers.get('retry-after'));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(10);
    expect(refused[0]?.headers.get('ratelimit')).toBe(`"requests";r=200, "bytes";r=0;t=${wait}`);
    expect((await two.other.shop.request('GET', '/v21/orders')).status).toBe(200);
  });

  test('sent bytes count, too', async () => {
    const { busy } = await twoEshops({ bytesPerSecond: 4_000 });
    const statuses = [];
    for (let i = 0; i < 160; i++) statuses.push((await busy.shop.request('GET', '/v21/orders')).status);
    expect(statuses[0]).toBe(200);
    expect(statuses).toContain(429);
  });
});

test('a body that is slow to check costs more than its bytes', async () => {
  const { busy } = await twoEshops({ bytesPerSecond: 1024 * MIB });
  const left = async () => bytesLeft(await busy.shop.request('GET', '/v21/orders'));
  const before = await left();
  const orderProducts = Array.from({ length: 100_000 }, () => ({ a: 1 }));
  const refused = await busy.shop.request('POST', '/v21/orders', { eshopOrderId: 'slow', orderProducts });
  expect(refused.status).toBe(400);
  expect(before - (await left())).toBeGreaterThan(10 * MIB);
});

test('bodies admitted together are refused once those before them have used up the bytes', async () => {
  const { busy } = await twoEshops({ bytesPerSecond: 10_000, connections: 1 });
  const body = { sku: 'P', name: 'P', note: 'x'.repeat(30_000) };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => busy.shop.request('PUT', '/v21/products/TEA', body)),
  );
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(10);
});

test('a change also costs the bytes of the deliveries that it causes', async () => {
  const two = await twoEshops({ bytesPerSecond: 20_000 });
  const { shop } = two.busy;
  const note = 'x'.repeat(4_000);
  expect((await shop.request('PUT', '/v21/products/TEA', { sku: 'TEA', name: 'Tea', note })).status).toBe(
    200,
  );
  const change = (name: string) => shop.request('PATCH', '/v21/products/TEA', { name });
  for (let n = 0; n < 10; n += 1) expect((await change(`without webhooks ${n}`)).status).toBe(200);
  for (let n = 0; n < 50; n += 1) await insertWebhook(two.api.sql, two.busy.eshopId, 'UPDATE_PRODUCT');
  expect((await change('with many webhooks')).status).toBe(200);
  // If the period of its bytes ends just then, this change uses up the next one.
  const later = [await change('and once more'), await change('and again')].map(({ status }) => status);
  expect(later).toContain(429);
  expect((await two.other.shop.request('GET', '/v21/orders')).status).toBe(200);
});

describe('imports', () => {
  const path = '/v21/warehouse/events/import';
  const ndjson = { 'content-type': 'application/x-ndjson' };
  const rubbish = (lines: number) => 'x\n'.repeat(lines);
  /** Lines that query the database and find nothing. */
  const lookUps = (lines: number) =>
    Array.from(
      { length: lines },
      (_, index) => `{"operation":"orderStatus","id":"none-${index}","body":{"status":"received"}}\n`,
    ).join('');

  let shared: TestApi;
  beforeAll(async () => {
    shared = await createTestApi();
  });
  afterAll(() => shared.drop());

  test('an import of thousands of invalid lines lets other work run in between', async () => {
    const { eshop, app } = shared;
    const response = await app.request(path, {
      method: 'POST',
      headers: { ...ndjson, 'x-api-key': eshop.apiKey, authorization: eshop.warehouse.token },
      body: rubbish(4_000),
    });
    let results = 0;
    let before = 0;
    let most = 0;
    let reading = true;
    // A health check waits for all that is done between two rounds of the event loop.
    const look = () => {
      most = Math.max(most, results - before);
      before = results;
      if (reading) setImmediate(look);
    };
    setImmediate(look);
    const reader = response.body?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      for (const byte of value) if (byte === 0x0a) results += 1;
    }
    reading = false;
    // The lines since the last look count too: they may be all of them.
    most = Math.max(most, results - before);
    expect(results).toBe(4_000);
    // How many fit between two looks depends on the machine; without any look it would be all of them.
    expect(most).toBeLessThan(2_000);
  });

  test('an import pays for a line that is slow to check', async () => {
    const { api, busy } = await twoEshops({ bytesPerSecond: 1024 * MIB });
    const left = async () => bytesLeft(await busy.shop.request('GET', '/v21/orders'));
    const before = await left();
    const nested = `${'['.repeat(26)}${']'.repeat(26)},`.repeat(19_000);
    const line = `{"operation":"receivingLines","id":"R","body":{"products":[${nested}1]}}`;
    const headers = { ...ndjson, 'x-api-key': busy.apiKey, authorization: busy.warehouse.token };
    const response = await api.app.request(path, { method: 'POST', headers, body: line });
    expect(await response.text()).toContain('"statusCode":400');
    expect(before - (await left())).toBeGreaterThan(10 * MIB);
  });

  test('imports of one e-shop take turns with those of another', async () => {
    const busy = await shared.newEshop();
    const other = await shared.newEshop();
    const send = (eshop: TestEshop, lines: number) =>
      eshop.warehouse.request('POST', path, lookUps(lines), ndjson);
    let ended = 0;
    const answers = Promise.all(
      Array.from({ length: 30 }, () =>
        send(busy, 15).then(() => {
          ended += 1;
        }),
      ),
    );
    const answer = await send(other, 15);
    expect(answer.text.split('\n')).toHaveLength(16);
    // By now the busy e-shop has about as many lines, or a few more on a busy machine; but not all that came first.
    expect(ended).toBeLessThan(25);
    await answers;
    expect(ended).toBe(30);
  });

  test('an import counts as a concurrent request until its end', async () => {
    const two = await twoEshops({ requests: 1 });
    let end = () => {};
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(rubbish(1)));
        end = () => controller.close();
      },
    });
    const headers = { ...ndjson, 'x-api-key': two.busy.apiKey, authorization: two.busy.warehouse.token };
    const init = { method: 'POST', headers, body, duplex: 'half' as const };
    const response = await two.api.app.request(path, init);
    expect((await two.busy.shop.request('GET', '/v21/orders')).status).toBe(429);
    end();
    await response.text();
    expect((await two.busy.shop.request('GET', '/v21/orders')).status).toBe(200);
  });
});
