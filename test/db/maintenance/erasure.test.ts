/** Erased data while more is being written: no row stays behind, and no other e-shop waits. */
import { expect, onTestFinished, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { createPool } from '../../../src/db/connection/pool.ts';
import { eraseCustomer } from '../../../src/db/maintenance/erasure.ts';
import { exportEshop } from '../../../src/db/maintenance/eshop-export.ts';
import { removeEshop } from '../../../src/db/maintenance/eshop-removal.ts';
import { lowWaterMark } from '../../../src/db/maintenance/low-water-mark.ts';
import { redeliver } from '../../../src/db/outbox/redeliver.ts';
import { createInserter } from '../../../src/db/records/insert.ts';
import { orders } from '../../../src/db/records/orders.ts';
import { create } from '../../../src/db/records/write.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { sampleOrder } from '../../../src/domain/order/record.ts';
import type { OrderRecord } from '../../../src/domain/order/schema.ts';
import { attemptRecord, beginAttempt, recordAttempt } from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { untilBlocked } from '../../support/database/lock-waits.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { sql } = database;

/** An e-shop with an order that has a delivery. */
async function shopWithDelivery() {
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await create(sql, createInserter(sql), orders, eshopId, 'shop', her);
  const [delivery] = await sql<{ id: string }[]>`select id from deliveries where eshop_id = ${eshopId}`;
  if (delivery === undefined) throw new Error('The order has no delivery.');
  return { eshopId, deliveryId: delivery.id };
}
const her: OrderRecord = { ...sampleOrder, eshopOrderId: 'hers', status: 'canceled', orderProducts: [] };
const close = (deliveryId: string) => sql`
  update deliveries set state = 'canceled', canceled_by = 'operator', finished_at = now(), dispatched_at = now() where id = ${deliveryId}`;
const hers = { orders: [{ id: 'hers', status: 'canceled' }], returns: [] } as const;

test('a request that overlaps the deletion of its e-shop leaves no event or delivery', async () => {
  const { eshopId } = await shopWithDelivery();
  let removed: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`update orders set note = 'late' where eshop_id = ${eshopId}`;
    removed = removeEshop(sql, eshopId, new AbortController().signal);
    await untilBlocked(sql);
    await tx`
      insert into events select late.* from events e, jsonb_populate_record(e, jsonb_build_object('id',
        left(e.id::text, 35) || case when right(e.id::text, 1) = 'f' then '0' else 'f' end)) late
      where e.eshop_id = ${eshopId}`;
    await tx`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id)
      select e.id, e.id, e.eshop_id, w.id, e.type, e.entity_id
      from events e join webhooks w on w.eshop_id = e.eshop_id where e.eshop_id = ${eshopId} order by e.id desc limit 1`;
  });
  expect(await removed).toBe(true);
  expect(await sql`select from events where eshop_id = ${eshopId}`).toHaveLength(0);
  expect(await sql`select from deliveries where eshop_id = ${eshopId}`).toHaveLength(0);
});

test('an export does not delay the readers of a feed', async () => {
  const { eshopId } = await shopWithDelivery();
  const reader = createPool(database.url, 1);
  onTestFinished(() => reader.end());
  let looked = false;
  await exportEshop(sql, eshopId, async () => {
    if (looked) return;
    looked = true;
    const now = await lowWaterMark(reader);
    await expect.poll(async () => (await lowWaterMark(reader)) > now, { timeout: 10_000 }).toBe(true);
    const [open] = await reader`
      select from pg_stat_activity where datname = current_database() and application_name = 'waybill export'`;
    expect(open).toBeDefined();
  });
  expect(looked).toBe(true);
});

test('a customer is not erased while a canceled delivery may still be answered', async () => {
  const { eshopId, deliveryId } = await shopWithDelivery();
  await beginAttempt(sql, { deliveryId, number: 1, generation: 1, ownedMs: 60_000 });
  await close(deliveryId);
  expect(await eraseCustomer(sql, eshopId, hers)).toBeNull();
  await recordAttempt(sql, attemptRecord(deliveryId, { responseExcerpt: 'her address' }));
  expect(await eraseCustomer(sql, eshopId, hers)).toEqual({ events: 1, responses: 1 });
});

test('a customer is not erased during a redelivery of an event', async () => {
  const { eshopId, deliveryId } = await shopWithDelivery();
  await close(deliveryId);
  let erased: Promise<unknown> = Promise.resolve();
  await transaction(sql, async (tx) => {
    expect(await redeliver(tx, eshopId, deliveryId)).toMatchObject({ kind: 'created' });
    erased = eraseCustomer(sql, eshopId, hers);
    await untilBlocked(sql);
  });
  expect(await erased).toBeNull();
});
