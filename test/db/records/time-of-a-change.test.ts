/** A change has one time, however long it takes: `updatedAt` and all times that it writes are equal. */
import { expect, test, vi } from 'vitest';
import type { EntityMapping } from '../../../src/db/records/entity-mapping.ts';
import { orders } from '../../../src/db/records/orders.ts';
import { products } from '../../../src/db/records/products.ts';
import { receivings } from '../../../src/db/records/receivings.ts';
import { returns } from '../../../src/db/records/returns.ts';
import { stageMovements } from '../../../src/db/records/stock.ts';
import { inUnitOfWork } from '../../../src/db/records/unit-of-work.ts';
import { type Change, changeRecord } from '../../../src/db/records/write.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { moveOrder } from '../../../src/domain/order/changes.ts';
import { moveReceiving } from '../../../src/domain/receiving/changes.ts';
import { moveReturn } from '../../../src/domain/return/changes.ts';
import { minimalOrder, stockedProducts } from '../../support/api/orders.ts';
import { apiOfFile } from '../../support/lifetimes.ts';
import { standStill } from '../../support/stand-still.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

const change = <Rec extends object>(mapping: EntityMapping<Rec>, id: string, by: Change<Rec>) =>
  transaction(api.sql, (tx) => changeRecord(tx, mapping, api.eshop.eshopId, 'shop', id, by));

/** Lets some milliseconds pass in the middle of a change. */
function takingLong<Rec>(after: Rec): Rec {
  standStill(5);
  return after;
}

test('the cancellation of an order has one time', async () => {
  await api.shop('POST', '/v21/orders', minimalOrder('1'));
  const order = await change(orders, '1', (before, now) =>
    takingLong(moveOrder(before, 'canceled', null, now)),
  );
  expect(order.canceledAt).toBe(order.updatedAt);
  expect(order.statusHistory.at(-1)?.at).toBe(order.updatedAt);
});

test('the arrival of a return has one time', async () => {
  const lines = [{ sku: 'TEA', quantity: 1 }];
  await api.shop('POST', '/v21/returns', { eshopReturnId: '1', returnedOrderProducts: lines });
  const record = await change(returns, '1', (before, now) =>
    takingLong(moveReturn(before, 'arrived', null, now)),
  );
  expect(record.receivedAt).toBe(record.updatedAt);
});

test('the update of a product has one time', async () => {
  let given = '';
  const record = await change(products, 'TEA', (before, now) => {
    given = now.toISOString();
    return takingLong({ ...before, note: 'x' });
  });
  expect(record.updatedAt).toBe(given);
});

test('the arrival of a receiving has one time, though its record has none', async () => {
  const products = [{ sku: 'TEA', quantity: 1 }];
  await api.shop('POST', '/v21/receivings', { eshopReceivingId: '1', supplier: 'Tea Ltd', products });
  let given = new Date(0);
  await change(receivings, '1', (before, now) => {
    given = now;
    return takingLong(moveReceiving(before, 'arrived'));
  });
  const [row] = await api.sql`select updated_at from receivings where eshop_receiving_id = '1'`;
  expect(row?.updatedAt).toEqual(given);
});

test("a stock movement has the database's time, whatever the process's clock", async () => {
  const movement = {
    type: 'stock_correction',
    sku: 'TEA',
    count: '1',
    lot: null,
    expirationDate: null,
    reference: null,
    note: null,
  } as const;
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2001-01-01T00:00:00Z') });
  try {
    const [record] = await transaction(api.sql, (tx) =>
      inUnitOfWork(tx, api.eshop.eshopId, 'warehouse', (work) => stageMovements(work, [movement])),
    );
    const [row] = await api.sql`select now() as now from stock_movements where id = ${record?.id ?? 0}`;
    expect(Math.abs(Date.parse(record?.createdAt ?? '') - Number(row?.now))).toBeLessThan(60_000);
  } finally {
    vi.useRealTimers();
  }
});
