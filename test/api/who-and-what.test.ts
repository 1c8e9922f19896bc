/** Who made a change, and which fields it concerned: for every way in which events come about. */
import { expect, test } from 'vitest';
import { databaseTime } from '../../src/db/clock.ts';
import { releasePreOrder } from '../../src/db/records/order-release.ts';
import { minimalOrder, stockedProduct, stockedProducts } from '../support/api/orders.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

/** The events of a record, oldest first: `<type> <origin> <changed>`. */
async function said(entityId: string): Promise<string[]> {
  const { data } = await api.shop('GET', `/v21/events?entityId=${entityId}`);
  return data
    .map(({ webhookType, origin, changed }: Record<string, string | null>) =>
      [webhookType, origin, changed ?? ''].join(' ').trim(),
    )
    .reverse();
}

test('changes to an order name the e-shop, the warehouse or the timer', async () => {
  const now = await databaseTime(api.sql);
  await api.shop('POST', '/v21/orders', {
    ...minimalOrder('who-1'),
    status: 'preOrder',
    releaseAt: '2100-01-01T00:00:00.000Z',
  });
  await api.sql`update orders set release_at = ${now} where eshop_order_id = 'who-1'`;
  expect(await releasePreOrder(api.sql, api.eshop.eshopId, 'who-1')).toBe(true);
  await api.shop('PATCH', '/v21/orders/who-1', { priority: 1, note: 'ring twice' });
  await api.warehouse('PATCH', '/v21/orders/who-1', { note: 'rings twice' });
  await api.warehouse('PUT', '/v21/warehouse/orders/who-1/status', { status: 'suspended' });
  await api.shop('POST', '/v21/orders/who-1/cancel');
  expect(await said('who-1')).toEqual([
    'CREATE_ORDER shop',
    'UPDATE_ORDER_STATUS service status,statusHistory',
    'UPDATE_ORDER shop note,priority',
    'UPDATE_ORDER warehouse note',
    'UPDATE_ORDER_STATUS warehouse status,statusHistory',
    'UPDATE_ORDER_STATUS shop status,canceledAt,statusHistory',
  ]);
});

test('billing fields that follow the recipient are named, too', async () => {
  await api.shop('POST', '/v21/orders', minimalOrder('who-2'));
  await api.shop('PATCH', '/v21/orders/who-2', { recipientName: 'Eva' });
  expect((await said('who-2')).at(-1)).toBe('UPDATE_ORDER shop recipientName,billingName');
});

test('a write that fires two events names all changed fields in both', async () => {
  const id = 'who-3';
  await api.shop('POST', '/v21/orders', minimalOrder('who-3-order'));
  await api.shop('POST', '/v21/returns', {
    eshopReturnId: id,
    eshopOrderId: 'who-3-order',
    returnedOrderProducts: [{ sku: 'TEA', quantity: 1, returnReason: 'unwanted' }],
  });
  await api.warehouse('PUT', `/v21/warehouse/returns/${id}/status`, { status: 'arrived', note: 'wet' });
  expect(await said(id)).toEqual([
    'CREATE_RETURN shop',
    'UPDATE_RETURN warehouse note,status,receivedAt',
    'UPDATE_RETURN_STATUS warehouse note,status,receivedAt',
  ]);
});

test('deliveries, redeliveries and payload headers name the same as the event; bodies do not', async () => {
  const { shop } = api;
  const webhooks = [
    await createWebhook(shop, { webhookType: 'CREATE_ORDER' }),
    await createWebhook(shop, { webhookType: 'UPDATE_ORDER_STATUS' }),
  ];
  await shop('POST', '/v21/orders', minimalOrder('who-5'));
  await api.warehouse('PUT', '/v21/warehouse/orders/who-5/status', { status: 'suspended' });
  const list = async (path: string) => (await shop('GET', path)).data;
  const [moved, created] = await list('/v21/deliveries?entityId=who-5');
  expect(created).toMatchObject({ origin: 'shop', changed: null });
  expect(moved).toMatchObject({ origin: 'warehouse', changed: 'status,statusHistory' });
  expect(await list(`/v21/webhooks/${webhooks[1]?.id}/deliveries`)).toEqual([moved]);
  const headers = async (id: string) => {
    const payload = await shop('GET', `/v21/deliveries/${id}/payload`);
    expect(payload.text).not.toMatch(/"(?:origin|changed)"/);
    return ['x-service-origin', 'x-service-changed'].map((name) => payload.headers.get(name));
  };
  expect(await headers(created.id)).toEqual(['shop', null]);
  expect(await headers(moved.id)).toEqual(['warehouse', 'status,statusHistory']);
  await api.sql`update deliveries set state = 'failed', finished_at = now() where id = ${moved.id}`;
  const again = (await shop('POST', `/v21/deliveries/${moved.id}/redeliver`)).data;
  expect(again).toMatchObject({ origin: 'warehouse', changed: 'status,statusHistory' });
  // Only its week's events are dropped: the redelivery is of a later week.
  await api.sql`delete from events where id = ${moved.eventId}`;
  expect((await shop('GET', `/v21/deliveries/${again.id}`)).data).toMatchObject({
    origin: null,
    changed: null,
  });
});

test('changes to a product and to its stock name their origin', async () => {
  const sku = await stockedProduct(api.eshop, 'WHO-4', '10');
  await api.shop('PATCH', `/v21/products/${sku}`, { price: '5', name: 'New' });
  expect(await said(sku)).toEqual(['CREATE_PRODUCT shop', 'UPDATE_PRODUCT shop name,price']);
  const line = { operation: 'stockMovement', body: { type: 'stock_correction', sku, count: 2 } };
  const imported = await api.warehouse('POST', '/v21/warehouse/events/import', `${JSON.stringify(line)}\n`, {
    'content-type': 'application/x-ndjson',
  });
  expect(imported.text).toContain('"statusCode":200');
  const { data } = await api.shop('GET', `/v21/stock-movements?sku=${sku}`);
  for (const { id } of data)
    expect(await said(String(id))).toEqual(['CREATE_STOCK_MOVEMENT_STOCK_CORRECTION warehouse']);
  expect(data).toHaveLength(2);
});
