/**
 * Returns over HTTP.
 */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { render } from '../../src/domain/render.ts';
import { returnRecordSchema } from '../../src/domain/return/schema.ts';
import { announcementCalls } from '../support/api/announcements.ts';
import { firedEvents } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const calls = announcementCalls(api, 'returns');

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('an announcement reads back as written, in both forms', async () => {
  const sku = await calls.product();
  const body = {
    eshopReturnId: 'vratka 1/ž',
    eshopOrderId: '10001',
    orderType: 'b2b',
    description: 'a box',
    shipper: 'PPL',
    shipperServiceCode: 'PPL_PRIVATE',
    trackingNumber: 'T 1',
    eshopNote: 'wants another',
    rma: 'RMA 1',
    returnedOrderProducts: [{ sku, quantity: '1.50', returnReason: 'wrongSize', lot: 'L1' }],
  };
  const created = await api.shop('POST', '/v21/returns', body);
  expect(created.data).toEqual({
    ...body,
    returnedOrderProducts: [
      {
        sku,
        quantity: 1.5,
        received: null,
        returnReason: 'wrongSize',
        resolution: null,
        lot: 'L1',
        lineState: 'E',
      },
    ],
    note: null,
    status: 'awaiting',
    createdAt: time,
    updatedAt: created.data.createdAt,
    confirmedAt: null,
    receivedAt: null,
    canceledAt: null,
  });
  const path = `/returns/${encodeURIComponent(body.eshopReturnId)}`;
  expect((await api.shop('GET', `/v21${path}`)).data).toEqual(created.data);
  const v2 = (await api.shop('GET', `/v2${path}`)).data;
  expect(v2.returnedOrderProducts[0].quantity).toBe('1.5');
  expect(v.is(returnRecordSchema('v21'), created.data)).toBe(true);
  expect(v.is(returnRecordSchema('v2'), v2)).toBe(true);
  const [event] = await firedEvents(api.sql, api.eshop.eshopId, body.eshopReturnId);
  expect(event?.type).toBe('CREATE_RETURN');
  expect(render(event?.snapshot ?? '', { version: 'v2', withPackingLists: false })).toBe(JSON.stringify(v2));
  const again = await api.shop('POST', '/v21/returns', body);
  expect(again.status).toBe(409);
  expect(again.body.message).toBe('Return vratka 1/ž already exists.');
});

test('returns of another e-shop do not exist', async () => {
  const sku = await calls.product();
  const id = await calls.announced({ sku, quantity: 1 });
  const other = await api.newEshop();
  expect((await other.shop.request('GET', `/v21/returns/${id}`)).status).toBe(404);
  expect((await other.shop.request('PATCH', `/v21/returns/${id}`, { rma: 'x' })).status).toBe(404);
  expect((await other.shop.request('POST', `/v21/returns/${id}/cancel`)).status).toBe(404);
  expect((await other.shop.request('GET', '/v21/returns')).data).toEqual([]);
});

describe('the warehouse', () => {
  test('a status sets times and notes, and also fires UPDATE_RETURN if those changed', async () => {
    const sku = await calls.product();
    const id = await calls.announced({ sku, quantity: 1 });
    expect((await calls.move(id, 'arrived', { note: 'torn' })).data).toMatchObject({
      receivedAt: time,
      note: 'torn',
    });
    expect((await calls.move(id, 'processing')).data).toMatchObject({ note: 'torn', confirmedAt: null });
    expect((await calls.move(id, 'completed', { note: 'fine' })).data).toMatchObject({
      confirmedAt: time,
      note: 'fine',
    });
    expect(await calls.fired(id)).toEqual([
      'CREATE_RETURN',
      ...['UPDATE_RETURN', 'UPDATE_RETURN_STATUS'],
      'UPDATE_RETURN_STATUS',
      ...['UPDATE_RETURN', 'UPDATE_RETURN_STATUS'],
    ]);
    const same = await calls.announced({ sku, quantity: 1 });
    for (const status of ['arrived', 'processing']) await calls.move(same, status, { note: 'torn' });
    expect((await calls.fired(same)).slice(1)).toEqual([
      'UPDATE_RETURN',
      'UPDATE_RETURN_STATUS',
      'UPDATE_RETURN_STATUS',
    ]);
    const gone = await calls.announced({ sku, quantity: 1 });
    const canceled = await api.shop('POST', `/v21/returns/${gone}/cancel`);
    expect(canceled.data).toMatchObject({ status: 'canceled', canceledAt: time });
    expect((await api.shop('POST', `/v21/returns/${gone}/cancel`)).status).toBe(409);
    expect((await api.shop('PUT', `/v21/warehouse/returns/${id}/status`, { status: 'x' })).status).toBe(403);
  });

  test('a completed return makes one movement per line that goes back to stock or is undecided', async () => {
    const skus = await Promise.all(Array.from({ length: 5 }, () => calls.product()));
    const id = await calls.announced(...skus.map((sku) => ({ sku, quantity: 3, returnReason: 'unwanted' })));
    const resolutions = ['returnToInventory', 'qualityHold', 'dispose', 'sendBack'];
    await calls.way(id, 'arrived');
    const counted = await calls.count(
      id,
      ...resolutions.map((resolution, index) => ({
        sku: skus[index],
        received: '2.5',
        lot: 'A',
        resolution,
      })),
    );
    expect(counted.body.message).toBe('Return counted.');
    expect(counted.data.returnedOrderProducts[0]).toEqual({
      sku: skus[0],
      quantity: 3,
      received: 2.5,
      returnReason: 'unwanted',
      resolution: 'returnToInventory',
      lot: 'A',
      lineState: 'E',
    });
    expect((await calls.fired(id)).at(-1)).toBe('UPDATE_RETURN');
    await calls.way(id, 'processing', 'completed');
    const available = await Promise.all(skus.map(async (sku) => (await calls.stockOf(sku)).available));
    expect(available).toEqual(['2.5', '0', '0', '0', '3']);
    const { data } = await api.shop('GET', `/v2/stock-movements?type=return&sku=${skus[0]}`);
    expect(data).toMatchObject([{ count: '2.5', lot: 'A', reference: id, balance: '2.5' }]);
    expect(await calls.fired(String(data[0].id))).toEqual(['CREATE_STOCK_MOVEMENT_RETURN']);
  });

  test('a rejected return adds no stock, and can no longer be counted', async () => {
    const sku = await calls.product();
    const id = await calls.announced({ sku, quantity: 3 });
    await calls.way(id, 'arrived');
    expect((await calls.count(id, { sku, received: 1, resolution: 'x' })).status).toBe(400);
    await calls.way(id, 'rejected');
    expect((await calls.count(id, { sku, received: 1 })).body.message).toBe(
      'The return is rejected: counts can be entered only while it is arrived or processing.',
    );
    expect(await calls.stockOf(sku)).toMatchObject({ available: '0' });
  });

  test('lines can be sent back as read, with decisions', async () => {
    const sku = await calls.product();
    const id = await calls.announced({ sku, quantity: 3, returnReason: 'other' });
    await calls.way(id, 'arrived');
    const [read] = (await calls.shop('GET', id)).data.returnedOrderProducts;
    const [line] = (await calls.count(id, { ...read, received: 3, resolution: 'dispose' })).data
      .returnedOrderProducts;
    expect(line).toEqual({ ...read, received: 3, resolution: 'dispose' });
  });
});

test('returns are listed filtered and paged', async () => {
  const sku = await calls.product();
  const [first, second] = [
    await calls.announced({ sku, quantity: 1 }),
    await calls.announced({ sku, quantity: 1 }),
  ];
  const before = (await calls.shop('GET', second)).data.createdAt;
  await calls.move(first, 'canceled');
  const ids = async (query: string): Promise<string[]> =>
    (await api.shop('GET', `/v2/returns?items=100&${query}`)).data.map(
      ({ eshopReturnId }: { eshopReturnId: string }) => eshopReturnId,
    );
  expect(await ids('status=canceled')).toContain(first);
  expect(await ids(`createdSince=${before}`)).toContain(second);
  expect(await ids(`updatedSince=${before}&status=canceled`)).toContain(first);
  expect(await ids(`createdSince=${before}`)).not.toContain('vratka 1/ž');
});
