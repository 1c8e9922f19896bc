/** Several event types on one webhook: written, checked, subscribed, explained. */
import { describe, expect, test } from 'vitest';
import { recordTestEvent } from '../../src/db/outbox/test-event.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { firedEvents } from '../support/database/events.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const ORDERS = ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'];
const body = {
  url: 'https://shop.example/hooks',
  webhookType: 'CREATE_ORDER',
  active: true,
  method: 'POST',
};

const api = await apiOfFile();
const { eshop, request: shop } = eshopOfEachTest(api, stockedProducts);

async function created(more: object = { additionalTypes: ORDERS }) {
  const { status, data } = await shop('POST', '/v21/webhooks', { ...body, ...more });
  expect(status).toBe(200);
  return data;
}
const put = (id: number, more: object) => shop('PUT', `/v21/webhooks/${id}`, { ...body, ...more });
const order = (eshopOrderId = '1') => shop('POST', '/v21/orders', minimalOrder(eshopOrderId));
const change = (eshopOrderId = '1', note = 'x') => shop('PATCH', `/v21/orders/${eshopOrderId}`, { note });
const fired = (entityId = '1') => firedEvents(api.sql, eshop.eshopId, entityId);

describe('validation', () => {
  test('a PUT checks every type, including kept ones, and names all problems at once', async () => {
    const { id } = await created();
    const lists = { parameters: { withPackingLists: true } };
    expect((await put(id, lists)).status).toBe(200);
    const none = await put(id, { ...lists, additionalTypes: [], url: 'shop' });
    expect(none.status).toBe(400);
    expect(none.body.message).toMatch(
      /url: .*parameters\.withPackingLists: allowed only for UPDATE_ORDER and/s,
    );
    const latest = await put(id, {
      additionalTypes: ['CREATE_STOCK_MOVEMENT_RETURN'],
      ordering: 'latest',
    });
    expect(latest.body.message).toMatch(/^ordering: latest is not for stock movements/);
    await put(id, { additionalTypes: ['CREATE_STOCK_MOVEMENT_RETURN'] });
    expect((await put(id, { ordering: 'latest' })).status).toBe(400);
    expect((await shop('GET', `/v21/webhooks/${id}`)).data).toMatchObject({
      ordering: 'none',
      parameters: null,
    });
  });

  test('the contract must allow every type, including kept ones', async () => {
    const { id } = await created();
    await api.sql`
      update eshops set contract = '{"webhookTypes": ["CREATE_ORDER", "UPDATE_ORDER"]}' where id = ${eshop.eshopId}`;
    const refused = 'additionalTypes: the contract does not allow UPDATE_ORDER_STATUS';
    expect((await put(id, {})).body.message).toContain(refused);
    const again = await shop('POST', '/v21/webhooks', { ...body, additionalTypes: ORDERS });
    expect(again.body.message).toContain(refused);
    expect((await put(id, { additionalTypes: ['UPDATE_ORDER'] })).status).toBe(200);
  });
});

test('the webhook gets events of each of its types, and no others', async () => {
  const [{ id }, all] = [await created(), await created({ additionalTypes: eventTypeNames })];
  await order();
  await change();
  const [made, changed] = await fired();
  expect([made?.type, changed?.type]).toEqual(['CREATE_ORDER', 'UPDATE_ORDER']);
  expect([made?.webhookIds, changed?.webhookIds]).toEqual([
    [id, all.id],
    [id, all.id],
  ]);
  await shop('PATCH', '/v21/products/TEA', { note: 'x' });
  const ofProduct = (await fired('TEA')).at(-1);
  expect(ofProduct).toMatchObject({ type: 'UPDATE_PRODUCT', webhookIds: [all.id] });
});

test('events follow the current types when these are changed, deactivated, activated, deleted or edited in SQL', async () => {
  const { id } = await created();
  await order();
  let count = 0;
  const reached = async () => {
    count += 1;
    await change('1', `note ${count}`);
    return (await fired()).at(-1)?.webhookIds;
  };
  expect(await reached()).toEqual([id]);
  await put(id, { additionalTypes: ['UPDATE_RETURN'] });
  expect(await reached()).toEqual([]);
  await put(id, { webhookType: 'UPDATE_ORDER' });
  expect(await reached()).toEqual([id]);
  await shop('PUT', `/v21/webhooks/${id}/deactivate`);
  expect(await reached()).toEqual([]);
  await shop('PUT', `/v21/webhooks/${id}/activate`);
  expect(await reached()).toEqual([id]);
  await api.sql`update webhooks set webhook_type = 'CREATE_RETURN' where id = ${id}`;
  expect(await reached()).toEqual([]);
  await api.sql`update webhooks set additional_types = '{UPDATE_ORDER}' where id = ${id}`;
  expect(await reached()).toEqual([id]);
  await shop('DELETE', `/v21/webhooks/${id}`);
  expect(await reached()).toEqual([]);
  expect(await api.sql`select from webhook_types where webhook_id = ${id} and subscribed`).toHaveLength(0);
});

test('test events reach the webhook by its additional types, too', async () => {
  const { id } = await created();
  const event = { eshopId: eshop.eshopId, type: 'UPDATE_ORDER', entityId: 'test', record: {} } as const;
  expect(await recordTestEvent(api.sql, event)).toMatchObject({ deliveries: [{ webhookId: id }] });
  expect(await recordTestEvent(api.sql, { ...event, type: 'UPDATE_RETURN' })).toBeNull();
});

describe('missed events', () => {
  /** Since a minute before: what happened before the webhook existed is asked for by name. */
  const recovered = async (id: number, more: object = {}) => {
    const since = new Date(Date.now() - 60_000).toISOString();
    const { data } = await shop('POST', `/v21/webhooks/${id}/recover`, { since, dryRun: true, ...more });
    return data.count;
  };

  test('an event counts as missed if the webhook had its type at that time', async () => {
    const { id } = await created({ webhookType: 'CREATE_ORDER', additionalTypes: [] });
    await order('1');
    await change('1');
    await put(id, { webhookType: 'CREATE_RETURN', additionalTypes: ['UPDATE_ORDER'], active: false });
    await order('2');
    await change('2');
    await change('2', 'y');
    await put(id, { webhookType: 'CREATE_PRODUCT', additionalTypes: [], active: false });
    await order('3');
    await change('3');
    // The first order was delivered; of the second its two changes are missing; nothing else was among the types.
    expect(await recovered(id)).toBe(2);
    const { data } = await shop('PUT', `/v21/webhooks/${id}/activate`);
    expect(data.missed.count).toBe(2);
  });

  test('from before the webhook existed, events of its present types count as missed', async () => {
    await order('1');
    await change('1');
    const { id } = await created({ webhookType: 'CREATE_RETURN', additionalTypes: [] });
    await put(id, { webhookType: 'CREATE_ORDER', additionalTypes: ['UPDATE_ORDER'] });
    expect(await recovered(id)).toBe(0);
    expect(await recovered(id, { include: ['missed'] })).toBe(2);
  });
});
