/** Events with their result at every webhook, and every cause of absence. */
import { describe, expect, test } from 'vitest';
import { recordCauses } from '../../src/api/event-schemas.ts';
import { recordTestEvent } from '../../src/db/outbox/test-event.ts';
import { eventCauses, webhookCauses } from '../../src/domain/absence.ts';
import { testRecordOf } from '../../src/domain/catalogue.ts';
import type { EventType } from '../../src/domain/event-types.ts';
import type { TestEshop } from '../support/api/api.ts';
import { fullOrder, minimalOrder, stockedProduct, stockedProducts } from '../support/api/orders.ts';
import { accepted, exhaustDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { insertDeliveryOf, insertEventAt } from '../support/database/event-rows.ts';
import { insertWebhook } from '../support/database/events.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const BEGINNING = '00000000-0000-0000-0000-000000000000';

const api = await apiOfFile();
const { eshop } = eshopOfEachTest(api, stockedProducts);

/** All causes seen so far. */
const named = new Set<string>();
const shop: TestEshop['shop']['request'] = async (...args) => {
  const answer = await eshop.shop.request(...args);
  for (const [, cause = ''] of answer.text.matchAll(/"cause":"(\w+)"/g)) named.add(cause);
  return answer;
};
const webhook = (type: EventType = 'CREATE_ORDER', state: { active?: boolean } = {}) =>
  insertWebhook(api.sql, eshop.eshopId, type, state);
const path = (id: number, rest = '') => `/v21/webhooks/${id}${rest}`;

async function order(eshopOrderId = '10001'): Promise<void> {
  expect((await shop('POST', '/v21/orders', minimalOrder(eshopOrderId))).status).toBe(200);
}

/** The only event of an order's creation. */
async function created(eshopOrderId = '10001') {
  const { body, data } = await shop('GET', `/v21/events?entityId=${eshopOrderId}&webhookType=CREATE_ORDER`);
  expect(body).toMatchObject({ statusCode: 200, message: 'Events found.' });
  expect(data).toHaveLength(1);
  return data[0];
}

test('an event shows its result at every webhook in one call', async () => {
  const [one, two, other] = [await webhook(), await webhook(), await webhook('UPDATE_ORDER')];
  await order();
  const event = await created();
  const [first, second] = event.webhooks;
  await makeAttempt(api.sql, first.deliveryId, 1, accepted);
  await makeAttempt(api.sql, second.deliveryId, 1, { nextAttemptAt: new Date('2030-01-01T00:00:00Z') });
  const outcome = { deliveryId: expect.any(String), cause: null, reason: null };
  expect(await created()).toEqual({
    id: expect.any(String),
    webhookType: 'CREATE_ORDER',
    entityId: '10001',
    sequence: 1,
    origin: 'shop',
    changed: null,
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    test: false,
    webhooks: [
      { ...outcome, webhookId: one, state: 'delivered', attemptsMade: 1, lastError: null },
      { ...outcome, webhookId: two, state: 'retrying', attemptsMade: 1, lastError: 'HTTP 503' },
    ],
    cause: null,
    reason: null,
  });
  expect(JSON.stringify(event)).not.toContain(`"webhookId":${other}`);
  expect((await shop('GET', `/v21/deliveries/${first.deliveryId}`)).data.eventId).toBe(event.id);
});

test('a test event is marked in its record and in its payloads', async () => {
  const id = await webhook();
  const { entityId, record } = testRecordOf('CREATE_ORDER', new Date());
  const { eshopId } = eshop;
  const made = await recordTestEvent(api.sql, { eshopId, type: 'CREATE_ORDER', entityId, record });
  expect(made?.deliveries).toMatchObject([{ webhookId: id }]);
  const { data } = await shop('GET', `/v21/events/${made?.eventId}`);
  expect(data).toMatchObject({
    test: true,
    origin: 'service',
    changed: null,
    entityId,
    record: { eshopOrderId: entityId },
  });
  const payload = await shop('GET', `/v21/deliveries/${made?.deliveries[0]?.id}/payload`);
  expect(payload.body).toMatchObject({ request: { method: 'POST', test: true } });
});

test('a single event has its record in the form of the version', async () => {
  expect((await shop('POST', '/v21/orders', fullOrder('10001'))).status).toBe(200);
  const { id } = await created();
  for (const version of ['v21', 'v2']) {
    const { body, data } = await shop('GET', `/${version}/events/${id}`);
    expect(body).toMatchObject({ statusCode: 200, message: 'Event found.' });
    expect(data).toMatchObject({ id, webhookType: 'CREATE_ORDER', entityId: '10001', webhooks: [] });
    const read = (await shop('GET', `/${version}/orders/10001?withPackingLists=true`)).data;
    expect(data.record).toEqual(read);
  }
  expect((await (await api.newEshop()).shop.request('GET', `/v21/events/${id}`)).body).toEqual({
    statusCode: 404,
    error: 'Not Found',
    message: `Event ${id} does not exist.`,
  });
  expect((await shop('GET', '/v21/events/1')).status).toBe(400);
});

test('events are listed newest first, paged and filtered; from a cursor, oldest first', async () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 10, 20, hour));
  const event = (hour: number, type: EventType, entityId: string) =>
    insertEventAt(api.sql, at(hour), { eshopId: eshop.eshopId, type, entityId });
  const all = [
    await event(8, 'CREATE_ORDER', '1'),
    await event(9, 'UPDATE_ORDER', '1'),
    await event(10, 'CREATE_ORDER', '2'),
    await event(11, 'CREATE_RETURN', '1'),
  ];
  const [first, second, third, fourth] = all;
  const ids = async (query: string) => {
    const { data } = await shop('GET', `/v21/events?until=2026-11-21T00:00:00Z${query}`);
    return data.map(({ id }: { id: string }) => id);
  };
  expect(await ids('')).toEqual(all.toReversed());
  expect(await ids('&items=3&page=2')).toEqual([first]);
  expect(await ids('&webhookType=CREATE_ORDER')).toEqual([third, first]);
  expect(await ids('&entityId=1')).toEqual([fourth, second, first]);
  expect(await ids('&entityId=1&webhookType=UPDATE_ORDER')).toEqual([second]);
  expect(await ids('&since=2026-11-20T09:00:00Z&items=2&page=2')).toEqual([second]);
  expect(await ids(`&after=${BEGINNING}&items=3`)).toEqual([first, second, third]);
  expect(await ids(`&after=${third}`)).toEqual([fourth]);
  const page = await shop('GET', '/v21/events?until=2026-11-21T00:00:00Z&items=3');
  expect(page.body.pagination).toEqual({ page: 1, items: 3, totalCount: 4, totalPages: 2 });
  const cursor = await shop('GET', `/v21/events?until=2026-11-21T00:00:00Z&items=3&after=${BEGINNING}`);
  expect(cursor.body.cursor).toEqual({ after: third, more: true });
  const other = await api.newEshop();
  expect((await other.shop.request('GET', '/v21/events')).data).toEqual([]);
});

test('an event lists its redeliveries, too', async () => {
  const webhookId = await webhook();
  await order();
  const { id, webhooks } = await created();
  const again = await insertDeliveryOf(api.sql, id, { webhookId, again: new Date(Date.now() + 60_000) });
  const deliveries = (await created()).webhooks.map(({ deliveryId }: { deliveryId: string }) => deliveryId);
  expect(deliveries).toEqual([webhooks[0].deliveryId, again]);
});

describe('why an event did not reach a webhook', () => {
  /** The result at one webhook. */
  async function saidOf(webhookId: number) {
    const { webhooks, ...event } = await created();
    const { cause, reason, deliveryId, state } = webhooks.find(
      (each: { webhookId: number }) => each.webhookId === webhookId,
    );
    expect([deliveryId, state]).toEqual([null, null]);
    expect(event.cause).not.toBeNull();
    return { cause, reason, event };
  }

  test('there has been no webhook of the type', async () => {
    await webhook('UPDATE_ORDER');
    await order();
    expect(await created()).toMatchObject({
      webhooks: [],
      cause: 'noWebhook',
      reason: 'There has been no webhook of the type CREATE_ORDER.',
    });
  });

  test('the webhook was created later', async () => {
    await order();
    const id = await webhook();
    const { cause, reason, event } = await saidOf(id);
    expect([cause, event.cause]).toEqual(['createdLater', 'noActiveWebhook']);
    expect(reason).toMatch(new RegExp(`^Webhook ${id} was created later, at \\d{4}-.*Z\\.$`));
    expect(event.reason).toBe(
      `No webhook of the type CREATE_ORDER was active at ${event.createdAt}. ${reason}`,
    );
  });

  test('only the stock of a product changed, and the webhook had not asked for that', async () => {
    const plain = await webhook('UPDATE_PRODUCT');
    const asks = await webhook('UPDATE_PRODUCT', { active: false });
    await api.sql`update webhooks set parameters = '{"onStockChange": true}' where id = ${asks}`;
    await stockedProduct(eshop, 'POT', '3');
    const { data } = await shop('GET', '/v21/events?entityId=POT&items=1');
    expect(data[0]).toMatchObject({
      webhookType: 'UPDATE_PRODUCT',
      changed: 'stock',
      cause: 'noActiveWebhook',
      reason: expect.stringMatching(
        /^No webhook of the type UPDATE_PRODUCT that asks for changes to stock alone was active at /,
      ),
      webhooks: [
        { webhookId: plain, cause: 'stockOnly' },
        { webhookId: asks, cause: 'createdInactive' },
      ],
    });
  });

  test('the webhook was created inactive', async () => {
    const id = await webhook('CREATE_ORDER', { active: false });
    await order();
    const { cause, reason } = await saidOf(id);
    expect(cause).toBe('createdInactive');
    expect(reason).toMatch(/was inactive: it was created inactive at .*Z and had not been activated yet\.$/);
  });

  test('the webhook had been deactivated by a request that changed its URL, too', async () => {
    const id = await webhook();
    const { data } = await shop('GET', path(id));
    await shop('PUT', path(id), { ...data, url: `${data.url}/moved`, active: false });
    await order();
    expect(await saidOf(id)).toMatchObject({ cause: 'deactivatedByUser' });
  });

  test('the webhook had been deactivated on request, even if it was activated since', async () => {
    const id = await webhook();
    const { data } = await shop('PUT', path(id, '/deactivate'));
    await order();
    await shop('PUT', path(id, '/activate'));
    const { cause, reason } = await saidOf(id);
    expect(cause).toBe('deactivatedByUser');
    const at = reason.match(/it had been deactivated at (.*) on request\.$/)[1];
    expect(Math.abs(Date.parse(at) - Date.parse(data.unregisteredAt))).toBeLessThan(1_000);
  });

  test.each([
    ['retriesExhausted', {}, /because all retries of delivery D had failed \(HTTP 503\)\.$/],
    [
      'gone',
      { outcome: 'gone', status: 410 },
      /because its receiver had responded to delivery D with 410 Gone\.$/,
    ],
  ] as const)('the webhook had been deactivated: %s', async (cause, result, message) => {
    const id = await webhook();
    await order('before');
    const { deliveryId } = (await created('before')).webhooks[0];
    await exhaustDelivery(api.sql, deliveryId, result);
    await order();
    const said = await saidOf(id);
    expect(said.cause).toBe(cause);
    expect(said.reason.replace(deliveryId, 'D')).toMatch(message);
  });

  test('the webhook was of another type', async () => {
    const id = await webhook('UPDATE_ORDER');
    await order();
    const fields = { url: 'https://shop.example', webhookType: 'CREATE_ORDER', active: true, method: 'POST' };
    await shop('PUT', path(id), fields);
    expect(await saidOf(id)).toMatchObject({
      cause: 'otherType',
      reason: `Webhook ${id} was of the type UPDATE_ORDER at that time.`,
    });
  });

  test('the webhook leaves out changes by the e-shop itself', async () => {
    const id = await webhook();
    await api.sql`update webhooks set skip_own = true where id = ${id}`;
    await order();
    expect(await saidOf(id)).toMatchObject({ cause: 'ownChange' });
  });

  test('the webhook was deleted before or after the event', async () => {
    const [before, since] = [await webhook(), await webhook()];
    await shop('DELETE', path(before));
    await order();
    await shop('DELETE', path(since));
    expect(await saidOf(before)).toMatchObject({
      cause: 'deletedBefore',
      reason: expect.stringMatching(`^Webhook ${before} had been deleted at .*Z\\.$`),
    });
    const { cause, reason, event } = await saidOf(since);
    expect(cause).toBe('deletedSince');
    expect(reason).toMatch(/was deleted at .*Z; its deliveries are no longer available\.$/);
    expect(event).toMatchObject({ cause: 'noLongerThere', reason });
  });

  test('existing webhooks are explained first; deleted ones are only counted', async () => {
    const deleted = [await webhook(), await webhook()];
    for (const id of deleted) await shop('DELETE', path(id));
    const inactive = await webhook();
    await shop('PUT', path(inactive, '/deactivate'));
    await order();
    const { webhooks, cause, reason } = await created();
    expect(webhooks.map(({ webhookId }: { webhookId: number }) => webhookId)).toEqual([inactive, ...deleted]);
    expect(cause).toBe('noActiveWebhook');
    expect(reason).toMatch(/on request\. 2 deleted webhooks are listed in `webhooks`\.$/);
    expect(reason).not.toContain(`Webhook ${deleted[0]}`);
  });

  test('the webhook was changed while the event was being recorded', async () => {
    await order();
    const id = await webhook();
    const { createdAt } = await created();
    await api.sql`update webhook_versions set at = ${new Date(createdAt)} where webhook_id = ${id}`;
    expect(await saidOf(id)).toMatchObject({ cause: 'changedMeanwhile' });
  });

  test('the delivery, or the time of the deactivation, is no longer known', async () => {
    const id = await webhook();
    await order();
    await api.sql`delete from deliveries where webhook_id = ${id}`;
    await api.sql`update webhook_versions set at = '2026-01-01' where webhook_id = ${id}`;
    expect(await saidOf(id)).toMatchObject({ cause: 'notKept', event: { cause: 'noLongerThere' } });
    // Older than its last 200 changes.
    await api.sql`
      insert into webhook_versions (webhook_id, eshop_id, at, webhook_type, url, active, deleted, generation)
      select webhook_id, eshop_id, at, webhook_type, url, false, false, 99
      from webhook_versions, generate_series(1, 200) where webhook_id = ${id}`;
    expect(await saidOf(id)).toMatchObject({ cause: 'inactive' });
  });

  test('the write changed nothing', async () => {
    await webhook('UPDATE_ORDER');
    await order();
    const query = '/v21/events?entityId=10001&webhookType=UPDATE_ORDER';
    expect((await shop('GET', query)).body).toMatchObject({ data: [], missing: [] });
    const { data, body: answer } = await shop('PATCH', '/v21/orders/10001', { note: null });
    expect(answer).toMatchObject({ statusCode: 200, message: 'Order unchanged.' });
    const { body } = await shop('GET', query);
    const [{ at }] = body.missing as [{ at: string }];
    expect(body).toMatchObject({
      data: [],
      missing: [
        {
          cause: 'unchanged',
          reason: `The write of order 10001 at ${at} changed nothing, so nothing fired.`,
        },
      ],
    });
    expect(Date.parse(at)).toBeGreaterThan(Date.parse(data.createdAt));
    await shop('PATCH', '/v21/orders/10001', { note: null });
    const [kept, ...others] = await api.sql`
      select writes from unchanged_writes where eshop_id = ${eshop.eshopId} and entity_id = '10001'`;
    expect([kept, others]).toEqual([{ writes: 2 }, []]);
    expect((await shop('GET', '/v21/events?entityId=10001&webhookType=UPDATE_RETURN')).body).toMatchObject({
      missing: [{ cause: 'unknownRecord' }],
    });
  });

  test('the record does not exist, or its events are no longer kept', async () => {
    expect((await shop('GET', '/v21/events?entityId=10001&webhookType=CREATE_ORDER')).body).toMatchObject({
      data: [],
      missing: [{ cause: 'unknownRecord', at: null, reason: 'There is no record 10001 (order).' }],
    });
    await order();
    await api.sql`delete from events where eshop_id = ${eshop.eshopId} and entity_id = '10001'`;
    expect((await shop('GET', '/v21/events?entityId=10001')).body).toMatchObject({
      missing: [{ cause: 'notKept', reason: 'Order 10001 exists, but its events are no longer kept.' }],
    });
    expect((await shop('GET', '/v21/events')).body).not.toHaveProperty('missing');
  });

  test('records of every kind are found, by a name or by a number', async () => {
    await stockedProduct(eshop, 'SKU-7', '7');
    const [movement] = await api.sql<{ id: string }[]>`
      select id from stock_movements where eshop_id = ${eshop.eshopId} and sku = 'SKU-7'`;
    await api.sql`delete from events where eshop_id = ${eshop.eshopId}`;
    const missingFor = async (id: string) => (await shop('GET', `/v21/events?entityId=${id}`)).body.missing;
    const gone = 'exists, but its events are no longer kept.';
    expect(await missingFor('SKU-7')).toMatchObject([{ reason: `Product SKU-7 ${gone}` }]);
    const id = `${movement?.id}`;
    expect(await missingFor(id)).toMatchObject([{ reason: `Stock movement ${id} ${gone}` }]);
    expect(await missingFor('9'.repeat(40))).toMatchObject([{ cause: 'unknownRecord' }]);
  });

  test('every existing cause is covered by these tests', () => {
    const all = [webhookCauses, eventCauses, recordCauses].flatMap((causes) => Object.keys(causes));
    expect([...named].sort()).toEqual([...new Set(all)].sort());
  });
});
