/** The relay: outbox → Temporal, each delivery once, whoever else claims. */

import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { claimDeliveries, markDispatched } from '../../src/db/outbox.ts';
import type { Dispatcher } from '../../src/relay/dispatcher.ts';
import { isRefusal } from '../../src/relay/dispatcher.ts';
import { startRelay } from '../../src/relay/relay.ts';
import { type DeliveryStack, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver } from '../support/receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(worker: boolean): Promise<DeliveryStack> {
  const stack = await startDeliveryStack('relay', { worker });
  cleanups.push(() => stack.stop());
  return stack;
}

test('two claims at the same moment share the deliveries between them', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  for (let index = 0; index < 40; index += 1) await stack.fire(`order ${index}`);
  const [one, two] = await Promise.all([claimDeliveries(stack.sql, 30), claimDeliveries(stack.sql, 30)]);
  const ids = [...one, ...two].map((delivery) => delivery.id);
  expect(ids).toHaveLength(40);
  expect(new Set(ids).size).toBe(40);
  expect(await claimDeliveries(stack.sql, 30)).toEqual([]);
});

test('a claim that nobody finished is claimed again once its lease is over; a dispatched one never', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  const [id = ''] = await stack.fire('10050');
  expect(await claimDeliveries(stack.sql, 10)).toHaveLength(1);
  await stack.sql`update deliveries set claimed_until = now() - interval '1 second'`;
  expect(await claimDeliveries(stack.sql, 10)).toMatchObject([{ id, entityId: '10050' }]);
  await markDispatched(stack.sql, [id]);
  await stack.sql`update deliveries set claimed_until = now() - interval '1 second'`;
  expect(await claimDeliveries(stack.sql, 10)).toEqual([]);
});

test('a delivery started twice is delivered once', async () => {
  const stack = await start(true);
  const receiver = await createReceiver();
  cleanups.push(() => receiver.close());
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10051');
  await stack.untilClosed(id);
  // As if the relay had died between the start and its record.
  await stack.sql`update deliveries set dispatched_at = null, claimed_until = null where id = ${id}`;
  stack.notify();
  await stack.until('the record', async () => {
    const [row] = await stack.sql`select dispatched_at from deliveries where id = ${id}`;
    return row?.dispatchedAt !== null;
  });
  expect(receiver.requests).toHaveLength(1);
});

test('one that Temporal refuses does not stop the others', async () => {
  const stack = await start(false);
  await stack.createWebhook('http://127.0.0.1:9/');
  await stack.fire('refused');
  await stack.fire('accepted');
  const started: string[] = [];
  const refusal = Object.assign(new Error('3 INVALID_ARGUMENT'), { code: 3, details: '', metadata: {} });
  const dispatcher: Dispatcher = {
    async startDelivery(delivery) {
      if (delivery.entityId === 'refused') throw refusal;
      started.push(delivery.entityId);
    },
    async signalWebhookChanged() {},
    async signalAttemptFailed() {},
    async signalReleaseChanged() {},
  };
  const relay = startRelay({ sql: stack.sql, dispatcher, log: pino({ level: 'silent' }), onTemporal() {} });
  cleanups.push(() => relay.stop());
  await stack.until('the other', async () => started.includes('accepted'));
});

test('only an answer that refuses is a refusal', () => {
  expect(isRefusal(new Error('14 UNAVAILABLE'))).toBe(false);
});
