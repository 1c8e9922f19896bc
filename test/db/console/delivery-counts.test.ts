/** The counts on the overview page of an e-shop's console. */
import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { MAX_DELIVERIES_READ, readDeliveryCounts } from '../../../src/db/console/delivery-counts.ts';
import { lastAccepted } from '../../../src/db/console/health.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const MINUTE = 60_000;
/** The middle of a minute, so that the steps are known. */
const now = new Date(Math.floor(Date.now() / MINUTE) * MINUTE + 30_000);

async function delivery(of: number, webhook: number, minutesAgo: number, state: string, durationMs?: number) {
  const at = new Date(now.getTime() - minutesAgo * MINUTE);
  const id = uuidv7({ msecs: at.getTime() });
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state, created_at, last_attempt_at)
    values (${id}, ${id}, ${of}, ${webhook}, 'CREATE_ORDER', '1', ${state}, ${at}, ${at})`;
  if (durationMs !== undefined) {
    await sql`
      insert into attempts (delivery_id, number, generation, started_at, finished_at, outcome, duration_ms, status)
      values (${id}, 1, 1, ${at}, ${at}, 'success', ${durationMs}, 200)`;
  }
}

const database = await databaseOfFile();
const { sql } = database;
const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
const other = await createEshop(sql, { name: 'Other', email: 'other@example.test' });
const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
const second = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
const deleted = await insertWebhook(sql, eshopId, 'CREATE_ORDER', { deleted: true });
const theirs = await insertWebhook(sql, other.eshopId, 'CREATE_ORDER');
await delivery(eshopId, webhookId, 1, 'delivered', 100);
await delivery(eshopId, second, 1, 'delivered', 300);
await delivery(eshopId, webhookId, 1, 'retrying');
await delivery(eshopId, webhookId, 5, 'failed', 200);
await delivery(eshopId, second, 5, 'canceled');
await delivery(eshopId, second, 5, 'superseded');
await delivery(eshopId, second, 7, 'superseded');
await delivery(eshopId, webhookId, 90, 'delivered', 9_000);
await delivery(eshopId, deleted, 1, 'delivered', 9_000);
await delivery(other.eshopId, theirs, 1, 'delivered', 9_000);

test('the deliveries of an e-shop since a time are counted by minute and outcome', async () => {
  const since = new Date(now.getTime() - 60 * MINUTE);
  const counts = await readDeliveryCounts(sql, eshopId, { since, stepSeconds: 60 });
  const minute = (ago: number) => new Date(now.getTime() - 30_000 - ago * MINUTE);
  expect(counts.steps).toEqual([
    { at: minute(7), delivered: 0, waiting: 0, lost: 0, superseded: 1 },
    { at: minute(5), delivered: 0, waiting: 0, lost: 2, superseded: 1 },
    { at: minute(1), delivered: 2, waiting: 1, lost: 0, superseded: 0 },
  ]);
  expect(counts).toMatchObject({ whole: true, medianMs: 200, measured: 3 });
  expect(counts.p95Ms).toBeCloseTo(290);
});

test('an e-shop without deliveries has no counts', async () => {
  const { eshopId: empty } = await createEshop(sql, { name: 'Empty', email: 'empty@example.test' });
  const counts = await readDeliveryCounts(sql, empty, { since: new Date(0), stepSeconds: 60 });
  expect(counts).toEqual({ steps: [], whole: true, medianMs: null, p95Ms: null, measured: 0 });
});

test('superseded deliveries count toward the number read, so that the oldest may be missing', async () => {
  const { eshopId: busy } = await createEshop(sql, { name: 'Busy', email: 'busy@example.test' });
  const webhook = await insertWebhook(sql, busy, 'CREATE_ORDER');
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state)
    select gen_random_uuid(), gen_random_uuid(), ${busy}, ${webhook}, 'CREATE_ORDER', '1', 'superseded'
    from generate_series(1, ${MAX_DELIVERIES_READ}::int)`;
  const counts = await readDeliveryCounts(sql, busy, { since: new Date(0), stepSeconds: 60 });
  expect(counts.whole).toBe(false);
});

test('the last success of a webhook is that of its latest accepted delivery', async () => {
  const accepted = await lastAccepted(sql, eshopId);
  expect(accepted.get(webhookId)).toBe(new Date(now.getTime() - MINUTE).toISOString());
  expect(accepted.size).toBe(2);
});
