/** A claim in a calm says and takes what a claim by turns would, or leaves it to one. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { type Claim, type ClaimLimits, type InFlightLimits, UNBOUNDED } from '../../src/db/outbox/claim.ts';
import { claimByTurns } from '../../src/db/outbox/claim-deliveries.ts';
import { claimFew } from '../../src/db/outbox/claim-few.ts';
import { markDispatched } from '../../src/db/outbox/outbox.ts';
import type { Sql } from '../../src/db/pool.ts';
import { setActive } from '../../src/db/webhooks/webhooks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { beginAttempt } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';
import { fireMany } from '../support/relay.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate deliveries, attempts, batches`;
  await database.sql`update webhooks set active = false`;
});
afterAll(() => database.drop());

const LIMITS = { limit: 100, handedOver: 12, countTo: 25 };

async function shop(webhooks = 1) {
  const { sql } = database;
  const { eshopId } = await createEshop(sql, { name: 'Mugs', email: 'mugs@shop.example' });
  const webhookIds: number[] = [];
  for (let index = 0; index < webhooks; index += 1)
    webhookIds.push(await insertWebhook(sql, eshopId, 'CREATE_ORDER'));
  return { eshopId, webhookIds, fire: (events: number) => fireMany({ sql, eshopId }, events) };
}

/** What a claim finds and takes, which is then undone; times in whole hours. */
async function undone(claim: (tx: Sql) => Promise<Claim | undefined>) {
  const rolledBack = new Error('rolled back');
  let claimed: Claim | undefined;
  await database.sql
    .begin(async (tx) => {
      claimed = await claim(tx);
      throw rolledBack;
    })
    .catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
  if (claimed === undefined) return undefined;
  const { deliveries, waitedMs, handOverMs, keptMs, ...counts } = claimed;
  const hours = (ms: number) => Math.round(ms / 3_600_000);
  return {
    ...counts,
    waited: hours(waitedMs),
    handOver: hours(handOverMs),
    kept: hours(keptMs),
    deliveries: deliveries.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
const few = (limits: ClaimLimits = LIMITS) => undone((tx) => claimFew(tx, limits));
const byTurns = (limits: ClaimLimits = LIMITS) => undone((tx) => claimByTurns(tx, limits));

async function claimAndDispatch(count: number): Promise<string[]> {
  const { deliveries } = await claimByTurns(database.sql, { limit: count });
  const ids = deliveries.map(({ id }) => id);
  await markDispatched(database.sql, ids);
  return ids;
}

test('takes nothing where nothing waits', async () => {
  const claim = await few();
  expect(claim).toMatchObject({ deliveries: [], more: false, waiting: 0, handedOver: 0 });
  expect(claim).toEqual(await byTurns());
});

test('takes all of several webhooks and e-shops', async () => {
  await (await shop(2)).fire(2);
  await (await shop()).fire(3);
  await database.sql`update deliveries set created_at = created_at - interval '3 hours'`;
  const claim = await few();
  expect(claim?.deliveries).toHaveLength(7);
  expect(claim).toMatchObject({ waited: 3, waiting: 7, more: false });
  expect(claim).toEqual(await byTurns());
});

test('what it takes is under a lease', async () => {
  await (await shop()).fire(3);
  expect((await claimFew(database.sql, LIMITS))?.deliveries).toHaveLength(3);
  expect((await few())?.deliveries).toEqual([]);
  expect(await few()).toEqual(await byTurns());
});

test('counts what is handed over and not begun, and what waits only as far as asked for', async () => {
  const { fire } = await shop();
  await fire(3);
  const [begun = ''] = await claimAndDispatch(3);
  await beginAttempt(database.sql, { deliveryId: begun, number: 1, generation: 1 });
  await database.sql`update deliveries set dispatched_at = dispatched_at - interval '20 seconds' where window_started_at is null`;
  await fire(2);
  const claim = await few({ ...LIMITS, countTo: 1 });
  expect(claim).toMatchObject({ handedOver: 2, waiting: 1 });
  expect(claim).toEqual(await byTurns({ ...LIMITS, countTo: 1 }));
});

test('does not count what a webhook that was switched off holds', async () => {
  const { webhookIds, eshopId, fire } = await shop();
  await fire(3);
  await claimAndDispatch(3);
  await setActive(database.sql, eshopId, webhookIds[0] ?? 0, false);
  const claim = await few();
  expect(claim?.handedOver).toBe(0);
  expect(claim).toEqual(await byTurns());
});

test('takes nothing that was handed back, nor of a recovery', async () => {
  await (await shop()).fire(4);
  const [handedBack = '', recovered = ''] = (await byTurns())?.deliveries.map(({ id }) => id) ?? [];
  await database.sql`update deliveries set handed_back_at = now(), attempts_made = 1 where id = ${handedBack}`;
  await database.sql`
    with begun as (
      insert into recoveries (id, eshop_id, webhook_id, since, until, include, found)
      select gen_random_uuid(), eshop_id, webhook_id, now(), now(), '{failed}', 1 from deliveries where id = ${recovered} returning id)
    update deliveries set recovery_id = begun.id from begun where deliveries.id = ${recovered}`;
  const claim = await few();
  expect(claim?.deliveries).toHaveLength(2);
  expect(claim).toEqual(await byTurns());
});

test('leaves more than a few to a claim by turns', async () => {
  const { fire } = await shop();
  await fire(8);
  expect((await few())?.deliveries).toHaveLength(8);
  await fire(1);
  expect(await few()).toBeUndefined();
});

test('leaves to a claim by turns what the bounds of a webhook, a host or an e-shop may keep back', async () => {
  const { eshopId, webhookIds, fire } = await shop();
  await fire(3);
  const bounded = async (inFlight: Partial<InFlightLimits>) =>
    (await few({ ...LIMITS, inFlight: { ...UNBOUNDED, ...inFlight } }))?.deliveries.length;
  expect(await bounded({ webhook: 3, host: 3, eshop: 3 })).toBe(3);
  for (const one of ['webhook', 'host', 'eshop']) expect(await bounded({ [one]: 2 })).toBeUndefined();
  expect(await bounded({ webhooks: new Map([[webhookIds[0] ?? 0, 2]]) })).toBeUndefined();
  expect(await bounded({ hosts: new Map([['shop.example', 2]]) })).toBeUndefined();
  expect(await bounded({ eshops: new Map([[eshopId, 2]]) })).toBeUndefined();
  await claimAndDispatch(1);
  expect(await bounded({ webhook: 3 })).toBe(2);
  expect(await bounded({ webhook: 2 })).toBeUndefined();
});

test('leaves what is claimed for a batch, of a recovery, or beside an open batch, to a claim by turns', async () => {
  await (await shop()).fire(1);
  const batchId = '0197a0a0-0000-7000-8000-000000000001';
  expect(await few({ ...LIMITS, batchId })).toBeUndefined();
  expect(await few({ ...LIMITS, recovered: true })).toBeUndefined();
  expect(await few({ limit: 100 })).toBeUndefined();
  await database.sql`insert into batches (id, run) values (${batchId}, ${batchId})`;
  expect(await few()).toBeUndefined();
  await database.sql`update batches set finished_at = now()`;
  expect((await few())?.deliveries).toHaveLength(1);
});

test('starts again the batch of a relay that died', async () => {
  await (await shop()).fire(2);
  const batchId = '0197a0a0-0000-7000-8000-000000000002';
  await claimByTurns(database.sql, { limit: 1, batchId });
  await database.sql`update deliveries set claimed_until = now() - interval '1 second' where batch_id is not null`;
  const claim = await few();
  expect(claim?.deliveries.filter((delivery) => delivery.batchId === batchId)).toHaveLength(1);
  expect(claim).toEqual(await byTurns());
});

test('passes over what another claim is taking', async () => {
  await (await shop()).fire(3);
  await database.sql.begin(async (tx) => {
    await tx`select from deliveries order by id limit 2 for update`;
    const { deliveries, more } = (await few()) ?? { deliveries: [], more: false };
    expect([deliveries.length, more]).toEqual([1, true]);
  });
});
