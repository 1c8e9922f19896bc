/**
 * Any body: 200 or 400, never 500, and an accepted one reads back as in its event.
 */
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { orderRecordSchema } from '../../src/domain/order/record.ts';
import { orderEntries } from '../../src/domain/order/schema.ts';
import { productEntries } from '../../src/domain/product/schema.ts';
import { firedEvents } from '../support/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { fullOrder, stockedProducts } from '../support/orders.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

/** Values that are valid, nearly valid, or neither. */
const anyValue = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.double(),
  fc.constantFrom('', '0', '1e400', '-0.0', '2026-11-20T19:33:00Z', 'CZ', 'EUR', 1e308, -1, 2 ** 53, [], {}, [
    null,
  ]),
);

test('orders', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(orderEntries)), anyValue, async (field, value) => {
      number += 1;
      const eshopOrderId = `any-${number}`;
      const body = { ...fullOrder(eshopOrderId), [field]: value };
      const created = await api.shop('POST', '/v21/orders', body);
      expect([200, 400, 409], created.text).toContain(created.status);
      const lines = { orderProducts: [{ sku: 'TEA', quantity: 1, [field]: value, lot: value }] };
      const patched = await api.shop('PATCH', '/v21/orders/any-1', lines);
      expect([200, 400, 404], patched.text).toContain(patched.status);
      if (created.status !== 200 || field === 'eshopOrderId') return;
      const read = await api.shop('GET', `/v2/orders/${eshopOrderId}?withPackingLists=true`);
      expect(v.safeParse(orderRecordSchema('v2'), read.data).issues).toBeUndefined();
      const [event] = await firedEvents(api.sql, api.eshop.eshopId, eshopOrderId);
      expect(read.text).toContain(`"data":${event?.snapshot}`);
    }),
    { numRuns: 80 },
  );
});

test('products', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(productEntries)), anyValue, async (field, value) => {
      number += 1;
      const body = { sku: `any-${number}`, name: 'Any', [field]: value };
      const created = await api.shop('POST', '/v21/products', body);
      expect([200, 400, 409], created.text).toContain(created.status);
    }),
    { numRuns: 60 },
  );
});

test.each(['%00', '%E0%A4%A', '%ED%A0%80', 'x'.repeat(65), '%'])('a path of %s is no order', async (id) => {
  for (const path of [`/v21/orders/${id}`, `/v2/products/${id}`]) {
    expect([400, 404]).toContain((await api.shop('GET', path)).status);
  }
});
