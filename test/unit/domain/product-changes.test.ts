/** An e-shop's changes to a product: from the record before to the record after. */
import { expect, test } from 'vitest';
import { productEdits } from '../../../src/domain/product/changes.ts';

const { make: newProduct, patch: patchProduct, replace: replaceProduct } = productEdits;
const now = new Date('2026-11-20T12:00:00.000Z');
const context = { now };
const noStock = { available: '0', reserved: '0', onHold: '0', awaiting: '0' };
const record = newProduct({ sku: 'TEA', name: 'Green tea' }, context);
const full = { ...record, description: 'green', price: '1.00', stock: { ...noStock, available: '7' } };

test('a minimal new product is filled up to a whole record, without stock', () => {
  expect(record).toEqual({
    sku: 'TEA',
    name: 'Green tea',
    description: null,
    ean: null,
    upc: null,
    price: null,
    currency: null,
    weight: null,
    width: null,
    height: null,
    depth: null,
    originCountry: null,
    hsCode: null,
    batteryType: null,
    expMethod: null,
    productType: 'finalProduct',
    scanSerialNumber: false,
    trackLot: false,
    trackExpiration: false,
    fragile: false,
    ageCheck: false,
    active: true,
    note: null,
    stock: noStock,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
  });
});

test("the service's own fields are ignored", () => {
  expect(newProduct({ ...record, stock: 'much', createdAt: 1, updatedAt: 2 }, context)).toEqual(record);
  expect(replaceProduct(full, { ...full, stock: noStock, createdAt: 1, updatedAt: 2 }, context)).toEqual(
    full,
  );
  expect(patchProduct(full, { stock: noStock, createdAt: 1, updatedAt: 2 }, context)).toEqual(full);
});

test('PUT resets omitted fields to their defaults, except SKU and stock', () => {
  expect(replaceProduct(full, { name: 'Tea' }, context)).toEqual({
    ...record,
    name: 'Tea',
    stock: full.stock,
  });
});

test('PATCH changes only the fields sent', () => {
  expect(patchProduct(full, { active: false }, context)).toEqual({ ...full, active: false });
});
