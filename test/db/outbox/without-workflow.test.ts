/** The effects of a webhook's change on deliveries that wait without a workflow. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { claimWebhookChanges, enqueueWebhookChange } from '../../../src/db/outbox/changes.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { bringForward, requeueHeld } from '../../../src/db/outbox/without-workflow.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { fireDelivery } from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

const FIRST_WAIT_MS = 25_000;

const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database, 'deliveries');
beforeEach(async () => {
  await sql`update webhooks set generation = 2, generation_at = now() where id = ${shop.webhookId}`;
});

/** A delivery that failed under the previous generation. @param changes further changes, applied in turn, as SQL */
async function failed(...changes: string[]): Promise<string> {
  const id = await fireDelivery(sql, shop);
  const usual = "state = 'retrying', attempts_made = 1, window_started_at = now(), last_generation = 1";
  for (const change of [usual, ...changes])
    await sql.unsafe(`update deliveries set ${change} where id = '${id}'`);
  return id;
}

test('a delivery without an attempt returns to the class in which it was written', async () => {
  for (const change of ['bulk = null', 'bulk = true', 'recovery_id = gen_random_uuid()']) {
    const id = await fireDelivery(sql, shop);
    await sql.unsafe(`update deliveries set class = ${CLASS.undelivered}, ${change} where id = '${id}'`);
  }
  expect(await requeueHeld(sql, shop)).toBe(3);
  const rows = await sql<{ class: number }[]>`select class from deliveries order by id`;
  expect(rows.map((row) => row.class)).toEqual([CLASS.fresh, CLASS.bulk, CLASS.recovered]);
});

describe('a queued delivery that has been attempted', () => {
  const waitsFor = (seconds: number) =>
    `class = ${CLASS.retry}, dispatched_at = null, last_attempt_at = now() - interval '30 seconds',
     next_attempt_at = now() + interval '${seconds} seconds'`;
  const waitOf = async (id: string) => {
    const [row] = await sql<{ seconds: number }[]>`
      select extract(epoch from next_attempt_at - clock_timestamp())::float8 as seconds from deliveries where id = ${id}`;
    return row?.seconds ?? Number.NaN;
  };

  test('is due at once after an activation or another URL of its webhook', async () => {
    const id = await failed(waitsFor(50));
    expect(await bringForward(sql, shop, FIRST_WAIT_MS)).toBe(1);
    expect(await waitOf(id)).toBeLessThanOrEqual(0);
    expect(await bringForward(sql, shop, FIRST_WAIT_MS)).toBe(0);
  });

  test('is not due before the first wait after its last attempt', async () => {
    const id = await failed(waitsFor(50));
    await sql`update deliveries set last_attempt_at = now() where id = ${id}`;
    await bringForward(sql, shop, FIRST_WAIT_MS);
    expect(await waitOf(id)).toBeGreaterThan(15);
    expect(await waitOf(id)).toBeLessThanOrEqual(FIRST_WAIT_MS / 1_000);
  });

  test('gets a workflow if its next attempt is more than a minute ahead', async () => {
    const id = await failed(waitsFor(3_000));
    await sql`update deliveries set last_attempt_at = now() where id = ${id}`;
    expect(await bringForward(sql, shop, 600_000)).toBe(1);
    const [row] = await sql`select class, due_at <= now() as due from deliveries where id = ${id}`;
    expect(row).toEqual({ class: CLASS.undelivered, due: true });
    expect(await waitOf(id)).toBeGreaterThan(500);
  });

  test('is left alone if it failed at the current generation, is held, spent, claimed or dispatched', async () => {
    await failed(waitsFor(50), 'last_generation = 2');
    await failed(waitsFor(50), "operator_stop = 'hold'");
    await failed(waitsFor(50), 'next_attempt_at = null');
    await failed(waitsFor(50), "claimed_until = now() + interval '5 seconds'");
    await failed(waitsFor(50), 'dispatched_at = now()');
    expect(await bringForward(sql, shop, FIRST_WAIT_MS)).toBe(0);
  });
});

test('an e-shop with very many changes does not delay others', async () => {
  const other = await createEshop(sql, { name: 'Other', email: 'other@example.test' });
  const theirs = await insertWebhook(sql, other.eshopId, 'CREATE_ORDER');
  const webhooks = await Promise.all(
    Array.from({ length: 50 }, () => insertWebhook(sql, shop.eshopId, 'CREATE_ORDER')),
  );
  const change = (owner: number, id: number) => transaction(sql, (tx) => enqueueWebhookChange(tx, owner, id));
  for (const id of webhooks) await change(shop.eshopId, id);
  await change(other.eshopId, theirs);
  const claimed = await claimWebhookChanges(sql, 4);
  expect(claimed.map((one) => one.webhookId)).toEqual(expect.arrayContaining([theirs]));
  expect(claimed).toHaveLength(4);
  // A further change to a webhook waits for the one under way.
  await change(other.eshopId, theirs);
  expect((await claimWebhookChanges(sql, 100)).map((one) => one.webhookId)).toHaveLength(47);
});
