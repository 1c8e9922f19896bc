/** Creations at the same moment share a statement but are independent of each other. */
import { expect, test } from 'vitest';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { insertWebhook } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
await stockedProducts(api.eshop);

const create = (body: object) => api.shop('POST', '/v21/orders', body);
const strange = (id: string) => ({ ...minimalOrder(id), orderProducts: [{ sku: 'NONE', quantity: 1 }] });

test('concurrent creations get individual answers, such as created, duplicate or unknown product', async () => {
  await create(minimalOrder('there'));
  const bodies = [
    minimalOrder('new-1'),
    minimalOrder('there'),
    strange('strange'),
    minimalOrder('new-2'),
    strange('there'),
    minimalOrder('twice'),
    minimalOrder('twice'),
  ];
  const answers = await Promise.all(bodies.map(create));
  expect(answers.slice(0, 5).map(({ status }) => status)).toEqual([200, 409, 400, 200, 400]);
  expect(answers[2]?.body.message).toBe('orderProducts.0.sku: "NONE" is not a known product');
  expect(
    answers
      .slice(5)
      .map(({ status }) => status)
      .sort(),
  ).toEqual([200, 409]);
  const rows = await api.sql`
    select entity_id, count(*)::int as events from events where type = 'CREATE_ORDER' and entity_id <> 'there'
    group by entity_id order by entity_id`;
  expect(rows.map((row) => ({ ...row }))).toEqual(
    ['new-1', 'new-2', 'twice'].map((entityId) => ({ entityId, events: 1 })),
  );
  const lines =
    await api.sql`select count(*)::int as lines from order_products where eshop_order_id = 'twice'`;
  expect(lines[0]?.lines).toBe(1);
});

test('a change to an unknown product is refused, and nothing changes', async () => {
  await create(minimalOrder('changed'));
  const body = { note: 'x', orderProducts: [{ sku: 'NONE', quantity: 1 }] };
  const answer = await api.shop('PATCH', '/v21/orders/changed', body);
  expect(answer.body).toMatchObject({
    statusCode: 400,
    message: 'orderProducts.0.sku: "NONE" is not a known product',
  });
  expect((await api.shop('GET', '/v21/orders/changed')).data.note).toBeNull();
});

test('a hundred webhooks get their deliveries in webhook order, one order after another', async () => {
  const eshop = await api.newEshop();
  await stockedProducts(eshop);
  const webhooks: number[] = [];
  for (let index = 0; index < 100; index += 1)
    webhooks.push(await insertWebhook(api.sql, eshop.eshopId, 'CREATE_ORDER'));
  for (const id of ['1', '2', '3']) await eshop.shop.request('POST', '/v21/orders', minimalOrder(id));
  const rows = await api.sql<{ id: string; webhookId: number; entityId: string }[]>`
    select id, webhook_id, entity_id from deliveries where eshop_id = ${eshop.eshopId} order by id`;
  expect(rows.map(({ entityId, webhookId }) => [entityId, webhookId])).toEqual(
    ['1', '2', '3'].flatMap((id) => webhooks.map((webhook) => [id, webhook])),
  );
  // UUIDv7: it begins with the time.
  for (const { id } of rows) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Math.abs(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) - Date.now())).toBeLessThan(
      60_000,
    );
  }
});

test('concurrent requests are authenticated individually', async () => {
  const other = await api.newEshop();
  const list = (apiKey: string, token: string) =>
    api.anonymous('GET', '/v21/orders', undefined, { 'x-api-key': apiKey, authorization: token });
  const { eshop } = api;
  const answers = await Promise.all([
    list(eshop.apiKey, eshop.shop.token),
    list(other.apiKey, eshop.shop.token),
    list(other.apiKey, other.warehouse.token),
    list('wb_none', other.shop.token),
    list(eshop.apiKey, `${eshop.shop.token}x`),
    list(eshop.apiKey, eshop.shop.token),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401, 401, 200]);
});
