/**
 * Receivings in the warehouse: moved on, counted, put into stock.
 */
import { describe, expect, test } from 'vitest';
import { announcementCalls } from '../support/api/announcements.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const calls = announcementCalls(api, 'receivings');

describe('the warehouse', () => {
  test('a status fires its event alone and requires the warehouse role; the e-shop can cancel', async () => {
    const sku = await calls.product();
    const id = await calls.announced({ sku, quantity: 2 });
    await calls.way(id, 'arrived');
    expect(await calls.fired(id)).toEqual(['CREATE_RECEIVING', 'UPDATE_RECEIVING_STATUS']);
    const path = `/v21/warehouse/receivings/${id}/status`;
    expect((await api.shop('PUT', path, { status: 'received' })).status).toBe(403);
    expect((await api.warehouse('PUT', path, { status: 'gone' })).status).toBe(400);
    expect(await calls.stockOf(sku)).toMatchObject({ awaiting: '2' });
    expect((await api.shop('POST', `/v21/receivings/${id}/cancel`)).data.status).toBe('canceled');
    expect(await calls.stockOf(sku)).toMatchObject({ awaiting: '0', available: '0' });
    expect((await api.shop('POST', `/v21/receivings/${id}/cancel`)).status).toBe(409);
  });

  test('a stocked receiving makes one movement per enabled line, of the counted or announced units', async () => {
    const [tea, cup, out] = [await calls.product('1'), await calls.product(), await calls.product()];
    const id = await calls.announced(
      { sku: tea, quantity: 10 },
      { sku: cup, quantity: '2.5' },
      { sku: out, quantity: 1 },
    );
    await calls.shop('PATCH', id, {
      products: [
        { sku: tea, quantity: 10 },
        { sku: cup, quantity: '2.5' },
      ],
    });
    await calls.way(id, 'arrived');
    const expirationDate = '2031-01-01T00:00:00.000Z';
    const counted = await calls.count(
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
    expect((await calls.fired(id)).at(-1)).toBe('UPDATE_RECEIVING');
    await calls.way(id, 'received', 'stocked');
    expect(await calls.stockOf(tea)).toMatchObject({ available: '10.5', awaiting: '0' });
    expect(await calls.stockOf(cup)).toMatchObject({ available: '2.5', awaiting: '0' });
    expect(await calls.stockOf(out)).toMatchObject({ available: '0', awaiting: '0' });
    const { data: movements } = await api.shop('GET', `/v2/stock-movements?type=receiving&sku=${tea}`);
    expect(movements).toMatchObject([
      { count: '6', lot: 'A', expirationDate, reference: id, balance: '7' },
      { count: '3.5', lot: 'B', expirationDate: null, reference: id, balance: '10.5' },
    ]);
    expect(await calls.fired(String(movements[0].id))).toEqual(['CREATE_STOCK_MOVEMENT_RECEIVING']);
  });

  test('lines can be sent back as read, with counts', async () => {
    const [tea, cup] = [await calls.product(), await calls.product()];
    const expirationDate = '2031-01-01T00:00:00.000Z';
    const id = await calls.announced({ sku: tea, quantity: 10, expirationDate }, { sku: cup, quantity: 1 });
    await calls.shop('PATCH', id, { products: [{ sku: tea, quantity: 10, expirationDate }] });
    await calls.way(id, 'arrived');
    const read = (await api.shop('GET', `/v2/receivings/${id}`)).data.products;
    expect((await calls.count(id, ...read)).data.products[0]).toMatchObject({
      received: null,
      expirationDate,
    });
    const [line, left] = (await calls.count(id, { ...read[0], received: 4, expirationDate: null })).data
      .products;
    expect(line).toEqual({ sku: tea, quantity: 10, lot: null, received: 4, expirationDate, lineState: 'E' });
    expect(left).toMatchObject({ sku: cup, lineState: 'D', received: null });
    expect((await calls.count(id, { ...read[0], lineState: 'X' })).status).toBe(400);
  });

  test('simultaneous moves to stocked add the units once', async () => {
    const sku = await calls.product();
    const id = await calls.announced({ sku, quantity: 3 });
    await calls.way(id, 'arrived', 'received');
    const answers = await Promise.all([1, 2, 3].map(() => calls.move(id, 'stocked')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await calls.stockOf(sku)).toMatchObject({ available: '3', awaiting: '0' });
  });
});
