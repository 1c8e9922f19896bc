/** The metrics that come from the database. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { databaseAnswers } from '../../src/db/connection/health.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { readDatabaseMetrics } from '../../src/metrics/database-metrics.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { fireDelivery } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';

const database = await databaseOfFile();
const readSql = createPool(database.url, 1);
const healthSql = createPool(database.url, 1);
/** Its statements time out after a second; the answer may come later. */
const hasty = createPool(database.url, 1, { statementMs: 1_000, silenceMs: 30_000 });
const eshopId: number = (await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }))
  .eshopId;
const webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
afterAll(() => Promise.all([readSql, healthSql, hasty].map((pool) => pool.end({ timeout: 5 }))));
beforeEach(async () => {
  await database.sql`delete from deliveries`;
});

const eager = { cachedMs: 0, readTimeoutMs: 30_000 };

/** Reads the metrics repeatedly, by default without a cache. */
function reader(timing: Parameters<typeof readDatabaseMetrics>[3] = eager, sql = readSql) {
  const metrics = createMetrics();
  const refresh = readDatabaseMetrics(metrics, sql, () => databaseAnswers(healthSql), timing);
  return async () => {
    await refresh();
    const samples = samplesOf(await metrics.registry.metrics());
    return (name: string, labels?: Record<string, string>) => sampleOf(samples, `waybill_${name}`, labels);
  };
}

test('metrics show the queue, the open deliveries, and how long they have waited', async () => {
  const read = reader();
  const empty = await read();
  expect(empty('database_up')).toBe(1);
  expect(empty('queue_deliveries', { waiting: 'fresh' })).toBe(0);
  expect(empty('queue_oldest_seconds')).toBe(0);
  expect(empty('database_bytes')).toBeGreaterThan(1_000_000);
  expect(empty('partitions_ahead_seconds')).toBeGreaterThan(7 * 86_400);
  expect(empty('mails_to_files')).toBe(0);
  expect(empty('deliveries_open', { state: 'pending' })).toBe(0);

  const [first, second, third, fourth, fifth, sixth] = [
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
  ];
  await database.sql`update deliveries set created_at = now() - interval '90 seconds' where id = ${first}`;
  await database.sql`update deliveries set class = 1, state = 'retrying' where id = ${second}`;
  await database.sql`update deliveries set dispatched_at = now() where id = ${third}`;
  // A delivery that waits for its order is not late.
  await database.sql`update deliveries set class = 6, created_at = now() - interval '10 hours' where id = ${fourth}`;
  // Nor is one that was delivered and waits for its workflow.
  await database.sql`
    update deliveries set class = 5, state = 'delivered', created_at = now() - interval '10 hours' where id = ${fifth}`;
  await database.sql`update deliveries set class = 4, state = 'retrying' where id = ${sixth}`;
  const waiting = await read();
  expect(waiting('queue_deliveries', { waiting: 'fresh' })).toBe(1);
  expect(waiting('queue_deliveries', { waiting: 'undelivered' })).toBe(1);
  expect(waiting('queue_deliveries', { waiting: 'delivered' })).toBe(1);
  expect(waiting('queue_deliveries', { waiting: 'retry' })).toBe(1);
  expect(waiting('queue_deliveries', { waiting: 'recovered' })).toBe(0);
  expect(waiting('queue_deliveries', { waiting: 'bulk' })).toBe(0);
  expect(waiting('queue_oldest_seconds')).toBeGreaterThanOrEqual(90);
  expect(waiting('queue_oldest_seconds')).toBeLessThan(36_000);
  expect(waiting('blocked_deliveries')).toBe(1);
  expect(waiting('blocked_records')).toBe(1);
  expect(waiting('blocked_oldest_seconds')).toBeGreaterThanOrEqual(36_000);
  expect(waiting('deliveries_open', { state: 'pending' })).toBe(3);
  expect(waiting('deliveries_open', { state: 'retrying' })).toBe(2);
  expect(waiting('deliveries_open', { state: 'held' })).toBe(0);
  expect(waiting('webhooks_holding')).toBe(0);

  await database.sql`update webhooks set active = false where id = ${webhookId}`;
  const held = await read();
  await database.sql`update webhooks set active = true where id = ${webhookId}`;
  expect(held('deliveries_open', { state: 'held' })).toBe(5);
  expect(held('webhooks_holding')).toBe(1);
  // It is held by its webhook, not by an older one of its record.
  expect(held('blocked_deliveries')).toBe(0);
});

test('a delivery held by an inactive webhook has waited since the activation', async () => {
  const read = reader();
  const id = await fireDelivery(database.sql, { eshopId, webhookId });
  await database.sql`update deliveries set created_at = now() - interval '10 hours' where id = ${id}`;
  expect((await read())('queue_oldest_seconds')).toBeGreaterThanOrEqual(36_000);
  await database.sql`update webhooks set generation_at = now() - interval '2 minutes' where id = ${webhookId}`;
  const activated = await read();
  expect(activated('queue_oldest_seconds')).toBeGreaterThanOrEqual(120);
  expect(activated('queue_oldest_seconds')).toBeLessThan(3_600);
  await database.sql`update deliveries set class = 6 where id = ${id}`;
  expect((await read())('blocked_oldest_seconds')).toBeLessThan(3_600);
  await database.sql`update webhooks set generation_at = null where id = ${webhookId}`;
});

test('a blocked delivery with none before it counts as stuck since it was first seen', async () => {
  const read = reader();
  const [first, second] = [
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
  ];
  await database.sql`update deliveries set sequence = 2, class = 6, ordering_key = 'a record' where id = ${second}`;
  await database.sql`update deliveries set sequence = 1, ordering_key = 'a record' where id = ${first}`;
  await database.sql`update webhooks set ordering = 'record' where id = ${webhookId}`;
  await read();
  expect((await read())('blocked_stuck_seconds')).toBe(0);
  await database.sql`update deliveries set state = 'delivered' where id = ${first}`;
  expect((await read())('blocked_stuck_seconds')).toBe(0);
  expect((await read())('blocked_stuck_seconds')).toBeGreaterThan(0);
  await database.sql`update webhooks set active = false where id = ${webhookId}`;
  expect((await read())('blocked_stuck_seconds')).toBe(0);
  await database.sql`update webhooks set active = true, ordering = 'none' where id = ${webhookId}`;
});

test('metrics show changes to be signaled, and pending or rejected mails', async () => {
  const read = reader();
  await database.sql`
    insert into changes_to_signal (eshop_id, kind, webhook_id, due_at)
    values (${eshopId}, 'webhookChanged', ${webhookId}, now() - interval '70 seconds')`;
  const deliveryId = await fireDelivery(database.sql, { eshopId, webhookId });
  await database.sql`
    insert into notices (eshop_id, webhook_id, kind, generation, delivery_id, recipient, at)
    values (${eshopId}, ${webhookId}, 'deactivated', 1, ${deliveryId}, 'email', now() - interval '2 hours')`;
  const found = await read();
  expect(found('changes_waiting')).toBe(1);
  expect(found('changes_oldest_seconds')).toBeGreaterThanOrEqual(70);
  expect(found('mails_pending')).toBe(1);
  expect(found('mails_oldest_seconds')).toBeGreaterThanOrEqual(7_200);
  expect(found('mails_refused')).toBe(0);
  await database.sql`update notices set outcome = 'givenUp', settled_at = now()`;
  expect((await read())('mails_refused')).toBe(1);
});

test('metrics show failing webhooks until an attempt is accepted, and while they are active', async () => {
  const read = reader();
  const ledger = (failures: number, at: string) => database.sql`
    insert into failures (webhook_id, generation, failures, since, until)
    values (${webhookId}, 1, ${failures}, ${at}, ${at})`;
  await ledger(3, '2026-11-20T12:00:00Z');
  await ledger(2, '2026-11-20T12:05:00Z');
  const found = await read();
  expect(found('incidents')).toBe(1);
  expect([found('eshops', { webhooks: 'failing' }), found('eshops', { webhooks: 'deactivated' })]).toEqual([
    1, 0,
  ]);
  await database.sql`update webhooks set active = false where id = ${webhookId}`;
  await database.sql`
    insert into deactivations (webhook_id, generation, reason, at)
    values (${webhookId}, 1, 'retriesExhausted', now()), (${webhookId}, 2, 'gone', now() - interval '5 minutes')`;
  const deactivated = await read();
  expect(deactivated('incidents')).toBe(0);
  expect([
    deactivated('eshops', { webhooks: 'failing' }),
    deactivated('eshops', { webhooks: 'deactivated' }),
  ]).toEqual([0, 1]);
  await database.sql`update deactivations set at = at - interval '1 hour'`;
  expect((await read())('eshops', { webhooks: 'deactivated' })).toBe(0);
  await database.sql`update deactivations set at = now(), reason = 'user'`;
  expect((await read())('eshops', { webhooks: 'deactivated' })).toBe(0);
  await database.sql`update webhooks set active = true where id = ${webhookId}`;
  await ledger(0, '2026-11-20T12:06:00Z');
  expect((await read())('incidents')).toBe(0);
});

test('an unreachable database is shown as down, without earlier readings', async () => {
  const read = reader();
  expect((await read())('queue_oldest_seconds')).toBe(0);
  await database.cut();
  const away = await read();
  expect(away('database_up')).toBe(0);
  for (const name of ['queue_oldest_seconds', 'queue_deliveries', 'deliveries_open', 'mails_pending']) {
    expect([name, away(name)]).toEqual([name, undefined]);
  }
  await database.restore();
  for (let up = 0; up !== 1; ) up = (await read())('database_up') ?? 0;
  expect((await read())('queue_oldest_seconds')).toBe(0);
});

test('after an outage, the age of a late reading is counted from the first try', async () => {
  const read = reader(eager, hasty);
  await read();
  await database.cut();
  // A busy machine may give the reading before the cut once more.
  for (let up: number | undefined = 1; up !== 0; ) up = (await read())('database_up');
  expect((await read())('database_read_age_seconds')).toBeUndefined();
  await database.restore();
  await database.sql.begin(async (tx) => {
    await tx`lock table failures in access exclusive mode`;
    let found = await read();
    while (found('database_up') !== 1 || found('queue_oldest_seconds') !== 0) found = await read();
    expect(found('incidents')).toBeUndefined();
    expect(found('database_read_age_seconds')).toBeLessThan(60);
  });
});

test('a slow database delays no response: earlier readings are shown, with their age', async () => {
  const read = reader({ cachedMs: 0, readTimeoutMs: 20 }, hasty);
  for (let shown: number | undefined; shown === undefined; ) {
    shown = (await read())('queue_oldest_seconds');
  }
  await database.sql.begin(async (tx) => {
    await tx`lock table deliveries in access exclusive mode`;
    // Until after the statement's own deadline: it answers with an error.
    for (let age = 0; age < 1.5; ) {
      const locked = await read();
      expect(locked('database_up')).toBe(1);
      expect(locked('queue_oldest_seconds')).toBe(0);
      age = locked('database_read_age_seconds') ?? 0;
    }
  });
});

test('a late statement leaves the readings of the others unchanged', async () => {
  const read = reader(eager, hasty);
  await database.sql.begin(async (tx) => {
    await tx`lock table failures in access exclusive mode`;
    const found = await read();
    expect(found('incidents')).toBeUndefined();
    for (const name of ['attempts_overdue_seconds', 'windows_lost', 'queue_oldest_seconds', 'mails_pending'])
      expect([name, found(name)]).toEqual([name, 0]);
    expect(found('database_read_age_seconds')).toBeGreaterThan(1);
  });
  expect((await read())('incidents')).toBe(0);
});

test('readings that are too old are not shown', async () => {
  const timing = { cachedMs: 3_600_000, readTimeoutMs: 30_000, staleMs: 1 };
  const read = reader(timing);
  await read();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect((await read())('queue_oldest_seconds')).toBeUndefined();
});

test('the database is read at most every few seconds, however many clients ask', async () => {
  const read = reader({ cachedMs: 3_600_000, readTimeoutMs: 30_000 });
  await Promise.all([read(), read(), read()]);
  await fireDelivery(database.sql, { eshopId, webhookId });
  expect((await read())('queue_deliveries', { waiting: 'fresh' })).toBe(0);
  expect((await reader()())('queue_deliveries', { waiting: 'fresh' })).toBe(1);
});
