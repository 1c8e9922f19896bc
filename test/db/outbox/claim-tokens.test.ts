/** A process changes nothing that another has claimed since; and what it puts back waits by its row as it is. */
import { describe, expect, test } from 'vitest';
import { closeDelivery } from '../../../src/db/deliveries/deliveries.ts';
import { forgetFutureTimes } from '../../../src/db/maintenance/future-times.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import {
  CLASS,
  type DeliveryClass,
  LEASE_SECONDS,
  type QueuedDelivery,
} from '../../../src/db/outbox/outbox.ts';
import {
  deferClaimed,
  giveBack,
  markDispatched,
  postponeRejected,
  renewClaims,
  requeue,
} from '../../../src/db/outbox/release.ts';
import { beginAttempt, fireDelivery } from '../../support/database/deliveries.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database, 'deliveries', 'attempts');

/** A delivery that was claimed from a class. @param change of it before its claim, as SQL */
async function claimed(
  change = 'id = id',
  deliveryClass: DeliveryClass = CLASS.fresh,
): Promise<QueuedDelivery> {
  const id = await fireDelivery(sql, shop);
  await sql`update deliveries set class = ${deliveryClass} where id = ${id}`;
  await sql.unsafe(`update deliveries set ${change} where id = '${id}'`);
  const { deliveries } = await claimDeliveries(sql, { class: deliveryClass, limit: 1 });
  const [delivery] = deliveries;
  if (delivery?.id !== id) throw new Error('not claimed');
  return delivery;
}
const endLease = (id: string) =>
  sql`update deliveries set claimed_until = now() - interval '1 second' where id = ${id}`;

interface QueueRow {
  readonly class: number;
  /** Until it is due, its next attempt is due and its claim ends, in whole minutes; null if there is none. */
  readonly dueIn: number;
  readonly nextIn: number | null;
  readonly claimedFor: number | null;
  readonly claimId: string | null;
}
async function rowOf(id: string): Promise<QueueRow> {
  const minutes = (column: string) =>
    sql`round(extract(epoch from ${sql(column)} - clock_timestamp()) / 60)::int`;
  const [row] = await sql<QueueRow[]>`
    select class, ${minutes('due_at')} as due_in, ${minutes('next_attempt_at')} as next_in, ${minutes('claimed_until')} as claimed_for, claim_id
    from deliveries where id = ${id}`;
  if (row === undefined) throw new Error(`no delivery ${id}`);
  return row;
}
const unclaimed = { claimId: null, claimedFor: null };
const RETRYING = "state = 'retrying', attempts_made = 1, last_attempt_at = now(), window_started_at = now()";

const ends: Readonly<Record<string, (claim: QueuedDelivery) => Promise<void>>> = {
  giveBack: (claim) => giveBack(sql, [claim]),
  deferClaimed: (claim) => deferClaimed(sql, [claim]),
  requeue: (claim) => requeue(sql, [{ ...claim, needsWorkflow: false }]),
  'requeue for its workflow': (claim) => requeue(sql, [{ ...claim, needsWorkflow: true }]),
  renewClaims: (claim) => renewClaims(sql, [claim]),
  postponeRejected: (claim) => postponeRejected(sql, [claim]),
};

describe.each(Object.keys(ends))('%s', (name) => {
  const stored = (id: string) => sql`select * from deliveries where id = ${id}`;

  test('does not change a delivery that another process has claimed since', async () => {
    const late = await claimed();
    await endLease(late.id);
    const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 1 });
    expect(deliveries).toMatchObject([{ id: late.id }]);
    const before = await stored(late.id);
    await ends[name]?.(late);
    expect(await stored(late.id)).toEqual(before);
  });

  test('does not change a delivery that its workflow has taken over', async () => {
    const late = await claimed();
    // Its first step ends the claim; the token alone says nothing.
    await sql`update deliveries set dispatched_at = now() where id = ${late.id}`;
    const before = await stored(late.id);
    await ends[name]?.(late);
    expect(await stored(late.id)).toEqual(before);
  });

  test('does not change another delivery', async () => {
    const one = await claimed();
    const other = await claimed();
    const before = await stored(other.id);
    await ends[name]?.({ ...one, claimId: other.claimId });
    await ends[name]?.({ ...other, claimId: one.claimId });
    expect(await stored(other.id)).toEqual(before);
  });
});

test('a delivery that was given back can be claimed at once, under another token', async () => {
  const before = await claimed();
  await giveBack(sql, [before]);
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 1 });
  expect(deliveries).toMatchObject([{ id: before.id }]);
  expect(deliveries[0]?.claimId).not.toBe(before.claimId);
});

test('a delivery that missed a change to its webhook while claimed is brought forward', async () => {
  const planned = "next_attempt_at = now() + interval '1 hour', last_generation = 1";
  const late = await claimed(`${RETRYING}, ${planned}`, CLASS.undelivered);
  await giveBack(sql, [late], 120_000);
  expect(await rowOf(late.id)).toMatchObject({ ...unclaimed, nextIn: 60 });
  await sql`update deliveries set claim_id = ${late.claimId} where id = ${late.id}`;
  await sql`update webhooks set generation = 2 where id = ${shop.webhookId}`;
  await giveBack(sql, [late], 120_000);
  expect(await rowOf(late.id)).toMatchObject({ ...unclaimed, class: CLASS.undelivered, nextIn: 2 });
});

/** By how much a time of a delivery is ahead of the database's clock before and after a step, in seconds. */
async function ahead(column: 'claimed_until' | 'due_at', id: string, step: () => Promise<void>) {
  const [before] = await sql<{ now: number }[]>`select extract(epoch from clock_timestamp())::float8 as now`;
  await step();
  const [after] = await sql<{ now: number; at: number }[]>`
    select extract(epoch from clock_timestamp())::float8 as now, extract(epoch from ${sql(column)})::float8 as at
    from deliveries where id = ${id}`;
  if (before === undefined || after === undefined) throw new Error(`no delivery ${id}`);
  return { before: after.at - before.now, after: after.at - after.now };
}

test.each<[string, number, 'claimed_until' | 'due_at', keyof typeof ends]>([
  ['a claim that is renewed lasts as long as a new one', LEASE_SECONDS, 'claimed_until', 'renewClaims'],
  [
    'a delivery whose start Temporal rejected is left alone for half a minute',
    30,
    'claimed_until',
    'postponeRejected',
  ],
  ['a deferred delivery is left alone for a second', 1, 'due_at', 'deferClaimed'],
])('%s', async (_, seconds, column, name) => {
  const claim = await claimed();
  const time = await ahead(column, claim.id, async () => await ends[name]?.(claim));
  expect(time.before).toBeGreaterThanOrEqual(seconds);
  expect(time.after).toBeLessThanOrEqual(seconds);
  expect(await rowOf(claim.id)).toMatchObject({
    class: CLASS.fresh,
    claimId: name === 'renewClaims' ? claim.claimId : null,
  });
});

test('a late renewal does not change the wait of a delivery whose start Temporal rejected', async () => {
  const claim = await claimed();
  await postponeRejected(sql, [claim]);
  const before = await sql`select * from deliveries`;
  await renewClaims(sql, [claim]);
  expect(await sql`select * from deliveries`).toEqual(before);
});

test('a delivery is marked as dispatched once, regardless of its claim', async () => {
  const { id } = await claimed();
  await markDispatched(sql, [id]);
  const dispatchedAt = () => sql`select dispatched_at from deliveries where id = ${id}`;
  const first = await dispatchedAt();
  expect(first).not.toEqual([{ dispatchedAt: null }]);
  await markDispatched(sql, [id]);
  expect(await dispatchedAt()).toEqual(first);
  expect(await rowOf(id)).toMatchObject(unclaimed);
});

test('a delivery ended by its workflow keeps no claim token', async () => {
  const claim = await claimed();
  await closeDelivery(sql, claim.id, 'expired');
  expect(await rowOf(claim.id)).toMatchObject(unclaimed);
});

describe('a deferred delivery', () => {
  test('waits in its class, without a next attempt if none was made', async () => {
    const claim = await claimed('bulk = true', CLASS.bulk);
    await deferClaimed(sql, [claim]);
    expect(await rowOf(claim.id)).toEqual({ class: CLASS.bulk, dueIn: 0, nextIn: null, ...unclaimed });
  });

  test('always has a time for its next attempt if it is a retry', async () => {
    const claim = await claimed(`${RETRYING}, next_attempt_at = now()`, CLASS.retry);
    await deferClaimed(sql, [claim]);
    expect(await rowOf(claim.id)).toEqual({ class: CLASS.retry, dueIn: 0, nextIn: 0, ...unclaimed });
  });

  test('gets no attempt if none is left', async () => {
    const claim = await claimed(`${RETRYING}, next_attempt_at = null`, CLASS.retry);
    await deferClaimed(sql, [claim]);
    expect(await rowOf(claim.id)).toMatchObject({ nextIn: null });
  });

  test('waits until the time of another owner’s attempt is over', async () => {
    const claim = await claimed(`${RETRYING}, next_attempt_at = now()`, CLASS.retry);
    await beginAttempt(sql, { deliveryId: claim.id, number: 2, generation: 1, ownedMs: 600_000 });
    await deferClaimed(sql, [claim]);
    expect(await rowOf(claim.id)).toEqual({ class: CLASS.retry, dueIn: 10, nextIn: 10, ...unclaimed });
  });

  test('keeps the time that another owner has planned since', async () => {
    const claim = await claimed();
    await sql.unsafe(`update deliveries set ${RETRYING}, next_attempt_at = now() + interval '50 seconds'`);
    await deferClaimed(sql, [claim]);
    expect(await rowOf(claim.id)).toMatchObject({ dueIn: 1, nextIn: 1 });
  });

  test('goes to its workflow if another owner planned the next attempt over a minute ahead', async () => {
    const claim = await claimed();
    await sql.unsafe(`update deliveries set ${RETRYING}, next_attempt_at = now() + interval '10 minutes'`);
    await deferClaimed(sql, [claim]);
    // A worker that starts forgets times of the queue that lie so far ahead that the clock must have been set back.
    expect(await forgetFutureTimes(sql)).toBe(0);
    expect(await rowOf(claim.id)).toEqual({ class: CLASS.undelivered, dueIn: 0, nextIn: 10, ...unclaimed });
  });

  test('has no window before its first attempt, even if one was begun and given up', async () => {
    const claim = await claimed();
    await beginAttempt(sql, { deliveryId: claim.id, number: 1, generation: 1 });
    await sql`update attempts set owned_until = null`;
    await deferClaimed(sql, [claim]);
    expect(await sql`select window_started_at from deliveries`).toEqual([{ windowStartedAt: null }]);
  });
});

describe('a requeue chooses the class from the current row', () => {
  const spent = `${RETRYING}, next_attempt_at = null`;
  const soon = `${RETRYING}, next_attempt_at = now() + interval '50 seconds'`;
  const late = `${RETRYING}, next_attempt_at = now() + interval '10 minutes'`;
  test.each<[string, string, DeliveryClass, number]>([
    ['never attempted: in the class in which it was written', 'id = id', CLASS.fresh, 0],
    ['never attempted, of an import', 'bulk = true', CLASS.bulk, 0],
    ['never attempted, of a recovery', 'recovery_id = gen_random_uuid()', CLASS.recovered, 0],
    ['due within a minute: for its retry, at its time', soon, CLASS.retry, 1],
    ['due later: for its workflow, at once', late, CLASS.undelivered, 0],
    ['spent: for its workflow', spent, CLASS.undelivered, 0],
    ['held: for its workflow', `${soon}, operator_stop = 'hold'`, CLASS.undelivered, 0],
    ['held before its first attempt', "operator_stop = 'hold'", CLASS.undelivered, 0],
    ['given up', "operator_stop = 'giveUp'", CLASS.undelivered, 0],
    ['delivered', "state = 'delivered', attempts_made = 1", CLASS.delivered, 0],
    ['failed', "state = 'failed', attempts_made = 1", CLASS.undelivered, 0],
    ['canceled after an attempt', "state = 'canceled', attempts_made = 1", CLASS.undelivered, 0],
  ])('%s', async (_, change, deliveryClass, dueIn) => {
    const claim = await claimed();
    await sql.unsafe(`update deliveries set ${change} where id = '${claim.id}'`);
    await requeue(sql, [{ ...claim, needsWorkflow: false }]);
    expect(await rowOf(claim.id)).toMatchObject({ class: deliveryClass, dueIn, ...unclaimed });
  });

  test.each(['active = false', 'deleted_at = now()', 'active = false, deleted_at = now()'])(
    'a delivery of a webhook with %s goes to its workflow, attempted or not',
    async (change) => {
      const claims = [await claimed(), await claimed(soon)];
      await sql.unsafe(`update webhooks set ${change} where id = ${shop.webhookId}`);
      await requeue(
        sql,
        claims.map((claim) => ({ ...claim, needsWorkflow: false })),
      );
      for (const { id } of claims)
        expect(await rowOf(id)).toMatchObject({ class: CLASS.undelivered, dueIn: 0, ...unclaimed });
    },
  );

  test('a delivery whose webhook was reactivated returns to the class in which it was written', async () => {
    const claim = await claimed('bulk = true', CLASS.bulk);
    await sql`update webhooks set active = false where id = ${shop.webhookId}`;
    await sql`update webhooks set active = true, generation = 2 where id = ${shop.webhookId}`;
    await requeue(sql, [{ ...claim, needsWorkflow: false }]);
    expect(await rowOf(claim.id)).toMatchObject({ class: CLASS.bulk, ...unclaimed });
  });

  test('only the delivery that needs its workflow waits for it', async () => {
    const [one, other] = [await claimed(), await claimed()];
    await requeue(sql, [
      { ...one, needsWorkflow: true },
      { ...other, needsWorkflow: false },
    ]);
    expect(await rowOf(one.id)).toMatchObject({ class: CLASS.undelivered, dueIn: 0, ...unclaimed });
    expect(await rowOf(other.id)).toMatchObject({ class: CLASS.fresh, dueIn: 0, ...unclaimed });
  });
});
