/**
 * Returns through HTTP.
 */
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { render } from '../../src/domain/render.ts';
import { returnRecordSchema } from '../../src/domain/return-schema.ts';
import { returnStatuses, returnTransitions } from '../../src/domain/return-status.ts';
import { createTestApi, type TestApi } from '../support/api.ts';
import { firedEvents, firedTypes } from '../support/events.ts';
import { stockedProduct } from '../support/orders.ts';

let api: TestApi;
let made = 0;

beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.drop());

const product = () => {
  made += 1;
  return stockedProduct(api.eshop, `P-${made}`, '0');
};
async function announced(...returnedOrderProducts: object[]): Promise<string> {
  made += 1;
  const body = { eshopReturnId: `R-${made}`, returnedOrderProducts };
  const created = await api.shop('POST', '/v21/returns', body);
  expect(created.body.message).toBe('Return created.');
  return created.data.eshopReturnId;
}
const shop = (method: string, id: string, body?: object) => api.shop(method, `/v21/returns/${id}`, body);
const move = (id: string, status: string, more: object = {}) =>
  api.warehouse('PUT', `/v21/warehouse/returns/${id}/status`, { status, ...more });
const count = (id: string, ...returnedOrderProducts: object[]) =>
  api.warehouse('PUT', `/v21/warehouse/returns/${id}/lines`, { returnedOrderProducts });
async function way(id: string, ...statuses: string[]): Promise<void> {
  for (const status of statuses) expect((await move(id, status)).status, status).toBe(200);
}
const stockOf = async (sku: string) => (await api.shop('GET', `/v2/products/${sku}`)).data.stock;
const fired = (id: string) => firedTypes(api.sql, api.eshop.eshopId, id);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('an announcement', () => {
  test('is read as it was written, in both forms', async () => {
    const sku = await product();
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
    expect(render(event?.snapshot ?? '', { version: 'v2', withPackingLists: false })).toBe(
      JSON.stringify(v2),
    );
    const again = await api.shop('POST', '/v21/returns', body);
    expect(again.status).toBe(409);
    expect(again.body.message).toBe('The return vratka 1/ž exists already.');
  });

  test.each<[string, (sku: string) => object, string]>([
    [
      'nothing',
      () => ({ eshopReturnId: undefined, returnedOrderProducts: undefined }),
      'eshopReturnId: is required',
    ],
    [
      'an unknown product',
      () => ({ returnedOrderProducts: [{ sku: 'NONE', quantity: 1 }] }),
      '"NONE" is not a known',
    ],
    ['no units', (sku) => ({ returnedOrderProducts: [{ sku, quantity: 0 }] }), 'must be greater than 0'],
    [
      'another reason',
      (sku) => ({ returnedOrderProducts: [{ sku, quantity: 1, returnReason: 'x' }] }),
      'must be one of',
    ],
    ['another order type', () => ({ orderType: 'x' }), 'orderType: must be one of'],
    ['a typo', () => ({ shiper: 'x' }), 'shiper: unknown field'],
  ])('%s is refused', async (_name, change, message) => {
    const sku = await product();
    const body = { eshopReturnId: 'bad', returnedOrderProducts: [{ sku, quantity: 1 }], ...change(sku) };
    const refused = await api.shop('POST', '/v21/returns', body);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain(message);
    expect((await shop('GET', 'bad')).status).toBe(404);
  });
});

describe('an update', () => {
  test('PATCH changes what is sent, PUT makes the rest null; the record can be put back', async () => {
    const [tea, cup] = [await product(), await product()];
    const id = await announced({ sku: tea, quantity: 1 }, { sku: cup, quantity: 2 });
    expect((await shop('PATCH', id, { eshopNote: 'n', rma: 'r' })).data).toMatchObject({
      eshopNote: 'n',
      rma: 'r',
    });
    const lines = [{ sku: cup, quantity: 2 }];
    const { data } = await shop('PUT', id, { returnedOrderProducts: lines });
    expect(data).toMatchObject({ eshopNote: null, rma: null });
    expect(data.returnedOrderProducts).toMatchObject([{ lineState: 'D' }, { lineState: 'E' }]);
    expect(await fired(id)).toEqual(['CREATE_RETURN', 'UPDATE_RETURN', 'UPDATE_RETURN']);
    for (const version of ['v2', 'v21']) {
      const read = (await api.shop('GET', `/${version}/returns/${id}`)).data;
      expect((await shop('PUT', id, read)).data).toEqual(data);
    }
    expect(await fired(id)).toHaveLength(3);
  });

  test('once it has arrived only some fields', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 1 });
    await way(id, 'arrived');
    expect((await shop('PATCH', id, { eshopNote: 'call me' })).data.eshopNote).toBe('call me');
    const refused = await shop('PATCH', id, { shipper: 'x' });
    expect(refused.status).toBe(409);
    expect(refused.body.message).toBe(
      'The return is arrived: only description, eshopNote, rma can be changed now, not shipper.',
    );
  });

  test('what another e-shop announced does not exist', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 1 });
    const other = await api.newEshop();
    expect((await other.shop.request('GET', `/v21/returns/${id}`)).status).toBe(404);
    expect((await other.shop.request('PATCH', `/v21/returns/${id}`, { rma: 'x' })).status).toBe(404);
    expect((await other.shop.request('POST', `/v21/returns/${id}/cancel`)).status).toBe(404);
    expect((await other.shop.request('GET', '/v21/returns')).data).toEqual([]);
  });
});

describe('the warehouse', () => {
  test('every pair of statuses is allowed or 409 exactly as the table says', async () => {
    const sku = await product();
    const ways: Record<string, string[]> = {
      awaiting: [],
      arrived: ['arrived'],
      processing: ['arrived', 'processing'],
      completed: ['arrived', 'processing', 'completed'],
      rejected: ['arrived', 'rejected'],
      canceled: ['canceled'],
    };
    for (const from of returnStatuses) {
      for (const to of returnStatuses) {
        const id = await announced({ sku, quantity: 1 });
        await way(id, ...(ways[from] ?? []));
        const allowed: readonly string[] = returnTransitions[from];
        expect((await move(id, to)).status, `${from} → ${to}`).toBe(allowed.includes(to) ? 200 : 409);
      }
    }
  });

  test('its statuses set times and a note, and fire UPDATE_RETURN_STATUS alone', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 1 });
    expect((await move(id, 'arrived', { note: 'torn' })).data).toMatchObject({
      receivedAt: time,
      note: 'torn',
    });
    expect((await move(id, 'processing')).data).toMatchObject({ note: 'torn', confirmedAt: null });
    expect((await move(id, 'completed', { note: 'fine' })).data).toMatchObject({
      confirmedAt: time,
      note: 'fine',
    });
    expect(await fired(id)).toEqual(['CREATE_RETURN', ...Array(3).fill('UPDATE_RETURN_STATUS')]);
    const gone = await announced({ sku, quantity: 1 });
    const canceled = await api.shop('POST', `/v21/returns/${gone}/cancel`);
    expect(canceled.data).toMatchObject({ status: 'canceled', canceledAt: time });
    expect((await api.shop('POST', `/v21/returns/${gone}/cancel`)).status).toBe(409);
    expect((await api.shop('PUT', `/v21/warehouse/returns/${id}/status`, { status: 'x' })).status).toBe(403);
  });

  test('completed: one movement per line that goes back or of which nothing was decided', async () => {
    const skus = await Promise.all(Array.from({ length: 5 }, product));
    const id = await announced(...skus.map((sku) => ({ sku, quantity: 3, returnReason: 'unwanted' })));
    const resolutions = ['returnToInventory', 'qualityHold', 'dispose', 'sendBack'];
    await way(id, 'arrived');
    const counted = await count(
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
    expect((await fired(id)).at(-1)).toBe('UPDATE_RETURN');
    await way(id, 'processing', 'completed');
    const available = await Promise.all(skus.map(async (sku) => (await stockOf(sku)).available));
    expect(available).toEqual(['2.5', '0', '0', '0', '3']);
    const { data } = await api.shop('GET', `/v2/stock-movements?type=return&sku=${skus[0]}`);
    expect(data).toMatchObject([{ count: '2.5', lot: 'A', reference: id, balance: '2.5' }]);
    expect(await fired(String(data[0].id))).toEqual(['CREATE_STOCK_MOVEMENT_RETURN']);
  });

  test('rejected: nothing comes back; counted only while it is there', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 3 });
    expect((await count(id, { sku, received: 1 })).status).toBe(409);
    await way(id, 'arrived');
    expect((await count(id, { sku: 'NONE', received: 1 })).body.message).toContain(
      '"NONE" was not announced',
    );
    expect((await count(id, { sku, received: 1, resolution: 'x' })).status).toBe(400);
    await way(id, 'rejected');
    expect((await count(id, { sku, received: 1 })).body.message).toBe(
      'The return is rejected: it is counted while it is arrived or processing.',
    );
    expect(await stockOf(sku)).toMatchObject({ available: '0' });
  });

  test('lines that were read can be sent, with what was decided', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 3, returnReason: 'other' });
    await way(id, 'arrived');
    const [read] = (await shop('GET', id)).data.returnedOrderProducts;
    const [line] = (await count(id, { ...read, received: 3, resolution: 'dispose' })).data
      .returnedOrderProducts;
    expect(line).toEqual({ ...read, received: 3, resolution: 'dispose' });
  });

  test('completed twice at once: once', async () => {
    const sku = await product();
    const id = await announced({ sku, quantity: 3 });
    await way(id, 'arrived', 'processing');
    const answers = await Promise.all([1, 2, 3].map(() => move(id, 'completed')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await stockOf(sku)).toMatchObject({ available: '3' });
  });
});

test('the list is filtered and paged', async () => {
  const sku = await product();
  const [first, second] = [await announced({ sku, quantity: 1 }), await announced({ sku, quantity: 1 })];
  const before = (await shop('GET', second)).data.createdAt;
  await move(first, 'canceled');
  const ids = async (query: string): Promise<string[]> =>
    (await api.shop('GET', `/v2/returns?items=100&${query}`)).data.map(
      ({ eshopReturnId }: { eshopReturnId: string }) => eshopReturnId,
    );
  expect(await ids('status=canceled')).toContain(first);
  expect(await ids(`createdSince=${before}`)).toContain(second);
  expect(await ids(`updatedSince=${before}&status=canceled`)).toContain(first);
  expect(await ids(`createdSince=${before}`)).not.toContain('vratka 1/ž');
});
