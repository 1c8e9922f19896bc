/** A delivery that waits for its order shows the one in front, in its record and among the webhooks of its event. */
import { expect, test } from 'vitest';
import { recordEvents } from '../../src/db/outbox/events.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { transaction } from '../../src/db/transaction.ts';
import { makeAttempt } from '../support/deliveries.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { createWebhook } from '../support/webhooks.ts';

const api = await apiOfFile();

const HOUR = 3_600_000;

test('the next attempt of the one in front is shown while it is planned: not once it is stopped, nor while it is made', async () => {
  const { id: webhookId } = await createWebhook(api.shop);
  await api.sql`update webhooks set ordering = 'record' where id = ${webhookId}`;
  const events = [1, 2].map((sequence) => ({
    type: 'CREATE_ORDER' as const,
    entityId: 'ordered',
    sequence,
    happenedAt: null,
    snapshot: '{}',
    origin: 'service' as const,
    changed: null,
  }));
  await transaction(api.sql, (tx) => recordEvents(tx, api.eshop.eshopId, events));
  const rows = await api.sql<{ id: string; eventId: string }[]>`
    select id, event_id from deliveries where webhook_id = ${webhookId} order by sequence`;
  const [front, waiting] = rows;
  if (front === undefined || waiting === undefined) throw new Error('two deliveries');
  const nextAttemptAt = new Date(Date.now() + HOUR);
  await makeAttempt(api.sql, front.id, 1, { nextAttemptAt });
  const said = async () => ({
    waitsFor: (await api.shop('GET', `/v21/deliveries/${waiting.id}`)).data.waitsFor,
    reason: (await api.shop('GET', `/v21/events/${waiting.eventId}`)).data.webhooks[0].reason,
  });
  const order = { reason: 'order', deliveryId: front.id, since: expect.any(String) };
  const planned = {
    waitsFor: { ...order, nextAttemptAt: nextAttemptAt.toISOString() },
    reason: `It waits behind delivery ${front.id}, which is tried again at ${nextAttemptAt.toISOString()}.`,
  };
  // Not claimed yet, and set aside.
  expect(await said()).toEqual(planned);
  await api.sql`update deliveries set class = ${CLASS.ordered} where id = ${waiting.id}`;
  expect(await said()).toEqual(planned);
  const silent = {
    waitsFor: { ...order, nextAttemptAt: null },
    reason: `It waits behind delivery ${front.id}.`,
  };
  for (const stop of ['hold', 'giveUp']) {
    await api.sql`update deliveries set operator_stop = ${stop} where id = ${front.id}`;
    expect(await said()).toEqual(silent);
  }
  await api.sql`
    update deliveries set operator_stop = null, next_attempt_at = now() - interval '1 second' where id = ${front.id}`;
  expect(await said()).toEqual(silent);
});
