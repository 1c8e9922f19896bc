/** A delivery shows the cause of its wait: the one in front, or its receiver's limit. */
import { expect, test } from 'vitest';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { recordEvents } from '../../src/db/outbox/events.ts';
import { recordLastClaims } from '../../src/db/outbox/last-claims.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { deferClaimed } from '../../src/db/outbox/release.ts';
import { transaction } from '../../src/db/transaction.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { beginAttempt, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();

const HOUR = 3_600_000;

test('the next attempt of the delivery in front is shown only while it is planned', async () => {
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
  await api.sql`update deliveries set class = ${CLASS.blocked} where id = ${waiting.id}`;
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

test('a delivery waits for a limit if deferred, or if due and unclaimed, but not while attempted', async () => {
  const { id: webhookId } = await createWebhook(api.shop);
  const id = await fireDelivery(api.sql, { eshopId: api.eshop.eshopId, webhookId });
  const read = async () => (await api.shop('GET', `/v21/deliveries/${id}`)).data;
  expect((await read()).waitsFor).toBeNull();
  const { deliveries } = await claimDeliveries(api.sql, { class: CLASS.fresh, limit: 100 });
  await deferClaimed(
    api.sql,
    deliveries.filter((claimed) => claimed.id === id),
  );
  // Deferred for a second: a busy machine may read it later.
  const [row] = await api.sql<{ dueAt: Date }[]>`
    update deliveries set due_at = due_at + interval '1 hour' where id = ${id} returning due_at`;
  const { createdAt, waitsFor } = await read();
  const nextAttemptAt = row?.dueAt.toISOString();
  const limit = { reason: 'limit', deliveryId: null, since: createdAt };
  expect(waitsFor).toEqual({ ...limit, nextAttemptAt });
  // Those behind it are not even claimed: a worker that claims others passes them by.
  await api.sql`update deliveries set due_at = now() - interval '10 seconds' where id = ${id}`;
  expect((await read()).waitsFor).toBeNull();
  // With statistics, small tables are read whole: also settings that are no numbers.
  await api.sql`insert into settings (name, value) values ('words', 'no number')`;
  await api.sql`analyze settings`;
  recordLastClaims(api.sql)('fresh');
  await expect.poll(async () => (await read()).waitsFor).toEqual({ ...limit, nextAttemptAt: null });
  await api.sql`update deliveries set claimed_until = now() + interval '1 minute' where id = ${id}`;
  expect((await read()).waitsFor).toBeNull();
  await api.sql`update deliveries set claimed_until = null where id = ${id}`;
  await api.sql`update deliveries set due_at = now() where id = ${id}`;
  expect((await read()).waitsFor).toBeNull();
  await api.sql`update deliveries set due_at = now() - interval '10 seconds' where id = ${id}`;
  await beginAttempt(api.sql, { deliveryId: id, number: 1, generation: 1, ownedMs: 60_000 });
  expect((await read()).waitsFor).toBeNull();
});
