/**
 * Receivings through HTTP (given.md, "Shape of a receiving payload").
 */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receivingRecordSchema } from '../../src/domain/receiving-schema.ts';
import { receivingStatuses, receivingTransitions } from '../../src/domain/receiving-status.ts';
import { render } from '../../src/domain/render.ts';
import { createTestApi, type TestApi } from '../support/api.ts';
import { firedEvents, firedTypes, insertWebhook } from '../support/events.ts';
import { stockedProduct } from '../support/orders.ts';

let api: TestApi;
let made = 0;

beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.drop());

const product = (available = '0') => {
  made += 1;
  return stockedProduct(api.eshop, `P-${made}`, available);
};
const minimal = (products: object[]) => {
  made += 1;
  return { eshopReceivingId: `IN-${made}`, supplier: 'Tea Ltd', products };
};
/** A receiving that is awaited; answers its identifier. */
async function announced(...products: object[]): Promise<string> {
  const created = await api.shop('POST', '/v21/receivings', minimal(products));
  expect(created.body.message).toBe('Receiving created.');
  return created.data.eshopReceivingId;
}
const shop = (method: string, id: string, body?: object) =>
  api.shop(method, `/v21/receivings/${encodeURIComponent(id)}`, body);
const move = (id: string, status: string) =>
  api.warehouse('PUT', `/v21/warehouse/receivings/${id}/status`, { status });
const count = (id: string, ...products: object[]) =>
  api.warehouse('PUT', `/v21/warehouse/receivings/${id}/lines`, { products });
async function way(id: string, ...statuses: string[]): Promise<void> {
  for (const status of statuses) expect((await move(id, status)).status, status).toBe(200);
}
const stockOf = async (sku: string) => (await api.shop('GET', `/v2/products/${sku}`)).data.stock;
const fired = (id: string) => firedTypes(api.sql, api.eshop.eshopId, id);

/** The fields that the interface shows, and the types it gives them in v21. */
const given = {
  eshopReceivingId: 'string',
  carrierInfo: 'string',
  deliveryNoteNumber: 'string',
  deliveryType: 'string',
  description: 'string',
  driverCompany: 'string',
  driverDispatcherContact: 'string',
  driverName: 'string',
  driverPhone: 'string',
  driverTrailerLicensePlate: 'string',
  duty: 'boolean',
  estimatedDelivery: 'string',
  handlingUnits: 'string',
  packagings: 'array',
  products: 'array',
  status: 'string',
  supplier: 'string',
  trackingNumber: 'string',
  unitsAmount: 'number',
  urgent: 'boolean',
};
const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);

describe('an announcement', () => {
  test('with every field has exactly the fields shown, in both forms', async () => {
    const sku = await product();
    const body = {
      ...minimal([{ sku, quantity: '2.50', lot: 'L1', expirationDate: '2030-01-01T01:00:00+01:00' }]),
      eshopReceivingId: 'příjem 1/ž',
      carrierInfo: 'Trans',
      deliveryNoteNumber: 'DN 1',
      deliveryType: 'container',
      description: 'fragile',
      driverCompany: 'Trans',
      driverDispatcherContact: '+420',
      driverName: 'Jan',
      driverPhone: '+421',
      driverTrailerLicensePlate: '1AB',
      duty: true,
      estimatedDelivery: '2030-01-02T03:04:05Z',
      handlingUnits: 'box_loose',
      packagings: [{ type: 'EUR pallet', quantity: 2, sscc: '106141411234567897' }],
      trackingNumber: 'T 1',
      urgent: true,
    };
    const created = await api.shop('POST', '/v21/receivings', body);
    expect(created.status).toBe(200);
    expect(Object.entries(created.data).map(([name, value]) => [name, typeOf(value)])).toEqual(
      Object.entries(given),
    );
    expect(created.data).toEqual({
      ...body,
      estimatedDelivery: '2030-01-02T03:04:05.000Z',
      products: [
        {
          sku,
          quantity: 2.5,
          lot: 'L1',
          received: null,
          expirationDate: '2030-01-01T00:00:00.000Z',
          lineState: 'E',
        },
      ],
      status: 'awaiting',
      unitsAmount: 2.5,
    });
    expect(Object.keys(created.data.products[0])).toEqual([
      'sku',
      'quantity',
      'lot',
      'received',
      'expirationDate',
      'lineState',
    ]);
    const path = `/receivings/${encodeURIComponent(body.eshopReceivingId)}`;
    expect((await api.shop('GET', `/v21${path}`)).data).toEqual(created.data);
    const v2 = (await api.shop('GET', `/v2${path}`)).data;
    expect(v2.unitsAmount).toBe('2.5');
    expect(v2.products[0].quantity).toBe('2.5');
    expect(v2.packagings[0].quantity).toBe('2');
    expect(v.is(receivingRecordSchema('v21'), created.data)).toBe(true);
    expect(v.is(receivingRecordSchema('v2'), v2)).toBe(true);
    const [event] = await firedEvents(api.sql, api.eshop.eshopId, body.eshopReceivingId);
    expect(event?.type).toBe('CREATE_RECEIVING');
    expect(render(event?.snapshot ?? '', { version: 'v2', withPackingLists: false })).toBe(
      JSON.stringify(v2),
    );
  });

  test('needs identifier, supplier and products; the rest is null or its default', async () => {
    const sku = await product();
    const { data } = await api.shop('POST', '/v21/receivings', minimal([{ sku, quantity: 1 }]));
    expect(data).toMatchObject({ duty: false, handlingUnits: 'pallet', packagings: [], urgent: null });
    expect(data).toMatchObject({ carrierInfo: null, deliveryType: null, estimatedDelivery: null });
    const empty = await api.shop('POST', '/v21/receivings', {});
    expect(empty.status).toBe(400);
    expect(empty.body.message).toBe(
      'eshopReceivingId: is required; products: is required; supplier: is required',
    );
  });

  test('is made once, and wakes the relay', async () => {
    const sku = await product();
    await insertWebhook(api.sql, api.eshop.eshopId, 'CREATE_RECEIVING');
    const woken = api.notified();
    const body = minimal([{ sku, quantity: 1 }]);
    expect((await api.shop('POST', '/v21/receivings', body)).status).toBe(200);
    expect(api.notified()).toBe(woken + 1);
    const again = await api.shop('POST', '/v21/receivings', body);
    expect(again.status).toBe(409);
    expect(again.body.message).toBe(`The receiving ${body.eshopReceivingId} exists already.`);
    expect(await stockOf(sku)).toMatchObject({ awaiting: '1' });
  });

  test.each<[string, (sku: string) => object, string]>([
    [
      'an unknown product',
      () => ({ products: [{ sku: 'NONE', quantity: 1 }] }),
      'products.0.sku: "NONE" is not',
    ],
    [
      'no units',
      (sku) => ({ products: [{ sku, quantity: 0 }] }),
      'products.0.quantity: must be greater than 0',
    ],
    ['no lines', () => ({ products: [] }), 'products: must have at least one product'],
    [
      'a product twice',
      (sku) => ({
        products: [
          { sku, quantity: 1 },
          { sku, quantity: 2 },
        ],
      }),
      'products.1: is the product and lot of products.0 again',
    ],
    [
      'too many units together',
      (sku) => ({
        products: [
          { sku, quantity: '999999999999999' },
          { sku, quantity: '0.5', lot: 'L' },
        ],
      }),
      'products: are too many units together',
    ],
    ['another unit', () => ({ handlingUnits: 'box' }), 'handlingUnits: must be one of pallet, carton'],
    [
      'a wrong pallet code',
      () => ({ packagings: [{ type: 'x', quantity: 1, sscc: '1' }] }),
      'packagings.0.sscc:',
    ],
    ['a typo', () => ({ suplier: 'x' }), 'suplier: unknown field'],
    [
      'a typo in a line',
      (sku) => ({ products: [{ sku, quantity: 1, lott: 'x' }] }),
      'products.0.lott: unknown',
    ],
  ])('%s is refused', async (_name, change, message) => {
    const sku = await product();
    const body = { ...minimal([{ sku, quantity: 1 }]), ...change(sku) };
    const refused = await api.shop('POST', '/v21/receivings', body);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain(message);
    expect(await stockOf(sku)).toMatchObject({ awaiting: '0' });
  });

  test('of more units than a product can have is refused whole', async () => {
    const sku = await product();
    const body = minimal([{ sku, quantity: 1_000_000_000 }]);
    expect((await api.shop('POST', '/v21/receivings', body)).status).toBe(409);
    expect((await shop('GET', body.eshopReceivingId)).status).toBe(404);
  });
});

describe('an update', () => {
  test('PATCH changes what is sent, PUT makes the rest null; unchanged, nothing fires', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 1 });
    const patched = await shop('PATCH', id, { driverName: 'Jan', urgent: true });
    expect(patched.data).toMatchObject({ driverName: 'Jan', urgent: true, supplier: 'Tea Ltd' });
    const put = { supplier: 'Other', products: [{ sku, quantity: 1 }] };
    expect((await shop('PUT', id, put)).data).toMatchObject({ supplier: 'Other', driverName: null });
    expect(await fired(id)).toEqual(['CREATE_RECEIVING', 'UPDATE_RECEIVING', 'UPDATE_RECEIVING']);
    for (const version of ['v2', 'v21']) {
      const { data } = await api.shop('GET', `/${version}/receivings/${id}`);
      expect((await shop('PUT', id, data)).status).toBe(200);
    }
    expect((await shop('PATCH', id, {})).status).toBe(200);
    expect(await fired(id)).toHaveLength(3);
  });

  test('a line left out stays, marked D, and counts no longer; sent again it is E; the record can be put back', async () => {
    const [tea, cup] = [await product(), await product()];
    const id = await announced({ sku: tea, quantity: 2 }, { sku: cup, quantity: 3 });
    const { data } = await shop('PATCH', id, { products: [{ sku: cup, quantity: 4 }] });
    expect(data.products).toMatchObject([
      { sku: tea, quantity: 2, lineState: 'D' },
      { sku: cup, quantity: 4, lineState: 'E' },
    ]);
    expect(data.unitsAmount).toBe(4);
    expect(await stockOf(tea)).toMatchObject({ awaiting: '0' });
    expect(await stockOf(cup)).toMatchObject({ awaiting: '4' });
    expect((await shop('PUT', id, data)).data).toEqual(data);
    const back = await shop('PATCH', id, {
      products: [
        { sku: tea, quantity: 5 },
        { sku: cup, quantity: 4 },
      ],
    });
    expect(back.data.products).toMatchObject([{ quantity: 5, lineState: 'E' }, { quantity: 4 }]);
    expect(back.data.unitsAmount).toBe(9);
    expect(await stockOf(tea)).toMatchObject({ awaiting: '5' });
  });

  test('once it has arrived only some fields', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 1 });
    await way(id, 'arrived');
    expect((await shop('PATCH', id, { description: 'gate 3' })).data.description).toBe('gate 3');
    const refused = await shop('PATCH', id, { supplier: 'x', products: [{ sku, quantity: 2 }] });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe(
      'The receiving is arrived: only carrierInfo, deliveryNoteNumber, description, duty, trackingNumber, urgent can be changed now, not products, supplier.',
    );
  });

  test('of another identifier, of none that is, or by another e-shop', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 1 });
    expect((await shop('PATCH', id, { eshopReceivingId: 'x' })).status).toBe(400);
    expect((await shop('PATCH', 'none', {})).body.message).toBe('There is no receiving none.');
    const other = await api.newEshop();
    for (const method of ['GET', 'PUT', 'PATCH']) {
      const body = method === 'GET' ? undefined : minimal([{ sku, quantity: 1 }]);
      const answer = await other.shop.request(method, `/v21/receivings/${id}`, body);
      expect([400, 404]).toContain(answer.status);
    }
    const foreign = await other.warehouse.request('PUT', `/v21/warehouse/receivings/${id}/status`, {
      status: 'arrived',
    });
    expect(foreign.status).toBe(404);
    expect((await shop('GET', id)).data.status).toBe('awaiting');
  });
});

describe('the warehouse', () => {
  test('every pair of statuses is allowed or 409 exactly as the table says', async () => {
    const sku = await product();
    const ways: Record<string, string[]> = {
      awaiting: [],
      arrived: ['arrived'],
      received: ['arrived', 'received'],
      stocked: ['arrived', 'received', 'stocked'],
      canceled: ['canceled'],
    };
    for (const from of receivingStatuses) {
      for (const to of receivingStatuses) {
        const id = await announced({ sku, quantity: 1 });
        await way(id, ...(ways[from] ?? []));
        const allowed: readonly string[] = receivingTransitions[from];
        const { status, body } = await move(id, to);
        expect(status, `${from} → ${to}`).toBe(allowed.includes(to) ? 200 : 409);
        if (status === 409) expect(body.error).toBe('Conflict');
      }
    }
  });

  test('a status fires its event alone; the role is asked for; the e-shop cancels', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 2 });
    await way(id, 'arrived');
    expect(await fired(id)).toEqual(['CREATE_RECEIVING', 'UPDATE_RECEIVING_STATUS']);
    const path = `/v21/warehouse/receivings/${id}/status`;
    expect((await api.shop('PUT', path, { status: 'received' })).status).toBe(403);
    expect((await api.warehouse('PUT', path, { status: 'gone' })).status).toBe(400);
    expect(await stockOf(sku)).toMatchObject({ awaiting: '2' });
    expect((await api.shop('POST', `/v21/receivings/${id}/cancel`)).data.status).toBe('canceled');
    expect(await stockOf(sku)).toMatchObject({ awaiting: '0', available: '0' });
    expect((await api.shop('POST', `/v21/receivings/${id}/cancel`)).status).toBe(409);
  });

  test('stocked: one movement per enabled line, of what was counted or else announced', async () => {
    const [tea, cup, out] = [await product('1'), await product(), await product()];
    const id = await announced(
      { sku: tea, quantity: 10 },
      { sku: cup, quantity: '2.5' },
      { sku: out, quantity: 1 },
    );
    await shop('PATCH', id, {
      products: [
        { sku: tea, quantity: 10 },
        { sku: cup, quantity: '2.5' },
      ],
    });
    await way(id, 'arrived');
    const expirationDate = '2031-01-01T00:00:00.000Z';
    const counted = await count(
      id,
      { sku: tea, lot: 'A', received: 6, expirationDate },
      { sku: tea, lot: 'B', received: '3.5' },
    );
    expect(counted.body.message).toBe('Receiving counted.');
    expect(counted.data.products).toEqual([
      { sku: tea, quantity: 10, lot: 'A', received: 6, expirationDate, lineState: 'E' },
      { sku: cup, quantity: 2.5, lot: null, received: null, expirationDate: null, lineState: 'E' },
      { sku: out, quantity: 1, lot: null, received: null, expirationDate: null, lineState: 'D' },
      { sku: tea, quantity: 0, lot: 'B', received: 3.5, expirationDate: null, lineState: 'E' },
    ]);
    expect(counted.data.unitsAmount).toBe(12.5);
    expect((await fired(id)).at(-1)).toBe('UPDATE_RECEIVING');
    await way(id, 'received', 'stocked');
    expect(await stockOf(tea)).toMatchObject({ available: '10.5', awaiting: '0' });
    expect(await stockOf(cup)).toMatchObject({ available: '2.5', awaiting: '0' });
    expect(await stockOf(out)).toMatchObject({ available: '0', awaiting: '0' });
    const { data: movements } = await api.shop('GET', `/v2/stock-movements?type=receiving&sku=${tea}`);
    expect(movements).toMatchObject([
      { count: '6', lot: 'A', expirationDate, reference: id, balance: '7' },
      { count: '3.5', lot: 'B', expirationDate: null, reference: id, balance: '10.5' },
    ]);
    expect(await fired(String(movements[0].id))).toEqual(['CREATE_STOCK_MOVEMENT_RECEIVING']);
  });

  test('counts only what was announced, while it is there', async () => {
    const [tea, cup] = [await product(), await product()];
    const id = await announced({ sku: tea, quantity: 10 });
    const early = await count(id, { sku: tea, received: 1 });
    expect(early.status).toBe(409);
    expect(early.body.message).toBe(
      'The receiving is awaiting: it is counted while it is arrived or received.',
    );
    await way(id, 'arrived');
    expect((await count(id, { sku: cup, received: 1 })).body.message).toBe(
      `products.0.sku: "${cup}" was not announced`,
    );
    expect((await count(id, { sku: tea, received: -1 })).status).toBe(400);
    expect((await count(id, { sku: tea })).body.message).toBe('products.0.received: is required');
    const twice = await count(id, { sku: tea, lot: 'A', received: 1 }, { sku: tea, lot: 'A', received: 1 });
    expect(twice.body.message).toBe('products.1: is named twice: enter the sum');
    expect((await count(id, { sku: tea, received: 9 })).data.products[0].received).toBe(9);
    expect((await count(id, { sku: tea, received: null })).data.products[0].received).toBeNull();
    const events = (await fired(id)).length;
    expect((await count(id, { sku: tea, received: null })).status).toBe(200);
    expect((await fired(id)).length).toBe(events);
  });

  test('lines that were read can be sent, with what was counted', async () => {
    const [tea, cup] = [await product(), await product()];
    const expirationDate = '2031-01-01T00:00:00.000Z';
    const id = await announced({ sku: tea, quantity: 10, expirationDate }, { sku: cup, quantity: 1 });
    await shop('PATCH', id, { products: [{ sku: tea, quantity: 10, expirationDate }] });
    await way(id, 'arrived');
    const read = (await api.shop('GET', `/v2/receivings/${id}`)).data.products;
    expect((await count(id, ...read)).data.products[0]).toMatchObject({ received: null, expirationDate });
    const [line, left] = (await count(id, { ...read[0], received: 4, expirationDate: null })).data.products;
    expect(line).toEqual({ sku: tea, quantity: 10, lot: null, received: 4, expirationDate, lineState: 'E' });
    expect(left).toMatchObject({ sku: cup, lineState: 'D', received: null });
    expect((await count(id, { ...read[0], lineState: 'X' })).status).toBe(400);
  });

  test('stocked twice at once: once', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 3 });
    await way(id, 'arrived', 'received');
    const answers = await Promise.all([1, 2, 3].map(() => move(id, 'stocked')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await stockOf(sku)).toMatchObject({ available: '3', awaiting: '0' });
  });
});

test('the list: oldest first, paged, filtered, in both forms', async () => {
  const { shop: other, warehouse } = await api.newEshop();
  await other.request('POST', '/v21/products', { sku: 'TEA', name: 'Tea' });
  for (const id of ['a', 'b', 'c']) {
    const body = { eshopReceivingId: id, supplier: 'x', products: [{ sku: 'TEA', quantity: 1 }] };
    await other.request('POST', '/v21/receivings', body);
  }
  const ids = async (query: string) =>
    (await other.request('GET', `/v2/receivings${query}`)).data.map(
      ({ eshopReceivingId }: { eshopReceivingId: string }) => eshopReceivingId,
    );
  const before = new Date().toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await warehouse.request('PUT', '/v21/warehouse/receivings/b/status', { status: 'arrived' });
  expect(await ids('')).toEqual(['a', 'b', 'c']);
  expect(await ids('?page=2&items=2')).toEqual(['c']);
  expect(await ids('?status=arrived')).toEqual(['b']);
  expect(await ids(`?updatedSince=${before}`)).toEqual(['b']);
  expect(await ids(`?createdSince=${before}`)).toEqual([]);
  const page = await other.request('GET', '/v21/receivings?items=1');
  expect(page.body.pagination).toEqual({ page: 1, items: 1, totalCount: 3, totalPages: 3 });
  expect((await other.request('GET', '/v21/receivings?status=x')).status).toBe(400);
});
