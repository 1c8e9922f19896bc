/** Webhooks that ask for changes to stock alone (docs/interface.md, E10). */
import { describe, expect, test } from 'vitest';
import { stageMovement } from '../../src/db/records/stock-movements.ts';
import { inUnitOfWork } from '../../src/db/records/unit-of-work.ts';
import { transaction } from '../../src/db/transaction.ts';
import type { TestEshop } from '../support/api/api.ts';
import { minimalOrder, stockedProduct } from '../support/api/orders.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();

async function webhook({ shop }: TestEshop, more: object = {}): Promise<number> {
  const { status, data, text } = await shop.request('POST', '/v21/webhooks', {
    url: 'https://shop.example/hooks',
    webhookType: 'UPDATE_PRODUCT',
    active: true,
    method: 'POST',
    ...more,
  });
  expect(status, text).toBe(200);
  return data.id;
}
const asking = { parameters: { onStockChange: true } };

interface Shown {
  readonly id: string;
  readonly webhookType: string;
  readonly origin: string;
  readonly changed: string | null;
  readonly sequence: number;
  readonly webhooks: {
    webhookId: number;
    deliveryId: string | null;
    cause: string | null;
    reason: string | null;
  }[];
}

/** The events of a product, oldest first. */
async function eventsOf({ shop }: TestEshop, sku: string): Promise<Shown[]> {
  return (await shop.request('GET', `/v21/events?entityId=${sku}&items=100`)).data.toReversed();
}
const said = (events: readonly Shown[]) =>
  events.map(({ origin, changed }) => `${origin} ${changed ?? 'created'}`);

async function send({ warehouse }: TestEshop, lines: readonly object[]): Promise<object[]> {
  const { text } = await warehouse.request(
    'POST',
    '/v21/warehouse/events/import',
    lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    { 'content-type': 'application/x-ndjson' },
  );
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
const movement = (sku: string, count: number) => ({
  operation: 'stockMovement',
  body: { type: 'stock_correction', sku, count },
});
const empty = { lot: null, expirationDate: null, reference: null, note: null };

test('every kind of stock change fires one event with the current product, for webhooks that ask', async () => {
  const eshop = await api.newEshop();
  const { shop, warehouse } = eshop;
  const [plain, asks] = [await webhook(eshop), await webhook(eshop, { ...asking, payloadVersion: 'v21' })];
  const sku = await stockedProduct(eshop, 'TEA', '10');
  const order = (id: string, status: string) =>
    warehouse.request('PUT', `/v21/warehouse/orders/${id}/status`, { status });
  const receiving = (status: string) =>
    warehouse.request('PUT', '/v21/warehouse/receivings/R-1/status', { status });
  const back = (status: string) => warehouse.request('PUT', '/v21/warehouse/returns/B-1/status', { status });
  const move = (type: string) =>
    warehouse.request('POST', '/v21/warehouse/stock-movements', { type, sku, count: 2 });
  for (const id of ['1', '2']) await shop.request('POST', '/v21/orders', minimalOrder(id));
  const steps: [string, () => Promise<{ readonly status: number }>, string, string][] = [
    ['hold', () => move('quality_hold'), 'warehouse', '8 0 2 0'],
    ['release of the hold', () => move('quality_release'), 'warehouse', '10 0 0 0'],
    ['reservation', () => order('1', 'received'), 'warehouse', '9 1 0 0'],
    ['release of the reservation', () => shop.request('POST', '/v21/orders/1/cancel'), 'shop', '10 0 0 0'],
    ['reservation again', () => order('2', 'received'), 'warehouse', '9 1 0 0'],
    [
      'announcement',
      () =>
        shop.request('POST', '/v21/receivings', {
          eshopReceivingId: 'R-1',
          supplier: 'x',
          products: [{ sku, quantity: 5 }],
        }),
      'shop',
      '9 1 0 5',
    ],
    [
      'goods received',
      async () =>
        [await receiving('arrived'), await receiving('received'), await receiving('stocked')][2] ?? {
          status: 0,
        },
      'warehouse',
      '14 1 0 0',
    ],
    [
      'order leaves',
      async () => {
        for (const status of ['processing', 'packed', 'waitingForCarrier']) await order('2', status);
        return order('2', 'onTheWay');
      },
      'warehouse',
      '14 0 0 0',
    ],
    [
      'return',
      async () => {
        await shop.request('POST', '/v21/returns', {
          eshopReturnId: 'B-1',
          eshopOrderId: '2',
          returnedOrderProducts: [{ sku, quantity: 1, returnReason: 'unwanted' }],
        });
        for (const status of ['arrived', 'processing']) await back(status);
        return back('completed');
      },
      'warehouse',
      '15 0 0 0',
    ],
  ];
  for (const [what, step, origin, stock] of steps) {
    const before = await eventsOf(eshop, sku);
    expect((await step()).status, what).toBe(200);
    const events = await eventsOf(eshop, sku);
    expect(events.length - before.length, what).toBe(1);
    const event = events.at(-1);
    expect(event, what).toMatchObject({
      webhookType: 'UPDATE_PRODUCT',
      origin,
      changed: 'stock',
      sequence: (before.at(-1)?.sequence ?? 0) + 1,
    });
    const [at] = event?.webhooks.filter(({ webhookId }) => webhookId === asks) ?? [];
    const payload = await shop.request('GET', `/v21/deliveries/${at?.deliveryId}/payload`);
    const read = await shop.request('GET', `/v21/products/${sku}`);
    expect(payload.data, what).toEqual(read.data);
    expect(Object.values(payload.data.stock).join(' '), what).toBe(stock);
    expect(
      event?.webhooks.find(({ webhookId }) => webhookId === plain),
      what,
    ).toMatchObject({
      deliveryId: null,
      cause: 'stockOnly',
      reason: `Webhook ${plain} did not ask for changes to stock alone.`,
    });
  }
  // Another change is for both.
  await shop.request('PATCH', `/v21/products/${sku}`, { name: 'Tea' });
  expect((await eventsOf(eshop, sku)).at(-1)).toMatchObject({
    changed: 'name',
    webhooks: [{ cause: null }, { cause: null }],
  });
});

test('no event fires and no number is taken if no webhook of the e-shop asks', async () => {
  const [eshop, other] = [await api.newEshop(), await api.newEshop()];
  await webhook(eshop);
  await webhook(other, asking);
  const sku = await stockedProduct(eshop, 'CUP', '3');
  expect(said(await eventsOf(eshop, sku))).toEqual(['shop created']);
  await eshop.shop.request('PATCH', `/v21/products/${sku}`, { name: 'Cup' });
  expect((await eventsOf(eshop, sku)).at(-1)).toMatchObject({ changed: 'name', sequence: 2 });
});

test('a transaction fires one event per product, and none if its stock ends unchanged', async () => {
  const eshop = await api.newEshop();
  await webhook(eshop, asking);
  for (const sku of ['A', 'B']) await stockedProduct(eshop, sku, '5');
  await transaction(api.sql, (tx) =>
    inUnitOfWork(tx, eshop.eshopId, 'warehouse', async (work) => {
      for (const [sku, type, count] of [
        ['A', 'stock_correction', '1'],
        ['B', 'quality_hold', '2'],
        ['A', 'stock_correction', '2'],
        ['B', 'quality_release', '2'],
      ] as const)
        await stageMovement(work, { ...empty, type, sku, count });
    }),
  );
  const [b, a] = [await eventsOf(eshop, 'B'), await eventsOf(eshop, 'A')];
  expect([said(a), said(b)]).toEqual([
    ['shop created', 'warehouse stock', 'warehouse stock'],
    ['shop created', 'warehouse stock'],
  ]);
  const { data } = await eshop.shop.request('GET', `/v21/events/${a.at(-1)?.id}`);
  expect(data.record.stock.available).toBe(8);
});

test('refused import lines change nothing, and the newest event has the current product', async () => {
  const eshop = await api.newEshop();
  await webhook(eshop, { ...asking, ordering: 'latest' });
  for (const sku of ['A', 'C']) await stockedProduct(eshop, sku, '5');
  const results = await send(eshop, [
    ...[1, 2, 3].map((count) => movement('A', count)),
    movement('C', -9),
    movement('unknown', 1),
  ]);
  expect(results.map((result) => Reflect.get(result, 'statusCode'))).toEqual([200, 200, 200, 409, 400]);
  expect(said(await eventsOf(eshop, 'C'))).toEqual(['shop created', 'warehouse stock']);
  const newest = (await eventsOf(eshop, 'A')).at(-1);
  expect(newest).toMatchObject({ origin: 'warehouse', changed: 'stock' });
  const { data } = await eshop.shop.request('GET', `/v21/events/${newest?.id}`);
  expect(data.record).toEqual((await eshop.shop.request('GET', '/v21/products/A')).data);
});

describe('missed events', () => {
  test('a webhook missed only what it had asked for at that time', async () => {
    const eshop = await api.newEshop();
    const { shop, warehouse } = eshop;
    const id = await webhook(eshop, asking);
    const plain = await webhook(eshop);
    const sku = await stockedProduct(eshop, 'TEA', '10');
    const move = () =>
      warehouse.request('POST', '/v21/warehouse/stock-movements', {
        type: 'stock_correction',
        sku,
        count: 1,
      });
    for (const each of [id, plain]) await shop.request('PUT', `/v21/webhooks/${each}/deactivate`);
    const since = (await shop.request('GET', `/v21/webhooks/${id}`)).data.unregisteredAt;
    await move();
    const event = (await eventsOf(eshop, sku)).at(-1);
    expect(event?.webhooks).toMatchObject([
      { webhookId: id, cause: 'deactivatedByUser' },
      { webhookId: plain, cause: 'stockOnly' },
    ]);
    // It wants them no longer, and then again: what was missed then, it had not asked for.
    const body = {
      url: 'https://shop.example/',
      webhookType: 'UPDATE_PRODUCT',
      active: false,
      method: 'POST',
    };
    await webhook(eshop, { ...asking, active: false });
    await shop.request('PUT', `/v21/webhooks/${id}`, body);
    await move();
    await shop.request('PUT', `/v21/webhooks/${id}`, { ...body, ...asking });
    await move();
    for (const [each, count] of [
      [id, 2],
      [plain, 0],
    ] as const) {
      const { data } = await shop.request('PUT', `/v21/webhooks/${each}/activate`);
      expect(data.missed.count).toBe(count);
      const { data: dry } = await shop.request('POST', `/v21/webhooks/${each}/recover`, {
        since,
        dryRun: true,
      });
      expect(dry.count).toBe(count);
    }
  });
});
