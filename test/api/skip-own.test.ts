/** A webhook that leaves out its own e-shop's changes. */
import { expect, test } from 'vitest';
import { firedEvents, firedRows, isOwnChange } from '../../src/db/outbox/events.ts';
import { recordTestEvent } from '../../src/db/outbox/test-event.ts';
import { eventTypeNames } from '../../src/domain/event-types.ts';
import { isOwnChange as isLeftOut, origins } from '../../src/domain/origin.ts';
import type { TestEshop } from '../support/api/api.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { createWebhook, minimalWebhook } from '../support/api/webhooks.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const types = { webhookType: 'CREATE_ORDER', additionalTypes: ['UPDATE_ORDER', 'UPDATE_ORDER_STATUS'] };
const api = await apiOfFile();
const { eshop, request: shop } = eshopOfEachTest(api, stockedProducts);

const warehouse: TestEshop['warehouse']['request'] = (...args) => eshop.warehouse.request(...args);
const order = (id = '1') => shop('POST', '/v21/orders', minimalOrder(id));
const note = (by: typeof shop, text: string, id = '1') => by('PATCH', `/v21/orders/${id}`, { note: text });
const suspend = (id = '1') => warehouse('PUT', `/v21/warehouse/orders/${id}/status`, { status: 'suspended' });
/** The types of what the webhook gets, oldest first. */
const got = async (id: number) =>
  (await shop('GET', `/v21/webhooks/${id}/deliveries`)).data
    .map(({ webhookType }: { webhookType: string }) => webhookType)
    .reverse();

test('a skipOwn webhook gets changes by the warehouse and the service, not by its own e-shop', async () => {
  const { id } = await createWebhook(shop, { ...types, skipOwn: true });
  const { id: other } = await createWebhook(shop, types);
  await order();
  await note(shop, 'mine');
  await note(warehouse, 'theirs');
  await suspend();
  await shop('POST', '/v21/orders/1/cancel');
  expect(await got(id)).toEqual(['UPDATE_ORDER', 'UPDATE_ORDER_STATUS']);
  expect(await got(other)).toHaveLength(5);
  const record = { eshopId: eshop.eshopId, type: 'CREATE_ORDER', entityId: 'T', record: {} } as const;
  expect((await recordTestEvent(api.sql, record))?.deliveries).toHaveLength(2);
});

test('an absence is explained by the setting at that time', async () => {
  const { id } = await createWebhook(shop, { ...types, skipOwn: true });
  await order();
  await shop('PUT', `/v21/webhooks/${id}`, { ...minimalWebhook, ...types, skipOwn: false });
  await note(shop, 'mine');
  const [updated, created] = (await shop('GET', '/v21/events?entityId=1')).data;
  expect(updated.webhooks).toMatchObject([{ webhookId: id, state: 'pending' }]);
  expect(created.webhooks).toMatchObject([
    {
      webhookId: id,
      deliveryId: null,
      cause: 'ownChange',
      reason: `Webhook ${id} leaves out changes by the e-shop itself.`,
    },
  ]);
  expect(created.cause).toBe('noActiveWebhook');
  expect(created.reason).toContain('that takes changes by the e-shop itself');
});

test('a skipped event was not missed, and no recovery brings it', async () => {
  const { id } = await createWebhook(shop, { ...types, skipOwn: true });
  await shop('PUT', `/v21/webhooks/${id}/deactivate`);
  await order();
  await note(shop, 'mine');
  await suspend();
  const { data } = await shop('PUT', `/v21/webhooks/${id}/activate`);
  expect(data.missed.count).toBe(1);
  // It was so at the time of the events, whatever it is now.
  await shop('PUT', `/v21/webhooks/${id}`, { ...minimalWebhook, ...types, skipOwn: false });
  const found = await shop('POST', `/v21/webhooks/${id}/recover`, { include: ['missed'], dryRun: true });
  expect(found.data.count).toBe(1);
});

test('stock events come all the same: the e-shop cannot know them from its own requests', async () => {
  const { id } = await createWebhook(shop, {
    webhookType: 'UPDATE_PRODUCT',
    additionalTypes: ['CREATE_PRODUCT'],
    parameters: { onStockChange: true },
    skipOwn: true,
  });
  await order();
  await warehouse('PUT', '/v21/warehouse/orders/1/status', { status: 'received' });
  await shop('PATCH', '/v21/products/TEA', { name: 'Tea' });
  expect((await shop('POST', '/v21/orders/1/cancel')).status).toBe(200);
  const { data } = await shop('GET', `/v21/webhooks/${id}/deliveries`);
  expect(data.map(({ origin, changed }: Record<string, unknown>) => [origin, changed])).toEqual([
    ['shop', 'stock'],
    ['warehouse', 'stock'],
  ]);
});

test('database and domain agree on which events are own changes', async () => {
  const events = eventTypeNames.flatMap((type) =>
    origins.flatMap((origin) =>
      [null, 'stock', 'note', 'note,stock'].map((changed) => ({ type, origin, changed })),
    ),
  );
  const written = events.map((event) => ({
    ...event,
    entityId: '1',
    sequence: 1,
    happenedAt: null,
    snapshot: '{}',
  }));
  const rows = await api.sql<{ own: boolean }[]>`
    select ${isOwnChange(api.sql, 'f')} as own from (${firedRows(api.sql, firedEvents(written))}) f order by id`;
  expect(rows.map(({ own }) => own)).toEqual(events.map(isLeftOut));
});
