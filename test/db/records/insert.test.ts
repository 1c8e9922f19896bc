/** Records that are created in the same turn of the event loop share a statement. */
import { expect, test } from 'vitest';
import { createInserter } from '../../../src/db/records/insert.ts';
import { orders } from '../../../src/db/records/orders.ts';
import { products } from '../../../src/db/records/products.ts';
import { create } from '../../../src/db/records/write.ts';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import type { OrderRecord } from '../../../src/domain/order/schema.ts';
import { sampleProduct } from '../../../src/domain/product/schema.ts';
import { stockedProducts } from '../../support/api/orders.ts';
import { apiOfFile } from '../../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

const [line] = sampleOrder.orderProducts;
function order(eshopOrderId: string, sku = 'TEA'): OrderRecord {
  if (line === undefined) throw new Error('The sample has no line.');
  return { ...sampleOrder, eshopOrderId, status: 'preReceived', orderProducts: [{ ...line, sku }] };
}
const outcomes = async (records: readonly OrderRecord[]) => {
  const insert = createInserter(api.sql);
  const made = records.map((record) => create(api.sql, insert, orders, api.eshop.eshopId, 'shop', record));
  return (await Promise.allSettled(made)).map(({ status }) => status);
};
const transactions = async (ids: readonly string[]) => {
  const rows =
    await api.sql`select distinct xmin::text from orders where eshop_order_id = any(${[...ids]}::text[])`;
  return rows.length;
};

test('a shared statement is a single transaction', async () => {
  const ids = Array.from({ length: 10 }, (_, index) => `order-${index}`);
  expect(await outcomes(ids.map((id) => order(id)))).toEqual(ids.map(() => 'fulfilled'));
  expect(await transactions(ids)).toBe(1);
});

test('a record that the database refuses does not prevent the others', async () => {
  const made = await outcomes([order('before'), order('refused', 'NONE'), order('after')]);
  expect(made).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('only one of two records with the same identifier is created, with its own line', async () => {
  const made = await outcomes([order('twice'), order('twice'), order('beside')]);
  expect(made.toSorted()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  const rows = await api.sql`
    select o.eshop_order_id as id, count(*)::int as lines from orders o join order_products p using (eshop_id, eshop_order_id)
    where o.eshop_order_id in ('twice', 'beside') group by 1 order by 1`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { id: 'beside', lines: 1 },
    { id: 'twice', lines: 1 },
  ]);
});

test('two records of a kind without lines, with the same identifier: one is created', async () => {
  const product = { ...sampleProduct, sku: 'TWICE' };
  const insert = createInserter(api.sql);
  const made = [0, 1].map(() => create(api.sql, insert, products, api.eshop.eshopId, 'shop', product));
  const statuses = (await Promise.allSettled(made)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual(['fulfilled', 'rejected']);
});
