/**
 * Receivings over HTTP (docs/interface.md, R1).
 */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { receivingRecordSchema } from '../../src/domain/receiving/schema.ts';
import { render } from '../../src/domain/render.ts';
import { announcementCalls } from '../support/api/announcements.ts';
import { firedEvents, insertWebhook } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const calls = announcementCalls(api, 'receivings');

/** The fields in the interface, with their types in v21. */
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

test('a full announcement has exactly the documented fields, in both forms', async () => {
  const sku = await calls.product();
  const body = {
    ...calls.minimal([{ sku, quantity: '2.50', lot: 'L1', expirationDate: '2030-01-01T01:00:00+01:00' }]),
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
  expect(render(event?.snapshot ?? '', { version: 'v2', withPackingLists: false })).toBe(JSON.stringify(v2));
});

test('an announcement wakes the relay, and a duplicate is a conflict', async () => {
  const sku = await calls.product();
  await insertWebhook(api.sql, api.eshop.eshopId, 'CREATE_RECEIVING');
  const woken = api.notified();
  const body = calls.minimal([{ sku, quantity: 1 }]);
  expect((await api.shop('POST', '/v21/receivings', body)).status).toBe(200);
  expect(api.notified()).toBe(woken + 1);
  const again = await api.shop('POST', '/v21/receivings', body);
  expect(again.status).toBe(409);
  expect(again.body.message).toBe(`Receiving ${body.eshopReceivingId} already exists.`);
  expect(await calls.stockOf(sku)).toMatchObject({ awaiting: '1' });
});

test('an announcement of more units than a product can have is refused as a whole', async () => {
  const sku = await calls.product();
  const body = calls.minimal([{ sku, quantity: 1_000_000_000 }]);
  expect((await api.shop('POST', '/v21/receivings', body)).status).toBe(409);
  expect((await calls.shop('GET', String(body.eshopReceivingId))).status).toBe(404);
});

describe('updates', () => {
  test('an omitted line is marked D and no longer counts; sent again, it is marked E', async () => {
    const [tea, cup] = [await calls.product(), await calls.product()];
    const id = await calls.announced({ sku: tea, quantity: 2 }, { sku: cup, quantity: 3 });
    const { data } = await calls.shop('PATCH', id, { products: [{ sku: cup, quantity: 4 }] });
    expect(data.products).toMatchObject([
      { sku: tea, quantity: 2, lineState: 'D' },
      { sku: cup, quantity: 4, lineState: 'E' },
    ]);
    expect(data.unitsAmount).toBe(4);
    expect(await calls.stockOf(tea)).toMatchObject({ awaiting: '0' });
    expect(await calls.stockOf(cup)).toMatchObject({ awaiting: '4' });
    expect((await calls.shop('PUT', id, data)).data).toEqual(data);
    const back = await calls.shop('PATCH', id, {
      products: [
        { sku: tea, quantity: 5 },
        { sku: cup, quantity: 4 },
      ],
    });
    expect(back.data.products).toMatchObject([{ quantity: 5, lineState: 'E' }, { quantity: 4 }]);
    expect(back.data.unitsAmount).toBe(9);
    expect(await calls.stockOf(tea)).toMatchObject({ awaiting: '5' });
  });

  test('a changed id, an unknown receiving and another e-shop are refused', async () => {
    const sku = await calls.product();
    const id = await calls.announced({ sku, quantity: 1 });
    expect((await calls.shop('PATCH', id, { eshopReceivingId: 'x' })).status).toBe(400);
    expect((await calls.shop('PATCH', 'none', {})).body.message).toBe('Receiving none does not exist.');
    const other = await api.newEshop();
    for (const method of ['GET', 'PUT', 'PATCH']) {
      const body = method === 'GET' ? undefined : calls.minimal([{ sku, quantity: 1 }]);
      const answer = await other.shop.request(method, `/v21/receivings/${id}`, body);
      expect([400, 404]).toContain(answer.status);
    }
    const foreign = await other.warehouse.request('PUT', `/v21/warehouse/receivings/${id}/status`, {
      status: 'arrived',
    });
    expect(foreign.status).toBe(404);
    expect((await calls.shop('GET', id)).data.status).toBe('awaiting');
  });
});

test('receivings are listed oldest first, paged, filtered and in both forms', async () => {
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
  await new Promise((resolve) => setTimeout(resolve, 5));
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
