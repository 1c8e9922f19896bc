/**
 * Orders over HTTP: they read back as written, in both versions.
 */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { orderRecordSchema } from '../../src/domain/order/record.ts';
import { render } from '../../src/domain/render.ts';
import { fullOrder, minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { firedEvents } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

describe('creation', () => {
  test('a minimal order gets defaults, a history and nulls', async () => {
    const created = await api.shop('POST', '/v21/orders', minimalOrder('min-1'));
    expect(created.body).toMatchObject({ statusCode: 200, message: 'Order created.' });
    expect(created.data).toMatchObject({
      eshopOrderId: 'min-1',
      status: 'preReceived',
      orderType: 'b2c',
      paid: false,
      priority: 0,
      releaseAt: null,
      recipientName: null,
      trackingNumbers: [],
      orderFiles: [],
      orderProducts: [{ sku: 'TEA', quantity: 1, unitPrice: null, vatRate: null, lot: null }],
      deliveredAt: null,
      canceledAt: null,
    });
    expect(created.data.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(created.data.statusHistory).toEqual([
      { status: 'preReceived', at: created.data.createdAt, note: null },
    ]);
  });

  test('a full order reads back as written, in the forms of both versions', async () => {
    const created = await api.shop('POST', '/v21/orders', fullOrder('full-1'));
    expect(created.status, created.text).toBe(200);
    const v21 = await api.shop('GET', '/v21/orders/full-1');
    const v2 = await api.shop('GET', '/v2/orders/full-1');
    expect(v21.data).toEqual(created.data);
    expect(v21.data).toMatchObject({
      requiredExpeditionDate: '2030-01-02T01:04:05.678Z',
      cashOnDelivery: 1249.9,
      orderProducts: [
        { sku: 'TEA', quantity: 2.5, unitPrice: 349.9, vatRate: 12, lot: 'L1' },
        { sku: 'CUP', quantity: 3, unitPrice: 0.1234, vatRate: 21, lot: null },
      ],
    });
    expect(v2.data).toMatchObject({
      cashOnDelivery: '1249.90',
      priority: 1,
      paymentType: 0,
      orderProducts: [
        { sku: 'TEA', quantity: '2.5', unitPrice: '349.90', vatRate: '12' },
        { sku: 'CUP', quantity: '3', unitPrice: '0.1234', vatRate: '21' },
      ],
    });
    expect(v.safeParse(orderRecordSchema('v21'), v21.data).issues).toBeUndefined();
    expect(v.safeParse(orderRecordSchema('v2'), v2.data).issues).toBeUndefined();
    expect(v.is(orderRecordSchema('v21'), v2.data)).toBe(false);
  });

  test('an event carries the response of the read endpoint, byte for byte', async () => {
    await api.shop('POST', '/v21/orders', fullOrder('bytes-1'));
    const [event] = await firedEvents(api.sql, api.eshop.eshopId, 'bytes-1');
    for (const version of ['v2', 'v21'] as const) {
      for (const withPackingLists of [false, true]) {
        const read = await api.shop('GET', `/${version}/orders/bytes-1?withPackingLists=${withPackingLists}`);
        const payload = render(event?.snapshot ?? '', { version, withPackingLists });
        expect(read.text).toContain(`"data":${payload}`);
      }
    }
  });
});

describe('identifiers', () => {
  test.each(['a b/c', 'objednávka č. 7 / ž', '...', '%2F', '100%', '?x=1#y', '订单 1', '+', "O'Neil;--"])(
    '%s works in the path',
    async (id) => {
      expect((await api.shop('POST', '/v21/orders', minimalOrder(id))).status).toBe(200);
      const path = `/v21/orders/${encodeURIComponent(id)}`;
      expect((await api.shop('GET', path)).data?.eshopOrderId).toBe(id);
      expect((await api.shop('PATCH', path, { note: 'x' })).data?.note).toBe('x');
      const status = `${path.replace('/orders', '/warehouse/orders')}/status`;
      expect((await api.warehouse('PUT', status, { status: 'received' })).status).toBe(200);
    },
  );

  test('an order of another e-shop gets the same 404 as one that never existed', async () => {
    const other = await api.newEshop();
    await api.shop('POST', '/v21/orders', minimalOrder('mine'));
    const asked = async (path: string) => {
      const answer = await other.shop.request('GET', path);
      return { status: answer.status, message: answer.body.message.replace(/mine|never/, 'ID') };
    };
    expect(await asked('/v21/orders/mine')).toEqual(await asked('/v21/orders/never'));
    expect((await asked('/v21/orders/mine')).status).toBe(404);
  });

  test('every operation on an unknown order is a 404', async () => {
    const answers = [
      await api.shop('GET', '/v21/orders/none'),
      await api.shop('GET', '/v2/orders/none'),
      await api.shop('PUT', '/v21/orders/none', minimalOrder('none')),
      await api.shop('PATCH', '/v21/orders/none', { note: 'x' }),
      await api.shop('POST', '/v21/orders/none/release'),
      await api.shop('POST', '/v21/orders/none/cancel'),
      await api.warehouse('PUT', '/v21/warehouse/orders/none/status', { status: 'received' }),
      await api.warehouse('PUT', '/v21/warehouse/orders/none/packing-lists', { orderProducts: [] }),
    ];
    for (const answer of answers) {
      expect(answer.body).toEqual({
        statusCode: 404,
        error: 'Not Found',
        message: 'Order none does not exist.',
      });
    }
  });
});

test('orders are listed paged, filtered and in both forms', async () => {
  const eshop = await api.newEshop();
  const { shop, warehouse } = eshop;
  await stockedProducts(eshop);
  for (let index = 0; index < 5; index += 1) {
    await shop.request('POST', '/v21/orders', minimalOrder(`l-${index}`));
  }
  const ids = async (query: string) =>
    (await shop.request('GET', `/v21/orders${query}`)).data.map(
      (order: { eshopOrderId: string }) => order.eshopOrderId,
    );
  expect(await ids('')).toEqual(['l-0', 'l-1', 'l-2', 'l-3', 'l-4']);
  expect(await ids('?page=2&items=2')).toEqual(['l-2', 'l-3']);
  const page = await shop.request('GET', '/v2/orders?page=3&items=2');
  expect(page.body.pagination).toEqual({ page: 3, items: 2, totalCount: 5, totalPages: 3 });
  expect(page.data[0].orderProducts).toEqual([
    { sku: 'TEA', quantity: '1', unitPrice: null, vatRate: null, lot: null },
  ]);

  const before = (await shop.request('GET', '/v21/orders/l-2')).data;
  await new Promise((resolve) => setTimeout(resolve, 5));
  const moved = await warehouse.request('PUT', '/v21/warehouse/orders/l-1/status', { status: 'received' });
  expect(await ids('?status=received')).toEqual(['l-1']);
  expect(await ids(`?updatedSince=${moved.data.updatedAt}`)).toEqual(['l-1']);
  expect(await ids(`?createdSince=${before.createdAt}`)).toContain('l-2');
  expect(await ids('?createdSince=2100-01-01T00:00:00%2B01:00')).toEqual([]);
  expect((await shop.request('GET', '/v21/orders?status=gone')).status).toBe(400);
  expect((await shop.request('GET', '/v21/orders?createdSince=yesterday')).status).toBe(400);
});

describe('updates', () => {
  test('PUT replaces, PATCH changes the sent fields, and a record can be put back as read', async () => {
    await api.shop('POST', '/v21/orders', fullOrder('upd-1'));
    const patched = await api.shop('PATCH', '/v21/orders/upd-1', { note: 'new', recipientCity: 'Brno' });
    expect(patched.data).toMatchObject({ note: 'new', recipientCity: 'Brno', branch: 'east' });

    const count = (await firedEvents(api.sql, api.eshop.eshopId, 'upd-1')).length;
    for (const form of ['v21', 'v2']) {
      const read = await api.shop('GET', `/${form}/orders/upd-1?withPackingLists=true`);
      const back = await api.shop('PUT', '/v21/orders/upd-1', read.data);
      expect(back.status, back.text).toBe(200);
      expect(back.data.updatedAt).toBe(patched.data.updatedAt);
    }
    expect(await firedEvents(api.sql, api.eshop.eshopId, 'upd-1')).toHaveLength(count);

    const replaced = await api.shop('PUT', '/v21/orders/upd-1', {
      orderProducts: [{ sku: 'CUP', quantity: 1 }],
      status: 'delivered',
    });
    expect(replaced.data).toMatchObject({
      eshopOrderId: 'upd-1',
      status: 'preReceived',
      note: null,
      orderType: 'b2c',
      shipper: null,
      orderProducts: [{ sku: 'CUP', quantity: 1 }],
    });
    expect(replaced.data.createdAt).toBe(patched.data.createdAt);
  });
});

test('carriers are listed as in the catalogue', async () => {
  const { status, data } = await api.shop('GET', '/v2/shipper-service-codes');
  expect(status).toBe(200);
  expect(data.find((entry: { shipper: string }) => entry.shipper === 'PACKETA').services).toContainEqual({
    value: 'PACKETA_PICKUP_CZ',
    name: expect.any(String),
    countries: ['CZ'],
    pickupPoint: true,
    cashOnDelivery: true,
  });
});
