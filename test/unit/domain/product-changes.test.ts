/** What an e-shop can do to a product: from the record before to the record after. */
import { expect, test } from 'vitest';
import { newProduct, patchProduct, replaceProduct } from '../../../src/domain/product/changes.ts';
import { refusal } from '../../support/refusal.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const noStock = { available: '0', reserved: '0', onHold: '0', awaiting: '0' };
const record = newProduct({ sku: 'TEA', name: 'Green tea' }, now);
const full = { ...record, description: 'green', price: '1.00', stock: { ...noStock, available: '7' } };

test('a new product: the least of a body becomes the whole record, without stock', () => {
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

test("what is the service's own is ignored", () => {
  expect(newProduct({ ...record, stock: 'much', createdAt: 1, updatedAt: 2 }, now)).toEqual(record);
  expect(replaceProduct(full, { ...full, stock: noStock, createdAt: 1, updatedAt: 2 })).toEqual(full);
  expect(patchProduct(full, { stock: noStock, createdAt: 1, updatedAt: 2 })).toEqual(full);
});

test('PUT replaces: what is left out becomes its default; SKU and stock stay', () => {
  expect(replaceProduct(full, { name: 'Tea' })).toEqual({ ...record, name: 'Tea', stock: full.stock });
});

test('PATCH changes what is sent and nothing else', () => {
  expect(patchProduct(full, { active: false })).toEqual({ ...full, active: false });
});

test('the SKU cannot be changed, and a body is an object', () => {
  const message = '400 sku: must be the SKU in the path: it cannot be changed';
  expect(refusal(() => patchProduct(full, { sku: 'CUP' }))).toBe(message);
  expect(refusal(() => replaceProduct(full, { sku: 'CUP', name: 'Tea' }))).toBe(message);
  for (const body of ['text', [], null]) {
    expect(refusal(() => patchProduct(full, body))).toBe('400 The body must be a JSON object.');
    expect(refusal(() => replaceProduct(full, body))).toBe('400 The body must be a JSON object.');
    expect(refusal(() => newProduct(body, now))).toMatch(/^400 /);
  }
});
