/**
 * Orders through HTTP: what is written is what is read, in both versions, and every write is all or nothing.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../support/api.ts';
import { minimalOrder } from '../support/orders.ts';

let api: TestApi;

beforeAll(async () => {
  api = await createTestApi();
  for (const sku of ['TEA', 'CUP']) await api.shop('POST', '/v21/products', { sku, name: sku });
});
afterAll(() => api.drop());

test('a minimal order gets its defaults, its history and nulls', async () => {
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
