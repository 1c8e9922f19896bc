/** The rows that writes of records read where plans were made while the tables were empty, as on the first day. */
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { createPool } from '../../../src/db/connection/pool.ts';
import { createInserter } from '../../../src/db/records/insert.ts';
import { orders } from '../../../src/db/records/orders.ts';
import { products } from '../../../src/db/records/products.ts';
import { createMovement } from '../../../src/db/records/stock-movements.ts';
import { changeRecord, create } from '../../../src/db/records/write.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import type { OrderRecord } from '../../../src/domain/order/schema.ts';
import { sampleProduct } from '../../../src/domain/product/schema.ts';
import { newMovement } from '../../../src/domain/stock/movement.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';

const RECORDS = 100;
const tables = ['orders', 'order_products', 'products'];

test('a write reads its own records by key, not all records of the e-shop', async ({ onTestFinished }) => {
  const { sql, url } = await databaseOfTest();
  for (const table of tables) await sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  // All plans are those of one session.
  const one = createPool(url, 1);
  onTestFinished(() => one.end());
  const read = async (table: string) => {
    await one`select pg_stat_force_next_flush()`;
    const [row] = await one<{ read: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname = ${table}`;
    return row?.read ?? Number.NaN;
  };

  const [line] = sampleOrder.orderProducts;
  if (line === undefined) throw new Error('The sample has no line.');
  /** Each kind of write once, with the number of a record. */
  const write = async (number: number) => {
    const sku = `SKU-${number}`;
    const eshopOrderId = `order-${number}`;
    await create(one, createInserter(one), products, eshopId, 'shop', { ...sampleProduct, sku });
    const order: OrderRecord = { ...sampleOrder, eshopOrderId, status: 'preReceived' };
    await create(one, createInserter(one), orders, eshopId, 'shop', {
      ...order,
      orderProducts: [{ ...line, sku }],
    });
    const note = (before: OrderRecord) => ({ ...before, note: `Changed: ${number}.` });
    await transaction(one, (tx) => changeRecord(tx, orders, eshopId, 'shop', eshopOrderId, note));
    const movement = newMovement({ type: 'stock_correction', sku, count: '1' });
    await transaction(one, (tx) => createMovement(tx, eshopId, 'warehouse', movement));
  };
  for (let number = 0; number < RECORDS; number += 1) await write(number);

  const before = await Promise.all(tables.map(read));
  await write(RECORDS);
  for (const [index, table] of tables.entries()) {
    const fetched = (await read(table)) - (before[index] ?? 0);
    expect(fetched, table).toBeGreaterThan(0);
    expect(fetched, table).toBeLessThan(20);
  }
});
