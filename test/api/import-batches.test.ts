/** Import lines that share a transaction: each is written entirely or not at all, independently of the others. */
import { beforeEach, describe, expect, test } from 'vitest';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { minimalOrder, stockedProduct } from '../support/api/orders.ts';
import { insertWebhook } from '../support/database/events.ts';
import { untilBlocked } from '../support/database/lock-waits.ts';
import { later } from '../support/later.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { eshop } = eshopOfEachTest(api, async (made) => {
  for (const sku of ['TEA', 'CUP']) await stockedProduct(made, sku, '10');
});

const ndjson = { 'content-type': 'application/x-ndjson' };
type Result = Record<string, unknown>;

async function send(lines: readonly object[]): Promise<Result[]> {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const answer = await eshop.warehouse.request('POST', '/v21/warehouse/events/import', text, ndjson);
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
const movement = (count: number, more: object = {}, around: object = {}) => ({
  operation: 'stockMovement',
  ...around,
  body: { type: 'stock_correction', sku: 'TEA', count, ...more },
});
const status = (id: string, to: string) => ({ operation: 'orderStatus', id, body: { status: to } });
const codes = (results: readonly Result[]) => results.map(({ statusCode }) => statusCode);
const available = async (sku = 'TEA') =>
  (await eshop.shop.request('GET', `/v2/products/${sku}`)).data.stock.available;
const newOrder = (id: string) => eshop.shop.request('POST', '/v21/orders', minimalOrder(id));

/** The number of transactions that wrote the e-shop's movements. */
const transactions = async () => {
  const [row] = await api.sql<{ count: number }[]>`
    select count(distinct xmin::text)::int as count from stock_movements where eshop_id = ${eshop.eshopId}`;
  return row?.count ?? 0;
};

test('many lines share few transactions', async () => {
  const before = await transactions();
  const results = await send(Array.from({ length: 100 }, () => movement(1)));
  expect(codes(results)).toEqual(results.map(() => 200));
  expect(await available()).toBe('110');
  // Four, and a few more for each transaction's time that the machine was busy otherwise.
  expect((await transactions()) - before).toBeLessThan(50);
});

test('deliveries of an import get the class bulk, those of occasional lines the class fresh', async () => {
  const type = 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION';
  const webhookId = await insertWebhook(api.sql, eshop.eshopId, type);
  const classes = async () =>
    (
      await api.sql<
        { class: number }[]
      >`select distinct class from deliveries where webhook_id = ${webhookId}`
    ).map((row) => row.class);
  for (let line = 0; line < 3; line += 1) await send([movement(1)]);
  expect(await classes()).toEqual([CLASS.fresh]);
  await send(Array.from({ length: 200 }, () => movement(1)));
  expect(await classes()).toContain(CLASS.bulk);
  await api.sql`update webhooks set active = false where id = ${webhookId}`;
});

test('movements of a product have rising ids and balances, and fire events in that order', async () => {
  const type = 'CREATE_STOCK_MOVEMENT_STOCK_CORRECTION';
  const webhooks = [
    await insertWebhook(api.sql, eshop.eshopId, type),
    await insertWebhook(api.sql, eshop.eshopId, type),
  ];
  const results = await send(Array.from({ length: 60 }, (_, index) => movement(index + 1)));
  const ids = results.map(({ id }) => Number(id));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  const deliveries = await api.sql<{ entityId: string; webhookId: number; snapshot: string }[]>`
    select d.entity_id, d.webhook_id, e.snapshot from deliveries d join events e on e.id = d.event_id
    where d.eshop_id = ${eshop.eshopId} order by d.id`;
  expect(deliveries.map(({ entityId, webhookId }) => [Number(entityId), webhookId])).toEqual(
    ids.flatMap((id) => webhooks.map((webhook) => [id, webhook])),
  );
  let balance = 10;
  for (const [index, { snapshot }] of deliveries.filter((_, index) => index % 2 === 0).entries()) {
    balance += index + 1;
    expect(JSON.parse(snapshot)).toMatchObject({
      id: ids[index],
      count: `${index + 1}`,
      balance: `${balance}`,
    });
  }
});

test('a line that fails midway leaves no partial changes to the lines after it', async () => {
  const products = [
    { sku: 'TEA', quantity: 4 },
    { sku: 'CUP', quantity: 40 },
  ];
  await eshop.shop.request('POST', '/v21/orders', { eshopOrderId: 'short', orderProducts: products });
  await newOrder('fits');
  const results = await send([status('short', 'received'), movement(-9), status('fits', 'received')]);
  expect(codes(results)).toEqual([409, 200, 200]);
  expect(await available()).toBe('0');
  expect(await available('CUP')).toBe('10');
  const { data } = await eshop.shop.request('GET', '/v21/orders/short');
  expect(data).toMatchObject({ status: 'preReceived', statusHistory: [{ status: 'preReceived' }] });
});

test('an order changed by several lines fires one event per step', async () => {
  await newOrder('a');
  const steps = ['received', 'processing', 'packed', 'processing', 'waitingForCarrier', 'onTheWay'];
  expect(codes(await send(steps.map((to) => status('a', to))))).toEqual([200, 200, 200, 409, 200, 200]);
  const { data } = await eshop.shop.request('GET', '/v21/orders/a');
  const way = ['preReceived', 'received', 'processing', 'packed', 'waitingForCarrier', 'onTheWay'];
  expect(data.statusHistory.map((step: { status: string }) => step.status)).toEqual(way);
  const events = await api.sql<{ snapshot: string }[]>`
    select snapshot from events where eshop_id = ${eshop.eshopId} and type = 'UPDATE_ORDER_STATUS' order by id`;
  expect(events.map(({ snapshot }) => JSON.parse(snapshot).status)).toEqual(way.slice(1));
});

describe('database errors', () => {
  beforeEach(() =>
    api.sql.unsafe(`
      create function refuse_thirteen() returns trigger language plpgsql as $$
        begin raise exception 'thirteen' using errcode = 'check_violation'; end $$;
      create trigger refuse_thirteen before insert on stock_movements
        for each row when (new.count = 13) execute function refuse_thirteen()`),
  );
  const cleanUp = () => api.sql.unsafe('drop function if exists refuse_thirteen cascade');

  test('a constraint violation fails only its own line, whose key stays free', async () => {
    try {
      const lines = Array.from({ length: 30 }, (_, index) =>
        movement(index === 12 ? 13 : 1, {}, { idempotencyKey: `k-${index}` }),
      );
      expect(codes(await send(lines))).toEqual(lines.map((_, index) => (index === 12 ? 500 : 200)));
      expect(await available()).toBe('39');
      await cleanUp();
      const again = await send(lines);
      expect(again.map(({ repeated }) => repeated === true)).toEqual(lines.map((_, index) => index !== 12));
      expect(await available()).toBe('52');
    } finally {
      await cleanUp();
    }
  });
});

test('imports with records in opposite orders do not deadlock', async () => {
  const ids = Array.from({ length: 8 }, (_, index) => `o-${index}`);
  for (const id of ids) await newOrder(id);
  const lines = ids.flatMap((id, index) => [
    status(id, 'suspended'),
    movement(1, { sku: index % 2 === 0 ? 'TEA' : 'CUP' }),
    status(id, 'preReceived'),
  ]);
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => send(index % 2 === 0 ? lines : [...lines].reverse())),
  );
  expect(answers.flat().filter(({ statusCode }) => statusCode !== 200 && statusCode !== 409)).toEqual([]);
  expect([await available(), await available('CUP')]).toEqual(['34', '34']);
});

test('a line waits for a locked record, and then reads the committed result', async () => {
  await newOrder('a');
  const [released, release] = later();
  const [isLocked, locked] = later();
  const held = api.sql.begin(async (tx) => {
    await tx`update orders set note = 'left by another' where eshop_id = ${eshop.eshopId} and eshop_order_id = 'a'`;
    locked();
    await released;
  });
  await isLocked;
  const sent = send([status('a', 'suspended')]);
  await untilBlocked(api.sql);
  release();
  await held;
  expect(codes(await sent)).toEqual([200]);
  const [event] = await api.sql`
    select snapshot from events where eshop_id = ${eshop.eshopId} and type = 'UPDATE_ORDER_STATUS'`;
  expect(JSON.parse(event?.snapshot)).toMatchObject({ status: 'suspended', note: 'left by another' });
});
