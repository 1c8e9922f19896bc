/** Packing lists: which units of an order are in which package. */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { packingListsSchema, packOrder } from '../../../src/domain/order/packing-lists.ts';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import type { OrderProduct, OrderRecord } from '../../../src/domain/order/schema.ts';
import { problemMessage } from '../../support/api/problem-message.ts';

const line = (sku: string, lot: string | null): OrderProduct => ({
  ...{ sku, lot, quantity: '1', unitPrice: null, vatRate: null },
  packingLists: [],
});
const order: OrderRecord = {
  ...sampleOrder,
  orderProducts: [line('TEA', 'A'), line('TEA', 'B'), line('TEA', null), line('CUP', null)],
};
const named = (sku: string, packageNumber: number, lot?: string) => ({
  ...{ sku, lot },
  packingLists: [{ packageNumber, quantity: 1 }],
});

function packed(...orderProducts: object[]): (number | null)[] {
  const input = v.parse(packingListsSchema, { orderProducts });
  return packOrder(order, input).orderProducts.map(
    ({ packingLists }) => packingLists[0]?.packageNumber ?? null,
  );
}

test('a product goes to the next line of its lot, or of any lot if none is named', () => {
  expect(packed(named('TEA', 1), named('TEA', 2), named('TEA', 3), named('CUP', 4))).toEqual([1, 2, 3, 4]);
  expect(packed(named('TEA', 1, 'B'))).toEqual([null, 1, null, null]);
  expect(packed(named('TEA', 1, 'A'), named('TEA', 2))).toEqual([1, 2, null, null]);
});

test('unnamed lines have no packages, and the rest of the order is unchanged', () => {
  const full = { ...order, orderProducts: sampleOrder.orderProducts };
  expect(packOrder(full, { orderProducts: [] })).toEqual({
    ...full,
    orderProducts: full.orderProducts.map((each) => ({ ...each, packingLists: [] })),
  });
});

test('units beyond those of the order are refused, all at once', () => {
  expect(
    problemMessage(() => packed(named('PAN', 1), named('CUP', 1), named('CUP', 2), named('TEA', 3, 'C'))),
  ).toBe(
    '400 orderProducts.0.sku: "PAN" is not on any (other) line of the order; orderProducts.2.sku: "CUP" is not on any (other) line of the order; orderProducts.3.sku: "TEA", lot "C", is not on any (other) line of the order',
  );
});
