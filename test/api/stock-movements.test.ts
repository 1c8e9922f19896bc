/**
 * Stock movements over HTTP: their effect on a product's stock, and their events.
 */
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { eventOfMovement, stockMovementTypes } from '../../src/domain/event-types.ts';
import { render } from '../../src/domain/render.ts';
import { stockMovementRecordSchema } from '../../src/domain/stock/movement.ts';
import { newProduct } from '../support/api/orders.ts';
import { firedEvents, insertWebhook } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const product = (available: string) => newProduct(api.eshop, available);
const move = (body: object) => api.warehouse('POST', '/v21/warehouse/stock-movements', body);
const stockOf = async (sku: string) => (await api.shop('GET', `/v2/products/${sku}`)).data.stock;

describe('creation', () => {
  test('a movement returns its id, balance and time, and reads back as written in both versions', async () => {
    const sku = await product('0.25');
    const answer = await move({
      type: 'completition',
      sku,
      count: '2.500',
      lot: 'L1',
      expirationDate: '2030-01-01T01:00:00+01:00',
      reference: 'kit 7',
      note: 'assembled',
    });
    expect(answer.body).toMatchObject({ statusCode: 200, message: 'Stock movement recorded.' });
    expect(answer.data).toMatchObject({
      type: 'completition',
      sku,
      count: 2.5,
      lot: 'L1',
      expirationDate: '2030-01-01T00:00:00.000Z',
      reference: 'kit 7',
      note: 'assembled',
      balance: 2.75,
    });
    const path = `/stock-movements/${answer.data.id}`;
    const v21 = await api.shop('GET', `/v21${path}`);
    expect(v21.data).toEqual(answer.data);
    expect(v.is(stockMovementRecordSchema('v21'), v21.data)).toBe(true);
    const v2 = await api.shop('GET', `/v2${path}`);
    expect(v2.data).toEqual({ ...answer.data, count: '2.5', balance: '2.75' });
    expect(v.is(stockMovementRecordSchema('v2'), v2.data)).toBe(true);
  });

  test.each(stockMovementTypes)('%s fires its event, with the record as its snapshot', async (type) => {
    const sku = await product('10');
    if (type === 'quality_release') await move({ type: 'quality_hold', sku, count: 5 });
    const webhook = await insertWebhook(api.sql, api.eshop.eshopId, eventOfMovement(type));
    const woken = api.notified();
    const { data } = await move({ type, sku, count: 2 });
    expect(api.notified()).toBe(woken + 1);
    const fired = await firedEvents(api.sql, api.eshop.eshopId, String(data.id));
    expect(fired.map((event) => [event.type, event.webhookIds])).toEqual([
      [eventOfMovement(type), [webhook]],
    ]);
    for (const version of ['v2', 'v21'] as const) {
      const payload: unknown = JSON.parse(
        render(fired[0]?.snapshot ?? '', { version, withPackingLists: false }),
      );
      expect(payload).toEqual((await api.shop('GET', `/${version}/stock-movements/${data.id}`)).data);
    }
  });
});

describe('the effect on stock', () => {
  test('a hold and a release move units between available and onHold', async () => {
    const sku = await product('10');
    expect((await move({ type: 'quality_hold', sku, count: 4 })).data.balance).toBe(6);
    expect(await stockOf(sku)).toMatchObject({ available: '6', onHold: '4' });
    expect((await move({ type: 'quality_release', sku, count: 1 })).data.balance).toBe(7);
    expect(await stockOf(sku)).toMatchObject({ available: '7', onHold: '3' });
  });

  test.each([
    ['stock_correction', -11, 'has only 10 available'],
    ['quality_hold', 10.5, 'has only 10 available'],
    ['quality_release', 1, 'has only 0 on hold'],
    ['receiving', 999_999_990, 'would reach 1000000000 units'],
  ])('%s of %s is refused as a whole', async (type, count, why) => {
    const sku = await product('10');
    const refused = await move({ type, sku, count });
    expect(refused.status).toBe(409);
    expect(refused.body).toEqual({
      statusCode: 409,
      error: 'Conflict',
      message: `The stock cannot be moved: ${sku} ${why}.`,
    });
    expect(await stockOf(sku)).toMatchObject({ available: '10', onHold: '0' });
    expect((await api.shop('GET', `/v21/stock-movements?sku=${sku}`)).data).toHaveLength(1);
  });
});

describe('refusals', () => {
  test('a shop cannot move stock, and movements of another e-shop do not exist', async () => {
    const sku = await product('10');
    const body = { type: 'stock_correction', sku, count: 1 };
    expect((await api.shop('POST', '/v21/warehouse/stock-movements', body)).status).toBe(403);
    const { data } = await move(body);
    const { shop, warehouse } = await api.newEshop();
    const path = `/v21/stock-movements/${data.id}`;
    expect((await shop.request('GET', path)).body.message).toBe(`Stock movement ${data.id} does not exist.`);
    expect((await shop.request('GET', '/v21/stock-movements')).data).toEqual([]);
    const foreign = await warehouse.request('POST', '/v21/warehouse/stock-movements', body);
    expect(foreign.body.message).toBe(`sku: "${sku}" is not a known product`);
    const status = async (id: string) => (await api.shop('GET', `/v21/stock-movements/${id}`)).status;
    for (const id of ['x', '1.5', '9007199254740992']) expect(await status(id), id).toBe(400);
    for (const id of ['-1', '9007199254740991']) expect(await status(id), id).toBe(404);
  });
});

test('movements are listed oldest first, paged, and filtered by sku, type and time', async () => {
  const sku = await product('10');
  await new Promise((resolve) => setTimeout(resolve, 5));
  const hold = (await move({ type: 'quality_hold', sku, count: 1 })).data;
  const release = (await move({ type: 'quality_release', sku, count: 1 })).data;
  const ids = async (query: string) =>
    (await api.shop('GET', `/v2/stock-movements?sku=${sku}&${query}`)).data.map(
      ({ id }: { id: number }) => id,
    );
  expect((await ids('')).slice(1)).toEqual([hold.id, release.id]);
  expect(await ids('type=quality_hold')).toEqual([hold.id]);
  expect(await ids(`since=${hold.createdAt}`)).toEqual([hold.id, release.id]);
  expect(await ids('page=3&items=1')).toEqual([release.id]);
  expect((await api.shop('GET', '/v2/stock-movements?type=none')).status).toBe(400);
  expect((await api.shop('GET', '/v2/stock-movements?since=yesterday')).status).toBe(400);
});
