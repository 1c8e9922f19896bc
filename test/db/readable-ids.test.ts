/** Who may attempt a delivery while workers of two releases run: the workflow that it was last claimed for. */
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { claimDeliveries } from '../../src/db/outbox/claim-deliveries.ts';
import { claimHandedBack } from '../../src/db/outbox/handed-back.ts';
import { releaseDeliveries } from '../../src/db/outbox/outbox.ts';
import { beginAttempts } from '../../src/db/webhooks/attempts.ts';
import { handBack } from '../../src/db/webhooks/batch-returns.ts';
import { takeBatch } from '../../src/db/webhooks/batches.ts';
import { placeOfDelivery } from '../../src/db/webhooks/delivery-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fireDelivery } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';

let database: TestDatabase;
let eshopId: number;
let id: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.sql`update webhooks set active = false, deleted_at = now()`;
  await database.sql`update deliveries set state = 'canceled', dispatched_at = now()`;
  const webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  id = await fireDelivery(database.sql, { eshopId, webhookId });
});

const attempt = () => [{ deliveryId: id, number: 1, generation: 1 }];
const begins = async (readableId: boolean) =>
  (await beginAttempts(database.sql, attempt(), { readableId })).has(id);
const readable = async () => (await placeOfDelivery(database.sql, id))?.readableId;
const claim = (batchId?: string) =>
  claimDeliveries(database.sql, { limit: 10, ...(batchId === undefined ? {} : { batchId }) });

/** Begins it as a worker of an older release: its connections do not know of readable ids. */
const olderBegins = async (batch: { id: string; run: string } | null = null) =>
  await database.sql.begin(async (tx) => {
    await tx`select set_config('waybill.readable_ids', '', true)`;
    return (await beginAttempts(tx, attempt(), batch ?? { readableId: true })).has(id);
  });

test('a claim for a workflow of its own decides for the readable id, and hands it out', async () => {
  expect(await readable()).toBe(false);
  const { deliveries } = await claim();
  expect(deliveries).toMatchObject([{ id, readableId: true }]);
  expect(await readable()).toBe(true);
});

test('a claim for a batch decides nothing; what it hands back is claimed with a readable id', async () => {
  const batchId = uuidv7();
  const { deliveries } = await claim(batchId);
  expect(deliveries).toMatchObject([{ id, readableId: false }]);
  const batch = await takeBatch(database.sql, batchId);
  await handBack(database.sql, batch, [id]);
  expect(await claimHandedBack(database.sql, 10)).toMatchObject([{ id, readableId: true }]);
});

describe('a delivery that is claimed for a readable id', () => {
  test('is attempted by that workflow, and by none with the short id', async () => {
    await claim();
    expect(await begins(false)).toBe(false);
    expect(await begins(true)).toBe(true);
  });

  test('is attempted by no worker of an older release, which cannot tell the one from the other', async () => {
    await claim();
    expect(await olderBegins()).toBe(false);
    expect(await begins(true)).toBe(true);
  });

  test('is attempted by any worker in a batch', async () => {
    await claim();
    await releaseDeliveries(database.sql, [id]);
    const batchId = uuidv7();
    await claim(batchId);
    expect(await olderBegins(await takeBatch(database.sql, batchId))).toBe(true);
  });
});

describe('a delivery that an older release handed over', () => {
  test('keeps its short id once it has been attempted: nobody claims it again', async () => {
    expect(await begins(false)).toBe(true);
    expect((await claim()).deliveries).toEqual([]);
    expect(await begins(true)).toBe(false);
    expect(await readable()).toBe(false);
  });

  test('is attempted by workers of that release', async () => {
    const begun = await database.sql.begin(async (tx) => {
      await tx`select set_config('waybill.readable_ids', '', true)`;
      return await beginAttempts(tx, attempt(), { readableId: false });
    });
    expect(begun.has(id)).toBe(true);
  });
});

describe('a worker of an older release', () => {
  /** Its statement asks neither for the form of the id nor whether an operator has stopped the delivery. */
  const olderInserts = async () =>
    await database.sql.begin(async (tx) => {
      await tx`select set_config('waybill.readable_ids', '', true)`;
      const begun = await tx`insert into attempts (delivery_id, number, generation, started_at)
        values (${id}, 1, 1, now()) on conflict do nothing`;
      return begun.count === 1;
    });

  test.each(['hold', 'giveUp'])(
    'begins no attempt of what an operator has stopped (%s), of which it knows nothing',
    async (stop) => {
      await database.sql`update deliveries set operator_stop = ${stop} where id = ${id}`;
      expect(await olderInserts()).toBe(false);
      await database.sql`update deliveries set operator_stop = null where id = ${id}`;
      expect(await olderInserts()).toBe(true);
    },
  );

  test('begins no attempt of a test, which it would send as what it is a test of: in a batch or not', async () => {
    await database.sql`update events set test = true where id = (select event_id from deliveries where id = ${id})`;
    expect(await olderInserts()).toBe(false);
    const batchId = uuidv7();
    await claim(batchId);
    const batch = await takeBatch(database.sql, batchId);
    expect(await olderInserts()).toBe(false);
    expect((await beginAttempts(database.sql, attempt(), batch)).has(id)).toBe(true);
  });
});
