/**
 * The payload of a delivery, and its redelivery (docs/interface.md, L5 and L6).
 */
import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { closeDelivery } from '../../src/db/deliveries/deliveries.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { transaction } from '../../src/db/transaction.ts';
import { sampleOf } from '../../src/domain/catalogue.ts';
import type { EventType } from '../../src/domain/event-types.ts';
import { sampleOrder } from '../../src/domain/order/record.ts';
import { nulledFields } from '../../src/domain/personal-data.ts';
import { render } from '../../src/domain/render.ts';
import { createWebhook, minimalWebhook } from '../support/api/webhooks.ts';
import {
  accepted,
  beginAttempt,
  exhaustDelivery,
  finishAttempt,
  makeAttempt,
} from '../support/database/deliveries.ts';
import { recordEvent } from '../support/database/record-event.ts';
import { apiOfFile, eshopOfEachTest } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { eshop, request } = eshopOfEachTest(api);

/** A webhook, and a delivery to it of an event with the sample of its type. */
async function newDelivery(
  webhook: { readonly webhookType?: EventType; readonly [field: string]: unknown } = {},
  entityId = '10001',
) {
  const { webhookType: type = 'CREATE_ORDER' } = webhook;
  const { id: webhookId } = await createWebhook(request, webhook);
  await transaction(api.sql, (tx) =>
    recordEvent(tx, { eshopId: eshop.eshopId, type, entityId, record: sampleOf(type) }),
  );
  const [row] = await api.sql<{ id: string }[]>`select id from deliveries where webhook_id = ${webhookId}`;
  if (row === undefined) throw new Error('the event has no delivery');
  return { webhookId: Number(webhookId), id: row.id };
}

const deliver = (id: string) => makeAttempt(api.sql, id, 1, accepted);
const payload = (id: string) => request('GET', `/v21/deliveries/${id}/payload`);
const redeliver = (id: string) => request('POST', `/v21/deliveries/${id}/redeliver`);

/** The routes of one delivery answer 404 to e-shops that do not have it. */
async function refusesStrangers(method: string, operation: string) {
  const { id, webhookId } = await newDelivery();
  await deliver(id);
  const other = await api.newEshop();
  const missing = uuidv7();
  expect((await other.shop.request(method, `/v21/deliveries/${id}/${operation}`)).body).toEqual({
    statusCode: 404,
    error: 'Not Found',
    message: `Delivery ${id} does not exist.`,
  });
  expect((await request(method, `/v21/deliveries/${missing}/${operation}`)).status).toBe(404);
  for (const wrong of ['1', 'x', `${id}0`, '%00']) {
    expect((await request(method, `/v21/deliveries/${wrong}/${operation}`)).status).toBe(400);
  }
  await request('DELETE', `/v21/webhooks/${webhookId}`);
  expect((await request(method, `/v21/deliveries/${id}/${operation}`)).status).toBe(404);
}

test.each(['v2', 'v21'] as const)(
  'the payload of a %s POST webhook is its body, byte for byte',
  async (version) => {
    const { id } = await newDelivery({ payloadVersion: version, webhookType: 'UPDATE_ORDER' });
    const body = render(sampleOf('UPDATE_ORDER'), { version, withPackingLists: false });
    const answer = await payload(id);
    expect(answer.text).toContain(`"data":${body}`);
    expect(answer.body).toEqual({
      statusCode: 200,
      message: 'Payload found.',
      data: JSON.parse(body),
      request: { method: 'POST', url: minimalWebhook.url, contentType: 'application/json' },
    });
  },
);

test('the payload has packing lists if the webhook asks for them', async () => {
  const parameters = { withPackingLists: true };
  const { id } = await newDelivery({ webhookType: 'UPDATE_ORDER', parameters });
  const body = render(sampleOf('UPDATE_ORDER'), { version: 'v2', withPackingLists: true });
  expect((await payload(id)).text).toContain(`"data":${body}`);
});

test('the payload lacks personal data if the webhook does without; the event has them', async () => {
  const parameters = { withoutPersonalData: true };
  const { id, webhookId } = await newDelivery({ parameters });
  const sent = (await payload(id)).data;
  for (const field of nulledFields.order) expect(sent[field]).toBeNull();
  expect(sent).toMatchObject({ orderFiles: [], eshopOrderId: sampleOrder.eshopOrderId });
  const [event] = (await request('GET', '/v21/events')).data;
  expect((await request('GET', `/v21/events/${event.id}`)).data.record).toMatchObject({
    recipientName: sampleOrder.recipientName,
  });
  // What was sent stays what it was, whatever the webhook asks for later.
  await deliver(id);
  await request('PUT', `/v21/webhooks/${webhookId}`, minimalWebhook);
  expect((await payload(id)).data.recipientName).toBeNull();
});

test('the payload of a GET webhook is the URL with the identifier', async () => {
  const { id } = await newDelivery({ method: 'GET' }, 'č 1/2');
  const answer = await payload(id);
  expect(answer.data).toBeNull();
  expect(JSON.parse(answer.text).request).toEqual({
    method: 'GET',
    url: `${minimalWebhook.url}%C4%8D%201%2F2`,
    contentType: null,
  });
});

test('the payload of an open delivery follows the current settings of its webhook, even if held', async () => {
  const { id, webhookId } = await newDelivery();
  await makeAttempt(api.sql, id, 1, { nextAttemptAt: new Date() });
  const changed = {
    ...minimalWebhook,
    url: 'https://other.example/',
    payloadVersion: 'v21',
    active: false,
  };
  await request('PUT', `/v21/webhooks/${webhookId}`, changed);
  const answer = await payload(id);
  expect(answer.text).toContain(
    `"data":${render(sampleOf('CREATE_ORDER'), { version: 'v21', withPackingLists: false })}`,
  );
  expect(JSON.parse(answer.text).request.url).toBe('https://other.example/');
});

test('the payload of an ended delivery is that of its last attempt, whatever the webhook is now', async () => {
  const { id, webhookId } = await newDelivery();
  const change = (fields: object) =>
    request('PUT', `/v21/webhooks/${webhookId}`, { ...minimalWebhook, ...fields });
  await makeAttempt(api.sql, id, 1, { nextAttemptAt: new Date() });
  await change({ payloadVersion: 'v21' });
  await beginAttempt(api.sql, { deliveryId: id, number: 2, generation: 1 });
  await change({ method: 'GET', url: 'https://other.example/' });
  await change({ description: 'changes nothing of this' });
  await finishAttempt(api.sql, id, 2, accepted);
  const answer = await payload(id);
  expect(answer.text).toContain(
    `"data":${render(sampleOf('CREATE_ORDER'), { version: 'v21', withPackingLists: false })}`,
  );
  expect(JSON.parse(answer.text).request).toMatchObject({ method: 'POST', url: minimalWebhook.url });
});

test('the payload of a delivery that ended without an attempt follows the current settings', async () => {
  const { id, webhookId } = await newDelivery();
  await closeDelivery(api.sql, id, 'expired');
  await request('PUT', `/v21/webhooks/${webhookId}`, { ...minimalWebhook, method: 'GET' });
  expect((await payload(id)).data).toBeNull();
});

test('the payloads of another e-shop and of a deleted webhook do not exist', () =>
  refusesStrangers('GET', 'payload'));

test('a redelivery is a new delivery of the same event to the same webhook, due at once', async () => {
  const { id, webhookId } = await newDelivery();
  await deliver(id);
  const woken = api.notified();
  const before = (await request('GET', `/v21/deliveries/${id}`)).data;
  const answer = await redeliver(id);
  expect(answer.body).toEqual({
    statusCode: 200,
    message: 'Delivery created.',
    data: {
      ...before,
      id: expect.any(String),
      state: 'pending',
      attemptsMade: 0,
      createdAt: expect.any(String),
      lastAttemptAt: null,
      lastStatus: null,
      lastError: null,
      nextAttemptAt: null,
      finishedAt: null,
      attempts: [],
    },
  });
  expect(answer.data.id > id).toBe(true);
  expect(api.notified()).toBe(woken + 1);
  expect((await request('GET', `/v21/deliveries/${id}`)).data).toEqual(before);
  const { data: listed } = await request('GET', `/v21/webhooks/${webhookId}/deliveries`);
  expect(listed.map((each: { id: string }) => each.id)).toEqual([answer.data.id, id]);
  const { deliveries } = await claimDeliveries(api.sql, { class: CLASS.fresh, limit: 1_000 });
  expect(deliveries.map((each) => each.id)).toContain(answer.data.id);
  expect((await payload(answer.data.id)).text).toBe((await payload(id)).text);
});

test.each([
  ['delivered', deliver],
  ['expired', (id: string) => closeDelivery(api.sql, id, 'expired')],
  ['canceled', (id: string) => closeDelivery(api.sql, id, 'canceled')],
])('a delivery that is %s can be redelivered', async (state, end) => {
  const { id } = await newDelivery();
  await end(id);
  expect((await request('GET', `/v21/deliveries/${id}`)).data.state).toBe(state);
  expect((await redeliver(id)).status).toBe(200);
});

test('a redelivery to a deactivated webhook is a 400 until it is activated', async () => {
  const { id, webhookId } = await newDelivery();
  await exhaustDelivery(api.sql, id);
  expect((await redeliver(id)).body).toEqual({
    statusCode: 400,
    error: 'Bad Request',
    message: `Webhook ${webhookId} is inactive; activate it, then redeliver.`,
  });
  await request('PUT', `/v21/webhooks/${webhookId}/activate`);
  expect((await redeliver(id)).status).toBe(200);
});

test('a redelivery is a 409 while the delivery or an earlier redelivery is open', async () => {
  const { id } = await newDelivery();
  expect((await redeliver(id)).body).toEqual({
    statusCode: 409,
    error: 'Conflict',
    message: `Delivery ${id} is still open.`,
  });
  await makeAttempt(api.sql, id, 1, { nextAttemptAt: new Date() });
  expect((await redeliver(id)).status).toBe(409);
  await finishAttempt(api.sql, id, 1, accepted);
  const { id: second } = (await redeliver(id)).data;
  expect((await redeliver(id)).body).toMatchObject({
    statusCode: 409,
    message: `Delivery ${second}, a redelivery of the same event to this webhook, is still open.`,
  });
  await deliver(second);
  const { id: third } = (await redeliver(second)).data;
  expect((await redeliver(id)).status).toBe(409);
  await deliver(third);
  expect((await redeliver(id)).status).toBe(200);
});

test('a redelivery of an event that is no longer kept is a 409', async () => {
  const { id } = await newDelivery();
  await deliver(id);
  await api.sql`delete from events where id = (select event_id from deliveries where id = ${id})`;
  expect((await redeliver(id)).body).toEqual({
    statusCode: 409,
    error: 'Conflict',
    message: `The event of delivery ${id} is no longer kept; there is nothing left to send.`,
  });
});

test('ten simultaneous requests create one redelivery', async () => {
  const { id, webhookId } = await newDelivery();
  await deliver(id);
  const answers = await Promise.all(Array.from({ length: 10 }, () => redeliver(id)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  expect((await request('GET', `/v21/webhooks/${webhookId}/deliveries`)).data).toHaveLength(2);
});

test('a redelivery is possible while the event is still open at another webhook', async () => {
  const { webhookId: other } = await newDelivery();
  const { id } = await newDelivery();
  await deliver(id);
  const [open] = (await request('GET', `/v21/webhooks/${other}/deliveries?state=pending`)).data;
  const [mine] = await api.sql<{ eventId: string }[]>`select event_id from deliveries where id = ${id}`;
  expect(open.eventId).toBe(mine?.eventId);
  expect((await redeliver(id)).status).toBe(200);
});

test('a redelivery for another e-shop or a deleted webhook is a 404', () =>
  refusesStrangers('POST', 'redeliver'));
