/** Which batch holds a delivery, and what it records: no second batch, no second workflow, nothing lost in between. */
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { nextToTell } from '../../src/db/outbox/changes.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS, markDispatched } from '../../src/db/outbox/outbox.ts';
import { type AttemptRecord, beginAttempts, recordAttempts } from '../../src/db/webhooks/attempts.ts';
import { defer, requeue, requeueAll } from '../../src/db/webhooks/batch-returns.ts';
import { countBatch, openInBatch, renewBatch, takeBatch } from '../../src/db/webhooks/batches.ts';
import { setActive } from '../../src/db/webhooks/change.ts';
import { closeDelivery } from '../../src/db/webhooks/deliveries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { accepted, attemptRecord, fireDelivery, owned } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';

let database: TestDatabase;
let eshopId: number;
let webhookId: number;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate deliveries, attempts, batches`;
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
  webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
});
afterAll(() => database.drop());

interface Row {
  readonly state: string;
  readonly attemptsMade: number;
  readonly batchId: string | null;
  readonly dispatchedAt: Date | null;
  readonly class: number;
  readonly claimedUntil: Date | null;
}
async function row(id: string): Promise<Row> {
  const [found] = await database.sql<Row[]>`select * from deliveries where id = ${id}`;
  if (found === undefined) throw new Error(`no delivery ${id}`);
  return found;
}

/** Deliveries claimed for a batch, which an execution has taken. */
async function claimed(count: number) {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1)
    ids.push(await fireDelivery(database.sql, { eshopId, webhookId }));
  const batchId = uuidv7();
  await claimDeliveries(database.sql, { class: CLASS.fresh, limit: count, batchId });
  return { ids, batch: await takeBatch(database.sql, batchId) };
}
const begin = async (
  ids: readonly string[],
  batch: { id: string; run: string } | null,
  generation = 1,
  owner?: string,
) => [
  ...(
    await beginAttempts(
      database.sql,
      ids.map((deliveryId) => ({ deliveryId, number: 1, generation })),
      batch,
      owner === undefined ? owned : { ...owned, owner },
    )
  ).keys(),
];
const result = (deliveryId: string, change: Partial<AttemptRecord> = {}) =>
  attemptRecord(deliveryId, { nextAttemptAt: new Date(Date.now() + 60_000), ...change });

test('what is open is attempted by turns: each e-shop’s first, then each webhook’s first, then the oldest', async () => {
  const neighbour = await createEshop(database.sql, { name: 'Neighbour', email: 'neighbour@example.test' });
  const second = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  for (let index = 0; index < 3; index += 1) await fireDelivery(database.sql, { eshopId, webhookId });
  const theirs = {
    eshopId: neighbour.eshopId,
    webhookId: await insertWebhook(database.sql, neighbour.eshopId, 'CREATE_ORDER'),
  };
  for (let index = 0; index < 2; index += 1) await fireDelivery(database.sql, theirs);
  const batchId = uuidv7();
  await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 20, batchId });

  const open = await openInBatch(database.sql, batchId);

  expect(open).toHaveLength(8);
  const turns = open.map((delivery) => (delivery.eshopId === eshopId ? delivery.webhookId : 'neighbour'));
  expect(turns.slice(0, 4).filter((turn) => turn === 'neighbour')).toHaveLength(2);
  expect(turns.slice(4)).not.toContain('neighbour');
  const ours = turns.filter((turn) => turn !== 'neighbour');
  for (let index = 0; index < 6; index += 2)
    expect(new Set(ours.slice(index, index + 2))).toEqual(new Set([webhookId, second]));
  for (const id of [webhookId, second]) {
    const ids = open.flatMap((delivery) => (delivery.webhookId === id ? [delivery.id] : []));
    expect(ids).toEqual(ids.toSorted());
  }
});

/** Claims the deliveries that batches gave back, the retries first. */
async function claimRequeued(limit: number) {
  const retries = await claimDeliveries(database.sql, { class: CLASS.retry, limit, aheadMs: 2_000 });
  const others = await claimDeliveries(database.sql, { class: CLASS.workflow, limit });
  return [...retries.deliveries, ...others.deliveries];
}

describe('a batch begins an attempt', () => {
  test('of what it holds, which is dispatched with it', async () => {
    const { ids, batch } = await claimed(2);
    expect((await begin(ids, batch)).sort()).toEqual(ids);
    for (const id of ids) {
      expect(await row(id)).toMatchObject({ dispatchedAt: expect.any(Date), claimedUntil: null });
    }
  });

  test('of nothing that another batch holds, nor of what none holds', async () => {
    const { ids } = await claimed(1);
    const free = await fireDelivery(database.sql, { eshopId, webhookId });
    const other = await takeBatch(database.sql, uuidv7());
    expect(await begin([...ids, free], other)).toEqual([]);
    for (const id of [...ids, free]) expect(await row(id)).toMatchObject({ dispatchedAt: null });
  });

  test('of nothing once another execution has taken the batch', async () => {
    const { ids, batch } = await claimed(1);
    const successor = await takeBatch(database.sql, batch.id);
    expect(await begin(ids, batch)).toEqual([]);
    expect(await begin(ids, successor)).toEqual(ids);
  });

  test('of nothing whose webhook is inactive, deleted or another one than was read', async () => {
    const { ids, batch } = await claimed(1);
    expect(await begin(ids, batch, 7)).toEqual([]);
    await setActive(database.sql, eshopId, webhookId, false);
    expect(await begin(ids, batch)).toEqual([]);
  });

  test('of nothing that was canceled', async () => {
    const { ids, batch } = await claimed(1);
    await closeDelivery(database.sql, ids[0] ?? '', 'canceled');
    expect(await begin(ids, batch)).toEqual([]);
  });
});

test('a workflow of its own begins no attempt while a batch holds the delivery', async () => {
  const { ids } = await claimed(1);
  expect(await begin(ids, null)).toEqual([]);
});

describe('what a batch records', () => {
  test('is done where it was delivered, and back in the outbox where it was not, in one statement', async () => {
    const { ids, batch } = await claimed(2);
    const [delivered = '', failed = ''] = ids;
    await begin(ids, batch);
    const states = await recordAttempts(
      database.sql,
      [result(delivered, { ...accepted, nextAttemptAt: null }), result(failed)],
      batch,
    );
    expect(Object.fromEntries(states)).toEqual({ [delivered]: 'delivered', [failed]: 'retrying' });
    expect(await row(delivered)).toMatchObject({ state: 'delivered', batchId: batch.id, class: CLASS.fresh });
    expect(await row(failed)).toMatchObject({
      state: 'retrying',
      attemptsMade: 1,
      batchId: null,
      dispatchedAt: null,
      class: CLASS.retry,
    });
    expect(await countBatch(database.sql, batch.id)).toEqual({
      delivered: 1,
      requeued: 1,
      deferred: 0,
      left: 0,
    });
  });

  test('twice counts once', async () => {
    const { ids, batch } = await claimed(1);
    await begin(ids, batch);
    const records = ids.map((id) => result(id, { ...accepted, nextAttemptAt: null }));
    await recordAttempts(database.sql, records, batch);
    expect((await recordAttempts(database.sql, records, batch)).size).toBe(0);
    expect(await countBatch(database.sql, batch.id)).toEqual({
      delivered: 1,
      requeued: 0,
      deferred: 0,
      left: 0,
    });
  });

  test('late, of a delivery that has its own workflow by now, does not take it from there', async () => {
    const { ids, batch } = await claimed(1);
    const [id = ''] = ids;
    await begin(ids, batch);
    await requeueAll(database.sql, batch.id);
    await claimRequeued(10);
    await markDispatched(database.sql, [id]);
    await recordAttempts(database.sql, [result(id)], batch);
    expect(await row(id)).toMatchObject({ state: 'retrying', dispatchedAt: expect.any(Date) });
    expect(await claimRequeued(10)).toEqual([]);
  });

  test('late, and a success, of a delivery that waits for its own workflow: it needs none any more', async () => {
    const { ids, batch } = await claimed(1);
    const [id = ''] = ids;
    await begin(ids, batch);
    await requeueAll(database.sql, batch.id);
    await recordAttempts(database.sql, [result(id, { ...accepted, nextAttemptAt: null })], batch);
    expect(await row(id)).toMatchObject({ state: 'delivered' });
    expect(await claimRequeued(10)).toEqual([]);
  });
});

describe('an execution that another one has followed', () => {
  async function followed() {
    const { ids, batch } = await claimed(1);
    await begin(ids, batch);
    const successor = await takeBatch(database.sql, batch.id);
    await begin(ids, successor, 1, uuidv7());
    return { id: ids[0] ?? '', batch, successor };
  }
  const untouched = (batchId: string) => ({ state: 'pending', batchId, class: CLASS.fresh });

  test('hands nothing back, and puts nothing back: the other one has it under way', async () => {
    const { id, batch } = await followed();
    await requeue(database.sql, batch, [id]);
    await defer(database.sql, batch, [id]);
    expect(await row(id)).toMatchObject({ ...untouched(batch.id), dispatchedAt: expect.any(Date) });
    expect(await claimRequeued(10)).toEqual([]);
  });

  test('records no failure', async () => {
    const { id, batch, successor } = await followed();
    expect((await recordAttempts(database.sql, [result(id)], batch)).size).toBe(0);
    expect(await row(id)).toMatchObject(untouched(batch.id));
    await recordAttempts(database.sql, [result(id, { ...accepted, nextAttemptAt: null })], successor);
    expect(await row(id)).toMatchObject({ state: 'delivered' });
  });

  test('records a success', async () => {
    const { id, batch } = await followed();
    await recordAttempts(database.sql, [result(id, { ...accepted, nextAttemptAt: null })], batch);
    expect(await row(id)).toMatchObject({ state: 'delivered' });
  });
});

describe('a claim', () => {
  test('of what was claimed for a batch leaves it in that batch', async () => {
    const { ids, batch } = await claimed(1);
    await database.sql`update deliveries set claimed_until = now() - interval '1 second'`;
    for (const batchId of [uuidv7(), undefined]) {
      await database.sql`update deliveries set claimed_until = null`;
      const { deliveries } = await claimDeliveries(database.sql, {
        class: CLASS.fresh,
        limit: 10,
        ...(batchId === undefined ? {} : { batchId }),
      });
      expect(deliveries).toMatchObject([{ id: ids[0], batchId: batch.id }]);
    }
  });

  test('for workflows of their own puts nothing into a batch', async () => {
    const id = await fireDelivery(database.sql, { eshopId, webhookId });
    const { deliveries } = await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10 });
    expect(deliveries).toMatchObject([{ id, batchId: null }]);
    expect(await row(id)).toMatchObject({ batchId: null });
  });

  test('passes over what a batch requeued; that is claimed by itself, what is due first', async () => {
    const { ids, batch } = await claimed(2);
    await begin(ids, batch);
    await recordAttempts(
      database.sql,
      ids.map((id, index) => result(id, { nextAttemptAt: new Date(Date.now() + 1_500 - 1_000 * index) })),
      batch,
    );
    expect(
      (await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10, batchId: uuidv7() })).deliveries,
    ).toEqual([]);
    expect(await claimRequeued(1)).toMatchObject([{ id: ids[1], attemptsMade: 1, lastStatus: 503 }]);
    expect(await claimRequeued(10)).toMatchObject([{ id: ids[0] }]);
    expect(await claimRequeued(10)).toEqual([]);
  });
});

describe('what a batch holds', () => {
  test('stays claimed while one execution may begin it, and no longer once another may', async () => {
    const { ids, batch } = await claimed(2);
    const [begun = '', waiting = ''] = ids;
    await begin([begun], batch);
    const lapse = () => database.sql`update deliveries set claimed_until = null where dispatched_at is null`;
    await lapse();
    await renewBatch(database.sql, batch);
    expect(await row(waiting)).toMatchObject({ claimedUntil: expect.any(Date) });
    expect(await row(begun)).toMatchObject({ claimedUntil: null });
    await lapse();
    await takeBatch(database.sql, batch.id);
    await renewBatch(database.sql, batch);
    expect(await row(waiting)).toMatchObject({ claimedUntil: null });
  });

  test('is requeued, and what is under way is left to its result for as long as that may take', async () => {
    const { ids, batch } = await claimed(3);
    const [underWay = '', old = '', waiting = ''] = ids;
    await begin([underWay, old], batch);
    await database.sql`
      update attempts set started_at = now() - interval '1 minute' where delivery_id = ${old}`;
    expect(await requeueAll(database.sql, batch.id, 20_000)).toBe(2);
    expect(await row(underWay)).toMatchObject({ batchId: batch.id, class: CLASS.fresh });
    for (const id of [old, waiting]) {
      expect(await row(id)).toMatchObject({
        batchId: null,
        dispatchedAt: null,
        class: CLASS.workflow,
      });
    }
  });
});

test('a change of the webhook is not told to what a batch holds: it has no workflow', async () => {
  const change = {
    ...{ id: '1', eshopId, webhookId, toldId: null, untilId: null, againUntilId: null },
    ...{ version: 1, wakes: true, deleted: false },
  };
  const { ids, batch } = await claimed(1);
  await begin(ids, batch);
  expect(await nextToTell(database.sql, change, 10)).toEqual([]);
  await requeueAll(database.sql, batch.id);
  await claimRequeued(10);
  expect(await nextToTell(database.sql, change, 10)).toMatchObject(ids.map((id) => ({ id })));
});

test('batches that ended an hour ago are forgotten', async () => {
  const old = uuidv7();
  await takeBatch(database.sql, old);
  await countBatch(database.sql, old);
  await database.sql`update batches set finished_at = now() - interval '2 hours'`;
  await takeBatch(database.sql, uuidv7());
  const rows = await database.sql`select from batches where id = ${old}`;
  expect(rows).toHaveLength(0);
});
