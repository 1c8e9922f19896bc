/**
 * Orders and stock: reserved when an order becomes received, freed when it does not go on, consumed when it leaves.
 */
import { describe, expect, test } from 'vitest';
import { newProduct } from '../support/api/orders.ts';
import { firedTypes } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

let made = 0;

const api = await apiOfFile();
const product = (available: string) => newProduct(api.eshop, available);
const lines = (...units: [sku: string, quantity: number | string][]) =>
  units.map(([sku, quantity]) => ({ sku, quantity }));
/** Creates a preReceived order. */
async function order(orderProducts: object[]): Promise<string> {
  made += 1;
  const eshopOrderId = `O-${made}`;
  const { status } = await api.shop('POST', '/v21/orders', { eshopOrderId, orderProducts });
  expect(status).toBe(200);
  return eshopOrderId;
}
const move = (id: string, status: string) =>
  api.warehouse('PUT', `/v21/warehouse/orders/${id}/status`, { status });
/** Moves it through these statuses, each answered 200. */
async function way(id: string, ...statuses: string[]): Promise<void> {
  for (const status of statuses) expect((await move(id, status)).body.statusCode, status).toBe(200);
}
const statusOf = async (id: string) => (await api.shop('GET', `/v21/orders/${id}`)).data.status;
const stockOf = async (sku: string) => (await api.shop('GET', `/v2/products/${sku}`)).data.stock;
const movementsOf = async (sku: string) =>
  (await api.shop('GET', `/v2/stock-movements?sku=${sku}&type=order`)).data;

test('an order that becomes received reserves the sum of its lines', async () => {
  const sku = await product('10');
  const id = await order(lines([sku, 2], [sku, '1.5']));
  expect(await stockOf(sku)).toMatchObject({ available: '10', reserved: '0' });
  await way(id, 'received');
  expect(await stockOf(sku)).toMatchObject({ available: '6.5', reserved: '3.5' });
  expect((await movementsOf(sku)).length).toBe(0);
});

test('an order short of two products is a 409 that names both, and reserves nothing', async () => {
  const [enough, few, none] = [await product('10'), await product('1'), await product('0')];
  const id = await order(lines([enough, 1], [few, 2], [none, 1]));
  const refused = await move(id, 'received');
  expect(refused.status).toBe(409);
  expect(refused.body.message).toBe(
    `The order ${id} cannot be reserved: ${few} has only 1 available, ${none} has only 0 available.`,
  );
  expect(await statusOf(id)).toBe('preReceived');
  expect(await stockOf(enough)).toMatchObject({ available: '10', reserved: '0' });
  expect(await firedTypes(api.sql, api.eshop.eshopId, id)).toEqual(['CREATE_ORDER']);
});

test('a change to a received order adjusts its reservation, or is refused', async () => {
  const [tea, cup] = [await product('10'), await product('10')];
  const id = await order(lines([tea, 5]));
  await way(id, 'received');
  const patch = (orderProducts: object[]) => api.shop('PATCH', `/v21/orders/${id}`, { orderProducts });
  expect((await patch(lines([tea, 2], [cup, 4]))).status).toBe(200);
  expect(await stockOf(tea)).toMatchObject({ available: '8', reserved: '2' });
  expect(await stockOf(cup)).toMatchObject({ available: '6', reserved: '4' });
  expect((await patch(lines([tea, 11]))).status).toBe(409);
  expect(await stockOf(tea)).toMatchObject({ available: '8', reserved: '2' });
  expect(await stockOf(cup)).toMatchObject({ available: '6', reserved: '4' });
  expect((await patch(lines([tea, 10]))).status).toBe(200);
  expect(await stockOf(cup)).toMatchObject({ available: '10', reserved: '0' });
});

describe('reservations', () => {
  test.each([
    ['received', []],
    ['processing', ['processing']],
    ['packed', ['processing', 'packed']],
    ['waitingForCarrier', ['processing', 'packed', 'waitingForCarrier']],
  ])('reserved units cannot be sold again while their order is %s', async (_status, statuses) => {
    const sku = await product('1');
    const [first, second] = [await order(lines([sku, 1])), await order(lines([sku, 1]))];
    await way(first, 'received', ...statuses);
    expect(await stockOf(sku)).toMatchObject({ available: '0', reserved: '1' });
    const refused = await move(second, 'received');
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain(`${sku} has only 0 available`);
    expect(await statusOf(first)).toBe(statuses.at(-1) ?? 'received');
  });

  test('an order that waits for its carrier cannot be canceled', async () => {
    const sku = await product('1');
    const id = await order(lines([sku, 1]));
    await way(id, 'received', 'processing', 'packed', 'waitingForCarrier');
    expect((await move(id, 'canceled')).status).toBe(409);
    expect((await api.shop('POST', `/v21/orders/${id}/cancel`)).status).toBe(409);
    expect(await stockOf(sku)).toMatchObject({ available: '0', reserved: '1' });
  });
});

describe('returned units', () => {
  test.each([
    ['canceled by the e-shop', [], 'cancel'],
    ['canceled by the warehouse', ['processing', 'packed', 'canceled'], null],
    ['short of products', ['productsNotAvailable'], null],
    ['suspended', ['processing', 'suspended'], null],
  ])('an order that is %s frees its units', async (_name, statuses, post) => {
    const sku = await product('10');
    const id = await order(lines([sku, 4]));
    await way(id, 'received', ...statuses);
    if (post !== null) expect((await api.shop('POST', `/v21/orders/${id}/${post}`)).status).toBe(200);
    expect(await stockOf(sku)).toMatchObject({ available: '10', reserved: '0' });
  });

  test('an order that is received again reserves its units again', async () => {
    const sku = await product('4');
    const id = await order(lines([sku, 4]));
    await way(id, 'received', 'suspended', 'received');
    expect(await stockOf(sku)).toMatchObject({ available: '0', reserved: '4' });
  });
});

test('an order that goes onTheWay makes one movement per line, within the status change', async () => {
  const [tea, cup] = [await product('10'), await product('3')];
  const id = await order([
    { sku: tea, quantity: 2, lot: 'A' },
    { sku: cup, quantity: 3 },
    { sku: tea, quantity: 1.5, lot: 'B' },
  ]);
  await way(id, 'received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay');
  expect(await stockOf(tea)).toMatchObject({ available: '6.5', reserved: '0' });
  expect(await stockOf(cup)).toMatchObject({ available: '0', reserved: '0' });
  expect(await movementsOf(tea)).toMatchObject([
    { type: 'order', count: '-2', lot: 'A', reference: id, balance: '6.5' },
    { type: 'order', count: '-1.5', lot: 'B', reference: id, balance: '6.5' },
  ]);
  const [movement] = await movementsOf(cup);
  expect(await firedTypes(api.sql, api.eshop.eshopId, String(movement.id))).toEqual([
    'CREATE_STOCK_MOVEMENT_ORDER',
  ]);
  await way(id, 'delivered');
  expect((await movementsOf(tea)).length).toBe(2);
});

describe('concurrency', () => {
  test('the last unit is sold once', async () => {
    const sku = await product('1');
    const ids = await Promise.all(Array.from({ length: 8 }, () => order(lines([sku, 1]))));
    const answers = await Promise.all(ids.map((id) => move(id, 'received')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect(await stockOf(sku)).toMatchObject({ available: '0', reserved: '1' });
  });

  test('orders with the same products in opposite orders do not deadlock', async () => {
    const skus = await Promise.all(Array.from({ length: 5 }, () => product('1000')));
    const one = lines(...skus.map((sku): [string, number] => [sku, 1]));
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) => order(i % 2 ? one : one.toReversed())),
    );
    const answers = await Promise.all(ids.map((id) => move(id, 'received')));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    for (const sku of skus) expect(await stockOf(sku)).toMatchObject({ available: '980', reserved: '20' });
  });
});
