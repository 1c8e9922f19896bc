/** The order of records in the queue: batches that are resumed, and many records at once. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { recordEvents } from '../../src/db/outbox/events.ts';
import { keepOrder, settleOrder } from '../../src/db/outbox/keep-order.ts';
import { QUEUE } from '../../src/db/outbox/outbox.ts';
import { transaction } from '../../src/db/transaction.ts';
import { openInBatch } from '../../src/db/webhooks/batches.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';

let database: TestDatabase;
let eshopId: number;
let webhookId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
  webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  await database.sql`update webhooks set ordering = 'record'`;
});
afterEach(async () => {
  await database.sql`delete from deliveries`;
});
afterAll(() => database.drop());

/** Events of a record, in their order; answers the ids of their deliveries. */
async function happen(count: number): Promise<string[]> {
  const events = Array.from({ length: count }, (_, index) => ({
    type: 'CREATE_ORDER' as const,
    entityId: '1',
    sequence: index + 1,
    happenedAt: null,
    snapshot: '{}',
  }));
  await transaction(database.sql, (tx) => recordEvents(tx, eshopId, events));
  const rows = await database.sql<{ id: string }[]>`select id from deliveries order by sequence`;
  return rows.map(({ id }) => id);
}

test('a batch whose relay died before it looked at the order attempts the first of a record alone', async () => {
  const { sql } = database;
  const [first] = await happen(3);
  const batchId = '01a00000-0000-7000-8000-000000000001';
  const dead = await claimDeliveries(sql, { queue: QUEUE.fresh, limit: 10, batchId });
  expect(dead.deliveries).toHaveLength(3);
  await sql`update deliveries set claimed_until = null`;
  // Of what is claimed now none is in the way of another, and the batch has more.
  const { deliveries } = await claimDeliveries(sql, { queue: QUEUE.fresh, limit: 1 });
  expect(deliveries).toMatchObject([{ id: first, batchId, mayNotGo: false }]);
  const { ready } = await keepOrder(sql, deliveries, [batchId]);
  expect(ready.map(({ id }) => id)).toEqual([first]);
  expect((await openInBatch(sql, batchId)).map(({ id }) => id)).toEqual([first]);
});

test('however many records wait, the first of each goes, page by page', async () => {
  const { sql } = database;
  const RECORDS = 1_203;
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, sequence, queue)
    select gen_random_uuid(), gen_random_uuid(), ${eshopId}, ${webhookId}, 'CREATE_ORDER', 'order ' || record, sequence, ${QUEUE.inOrder}
    from generate_series(1, ${RECORDS}::int) record, generate_series(1, 2) sequence`;
  await settleOrder(sql, { eshopId: eshopId + 1 });
  expect(await sql`select from deliveries where queue = ${QUEUE.fresh}`).toHaveLength(0);
  await settleOrder(sql, 'all');
  const released = await sql`select from deliveries where queue = ${QUEUE.fresh} and sequence = 1`;
  expect(released).toHaveLength(RECORDS);
  expect(await sql`select from deliveries where queue = ${QUEUE.inOrder}`).toHaveLength(RECORDS);
});
