/**
 * Products over HTTP.
 */
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { productRecordSchema } from '../../src/domain/product/schema.ts';
import { render } from '../../src/domain/render.ts';
import { firedEvents, firedTypes } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();

const full = {
  sku: 'TEA/100 ž',
  name: 'Tea',
  description: 'green',
  ean: '8590000000013',
  upc: '012345678905',
  price: '349.9',
  currency: 'CZK',
  weight: 120,
  width: 80,
  height: 150,
  depth: 50,
  originCountry: 'JP',
  hsCode: '090210',
  batteryType: 'no',
  expMethod: 'FEFO',
  productType: 'semiProduct',
  scanSerialNumber: true,
  trackLot: true,
  trackExpiration: true,
  fragile: true,
  ageCheck: true,
  active: false,
  note: 'n',
};
const path = `/products/${encodeURIComponent(full.sku)}`;

test('a product needs only sku and name', async () => {
  const { data } = await api.shop('POST', '/v21/products', { sku: 'MIN', name: 'Least' });
  expect(data).toMatchObject({
    sku: 'MIN',
    description: null,
    price: null,
    weight: null,
    productType: 'finalProduct',
    trackLot: false,
    active: true,
    stock: { available: 0, reserved: 0, onHold: 0, awaiting: 0 },
  });
  const empty = await api.shop('POST', '/v21/products', {});
  expect(empty.body.message).toBe('sku: is required; name: is required');
});

test('a full product reads back in both forms, as its event carries it', async () => {
  const created = await api.shop('POST', '/v21/products', full);
  expect(created.data, created.text).toMatchObject({ ...full, price: 349.9 });
  const [event] = await firedEvents(api.sql, api.eshop.eshopId, full.sku);
  expect(event?.type).toBe('CREATE_PRODUCT');
  for (const version of ['v2', 'v21'] as const) {
    const read = await api.shop('GET', `/${version}${path}`);
    expect(read.text).toContain(
      `"data":${render(event?.snapshot ?? '', { version, withPackingLists: false })}`,
    );
    expect(v.safeParse(productRecordSchema(version), read.data).issues).toBeUndefined();
  }
  const v2 = await api.shop('GET', `/v2${path}`);
  expect(v2.data).toMatchObject({
    price: '349.90',
    weight: 120,
    stock: { available: '0', reserved: '0', onHold: '0', awaiting: '0' },
  });
});

test('a duplicate SKU is a conflict, but not in another e-shop', async () => {
  await api.shop('POST', '/v21/products', { sku: 'ONCE', name: 'first' });
  const again = await api.shop('POST', '/v21/products', { sku: 'ONCE', name: 'second' });
  expect(again.body).toEqual({
    statusCode: 409,
    error: 'Conflict',
    message: 'Product ONCE already exists.',
  });
  const other = await api.newEshop();
  expect((await other.shop.request('GET', '/v21/products/ONCE')).status).toBe(404);
  const theirs = await other.shop.request('POST', '/v21/products', { sku: 'ONCE', name: 'theirs' });
  expect(theirs.status).toBe(200);
  expect((await api.shop('GET', '/v21/products/ONCE')).data.name).toBe('first');
});

test('PUT replaces, PATCH changes the sent fields, and both fire only if something changed', async () => {
  await api.shop('POST', '/v21/products', { ...full, sku: 'UPD' });
  const patched = await api.shop('PATCH', '/v21/products/UPD', { price: 1, stock: { available: 99 } });
  expect(patched.data).toMatchObject({ price: 1, name: 'Tea', stock: { available: 0 } });
  await api.shop('PATCH', '/v21/products/UPD', { price: '1.000' });
  const v2 = await api.shop('GET', '/v2/products/UPD');
  const back = await api.shop('PUT', '/v21/products/UPD', v2.data);
  expect(back.data).toEqual(patched.data);
  const replaced = await api.shop('PUT', '/v21/products/UPD', { name: 'New' });
  expect(replaced.data).toMatchObject({ sku: 'UPD', name: 'New', price: null, active: true });
  expect(replaced.data.createdAt).toBe(patched.data.createdAt);
  expect(await firedTypes(api.sql, api.eshop.eshopId, 'UPD')).toEqual([
    'CREATE_PRODUCT',
    'UPDATE_PRODUCT',
    'UPDATE_PRODUCT',
  ]);
});

test.each<[object, string]>([
  [{ sku: 'OTHER' }, 'sku: must be the identifier in the path: it cannot be changed'],
  [{ price: -1 }, 'price: must be at least 0'],
  [{ weight: 99_999_999_999 }, 'weight: must be a whole number from 0 to 1000000000'],
  [{ originCountry: 'Japan' }, 'originCountry: must be a country code'],
  [{ color: 1 }, 'color: unknown field'],
])('a change to %j is refused', async (more, message) => {
  await api.shop('POST', '/v21/products', { sku: 'BAD', name: 'Bad' });
  for (const method of ['PUT', 'PATCH']) {
    const answer = await api.shop(method, '/v21/products/BAD', { name: 'x', ...more });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  }
});

test('every operation on an unknown product is a 404', async () => {
  for (const [method, at] of [
    ['GET', '/v21/products/none'],
    ['GET', '/v2/products/none'],
    ['PUT', '/v21/products/none'],
    ['PATCH', '/v21/products/none'],
  ] as const) {
    const answer = await api.shop(method, at, method === 'GET' ? undefined : { name: 'x' });
    expect(answer.body.message).toBe('Product none does not exist.');
    expect(answer.status).toBe(404);
  }
});

test('products are filtered by active and by time; a change to stock counts as a change', async () => {
  const { shop, warehouse } = await api.newEshop();
  for (const sku of ['a', 'b', 'c']) await shop.request('POST', '/v21/products', { sku, name: sku });
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { data: off } = await shop.request('PATCH', '/v21/products/b', { active: false });
  const movement = { type: 'stock_correction', sku: 'c', count: 1 };
  expect((await warehouse.request('POST', '/v21/warehouse/stock-movements', movement)).status).toBe(200);
  const skus = async (query: string) =>
    (await shop.request('GET', `/v2/products?${query}`)).data.map(({ sku }: { sku: string }) => sku);
  expect(await skus('active=true')).toEqual(['a', 'c']);
  expect(await skus('active=false')).toEqual(['b']);
  expect(await skus(`updatedSince=${off.updatedAt}`)).toEqual(['b', 'c']);
  expect(await skus(`createdSince=${off.updatedAt}`)).toEqual([]);
  expect((await shop.request('GET', '/v2/products?active=maybe')).status).toBe(400);
});
