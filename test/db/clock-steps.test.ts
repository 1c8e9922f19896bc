/** The database's clock is set: unrepaired, waits would last as much longer; and the step is reported to people. */
import pino from 'pino';
import { expect, test } from 'vitest';
import { createDeliverySteps } from '../../activities/delivery-steps.ts';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { loadForAttempt } from '../../src/db/deliveries/attempts.ts';
import {
  type ClockStep,
  forgetFutureTimes,
  lastClockStep,
  recordClockStep,
} from '../../src/db/maintenance/future-times.ts';
import { claimReleaseChanges, enqueueReleaseChange } from '../../src/db/outbox/changes.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { claimLateDeliveries } from '../../src/db/reconciliation.ts';
import { transaction } from '../../src/db/transaction.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { watchDatabaseClock } from '../../src/reconciler/watch-clock.ts';
import { beginAttempt, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';
import { unwatched } from '../support/unwatched.ts';

const { sql } = await databaseOfFile();
const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
const owner: { eshopId: number; webhookId: number } = {
  eshopId,
  webhookId: await insertWebhook(sql, eshopId, 'CREATE_ORDER'),
};

test('leases and due times an hour ahead become due; plausible times, and those people set, stay', async () => {
  const [due, leased, soon] = [
    await fireDelivery(sql, owner),
    await fireDelivery(sql, owner),
    await fireDelivery(sql, owner),
  ];
  await sql`update deliveries set due_at = now() + interval '1 hour' where id = ${due}`;
  await sql`update deliveries set claimed_until = now() + interval '1 hour' where id = ${leased}`;
  await sql`update deliveries set due_at = now() + interval '1 minute' where id = ${soon}`;
  const releaseAt = new Date(Date.now() + 24 * 3_600_000).toISOString();
  await transaction(sql, (tx) => enqueueReleaseChange(tx, owner.eshopId, '10001', releaseAt));
  await sql`update changes_to_signal set claimed_until = now() + interval '1 hour'`;
  const [before] = await sql<{ dueAt: Date }[]>`select due_at from changes_to_signal`;

  const claimed = async () => {
    const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 10 });
    return deliveries.map(({ id }) => id).sort();
  };
  expect(await claimed()).toEqual([]);
  expect(await forgetFutureTimes(sql)).toBe(3);
  expect(await claimed()).toEqual([due, leased].sort());
  expect(await claimReleaseChanges(sql, 10)).toMatchObject([{ eshopOrderId: '10001' }]);
  expect(await sql`select due_at from changes_to_signal`).toMatchObject([{ dueAt: before?.dueAt }]);
});

test('a delivery dispatched before a step back is checked at once', async () => {
  const id = await fireDelivery(sql, owner);
  await sql`update deliveries set dispatched_at = now() + interval '1 hour' where id = ${id}`;
  const late = async () => (await claimLateDeliveries(sql, 0, 100)).some((delivery) => delivery.id === id);
  expect(await late()).toBe(false);
  expect(await forgetFutureTimes(sql)).toBe(1);
  expect(await late()).toBe(true);
});

test('after a step back, a retry waits no longer than planned, and an attempt is owned no longer', async () => {
  const [retried, begun] = [await fireDelivery(sql, owner), await fireDelivery(sql, owner)];
  await makeAttempt(sql, retried, 1);
  await beginAttempt(sql, { deliveryId: begun, number: 1, generation: 1 });
  await sql`
    update deliveries set last_attempt_at = now() + interval '1 hour', next_attempt_at = now() + interval '1 hour 20 seconds'
    where id = ${retried}`;
  await sql`
    update attempts set started_at = now() + interval '1 hour', owned_until = now() + interval '1 hour 20 seconds'
    where delivery_id = ${begun}`;
  const look = async () => {
    const [one, other] = [await loadForAttempt(sql, retried), await loadForAttempt(sql, begun)];
    return [
      [one?.nextAttemptAt, one?.now],
      [other?.underWayUntil, other?.now],
    ].map(([until, now]) => Math.round(((until?.getTime() ?? 0) - (now?.getTime() ?? 0)) / 1_000));
  };
  // Also before the repair.
  expect(await look()).toEqual([20, 20]);
  await forgetFutureTimes(sql);
  const [first, second] = await look();
  expect(first).toBeLessThanOrEqual(20);
  expect(second).toBeLessThanOrEqual(20);
});

test('after a step back, a delivery without a next attempt still has none', async () => {
  const id = await fireDelivery(sql, owner);
  await makeAttempt(sql, id, 1, { nextAttemptAt: null });
  await sql`
    update deliveries set dispatched_at = null, class = ${CLASS.undelivered}, due_at = now() + interval '1 hour' where id = ${id}`;
  await forgetFutureTimes(sql);
  expect(await sql`select next_attempt_at, due_at <= now() as due from deliveries where id = ${id}`).toEqual([
    { nextAttemptAt: null, due: true },
  ]);
});

test('a step ahead ends no window, however many workers notice it', async () => {
  const id = await fireDelivery(sql, owner);
  await makeAttempt(sql, id, 1);
  await sql`update deliveries set window_started_at = now() - interval '6 hours' where id = ${id}`;
  const at = new Date();
  await recordClockStep(sql, { at, ms: 7_200_000, differenceMs: 7_200_000 });
  // Another worker was cut off for a quarter of an hour.
  const later = new Date(at.getTime() + 900_000);
  await recordClockStep(sql, { at: later, ms: 7_200_100, differenceMs: 7_200_050 });
  const [row] = await sql<{ hours: number }[]>`
    select round(extract(epoch from now() - window_started_at) / 3600)::int as hours from deliveries where id = ${id}`;
  expect(row?.hours).toBe(4);
});

test('a step ahead and back leaves planned attempts and checks where they were', async () => {
  const id = await fireDelivery(sql, owner);
  await makeAttempt(sql, id, 1);
  await sql`
    update deliveries set dispatched_at = now() - interval '3 hours', window_started_at = now() - interval '3 hours',
      last_attempt_at = now() - interval '3 hours', next_attempt_at = now() + interval '3 hours' where id = ${id}`;
  const inMinutes = async () => {
    const [row] = await sql<{ minutes: number }[]>`
      select round(extract(epoch from next_attempt_at - now()) / 60)::int as minutes from deliveries where id = ${id}`;
    return row?.minutes;
  };
  const hour = 3_600_000;
  // Only the notes of the steps: the clock of this database itself stays.
  await recordClockStep(sql, { at: new Date(Date.now() + 5 * hour), ms: 2 * hour, differenceMs: 2 * hour });
  expect(await inMinutes()).toBe(5 * 60);
  await recordClockStep(sql, { at: new Date(Date.now() + 6 * hour), ms: -2 * hour, differenceMs: 0 });
  expect(await inMinutes()).toBe(3 * 60);
  await sql`update deliveries set check_at = now() + interval '3 hours' where id = ${id}`;
  await forgetFutureTimes(sql);
  expect(await sql`select check_at <= now() as due from deliveries where id = ${id}`).toEqual([
    { due: true },
  ]);
});

test('a queued retry and an overdue attempt wait as long after a step as before it', async () => {
  const [queued, overdue] = [await fireDelivery(sql, owner), await fireDelivery(sql, owner)];
  for (const id of [queued, overdue]) await makeAttempt(sql, id, 1);
  await sql`
    update deliveries set class = ${CLASS.retry}, dispatched_at = null, due_at = now() + interval '40 s', next_attempt_at = now() + interval '40 s',
      last_attempt_at = now() + interval '140 s' where id = ${queued}`;
  await sql`
    update deliveries set dispatched_at = now(), window_started_at = now() - interval '3 hours', last_attempt_at = now() - interval '3 hours',
      next_attempt_at = now() - interval '2 hours 10 s' where id = ${overdue}`;
  const seconds = async (id: string) => {
    const [row] = await sql<{ due: number; next: number; last: number }[]>`
      select round(extract(epoch from due_at - now()))::int as due, round(extract(epoch from next_attempt_at - now()))::int as next,
        round(extract(epoch from last_attempt_at - now()))::int as last from deliveries where id = ${id}`;
    return row;
  };
  // It was attempted ten seconds before a step back of 150 s, and planned 40 s after the step.
  await sql`update deliveries set due_at = now() + interval '190 s', next_attempt_at = now() + interval '190 s' where id = ${queued}`;
  await recordClockStep(sql, { at: new Date(Date.now() + 10_000_000), ms: -150_000, differenceMs: -150_000 });
  expect(await seconds(queued)).toEqual({ due: 40, next: 40, last: -10 });
  await recordClockStep(sql, {
    at: new Date(Date.now() + 20_000_000),
    ms: 7_200_000,
    differenceMs: 7_050_000,
  });
  expect((await seconds(overdue))?.next).toBe(-10);
});

/** A watch of a clock that the test sets. */
function watched(intervalMs = 5) {
  const steps: ClockStep[] = [];
  const clock = { setMs: 0, looks: 0, differenceMs: 0 };
  const watch = watchDatabaseClock({
    sql,
    log: pino({ level: 'silent' }),
    onStep: (step) => steps.push(step),
    onRead(ms) {
      clock.differenceMs = ms;
    },
    intervalMs,
    async read() {
      clock.looks += 1;
      return new Date(Date.now() + clock.setMs);
    },
  });
  return { watch, steps, clock };
}

test('steps back and ahead are noticed and recorded, and a step back is repaired', async () => {
  const id = await fireDelivery(sql, owner);
  const { watch, steps, clock } = watched();
  await until('some looks', async () => clock.looks > 3);
  expect(steps).toEqual([]);
  await sql`update deliveries set due_at = now() + interval '1 hour' where id = ${id}`;
  clock.setMs = -3_600_000;
  await until('the step back', async () => steps.length === 1);
  expect(Math.round(clock.differenceMs / 60_000)).toBe(-60);
  await until('the repair', async () => {
    const [row] = await sql<
      { due: boolean }[]
    >`select due_at <= now() as due from deliveries where id = ${id}`;
    return row?.due;
  });
  clock.setMs = 0;
  await until('the step ahead', async () => steps.length === 2);
  await watch.stop();
  const hours = steps.map(({ ms }) => Math.round(ms / 3_600_000));
  expect(hours).toEqual([-1, 1]);
  expect(await lastClockStep(sql)).toEqual(steps[1]);
});

test('closing a window reads the clock first: an unnoticed step ahead does not end it', async () => {
  const id = await fireDelivery(sql, owner);
  await makeAttempt(sql, id, 1, { nextAttemptAt: new Date() });
  const { watch, steps, clock } = watched(3_600_000);
  await until('the first look', async () => clock.looks === 1);
  const policy = { ...defaultRetryPolicy, windowMs: 7_200_000 };
  const read = createDeliverySteps({
    sql,
    log: pino({ level: 'silent' }),
    watch: unwatched,
    lookAtClock: watch.look,
  }).readDelivery;
  const isOver = async () => {
    const found = await read({ deliveryId: id, policy });
    return found.open && found.windowEndsAt !== null && found.readAt >= found.windowEndsAt;
  };
  expect(await isOver()).toBe(false);
  expect(clock.looks).toBe(1);
  // As if the clock had been an hour and a half behind until now.
  await sql`update deliveries set window_started_at = window_started_at - interval '3 hours' where id = ${id}`;
  clock.setMs = 5_400_000;
  expect(await isOver()).toBe(false);
  expect(steps).toHaveLength(1);
  await sql`update deliveries set window_started_at = window_started_at - interval '3 hours' where id = ${id}`;
  expect(await isOver()).toBe(true);
  expect(clock.looks).toBe(3);
  await watch.stop();
});

test('a step that cannot be recorded at once is reported once, and recorded with its own time', async () => {
  const id = await fireDelivery(sql, owner);
  await makeAttempt(sql, id, 1);
  await sql`update deliveries set window_started_at = now() - interval '3 hours' where id = ${id}`;
  await sql`
    create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`;
  await sql`create trigger refuse before insert or update on settings for each row execute function refuse()`;
  const { watch, steps, clock } = watched();
  await until('a look', async () => clock.looks > 1);
  clock.setMs = 7_200_000;
  await until('the step', async () => steps.length > 0);
  const seen = clock.looks;
  await until('further looks', async () => clock.looks > seen + 3);
  await sql`drop trigger refuse on settings`;
  const [step] = steps;
  await until('the note', async () => (await lastClockStep(sql))?.at.getTime() === step?.at.getTime());
  await watch.stop();
  expect(steps).toHaveLength(1);
  const [row] = await sql<{ hours: number }[]>`
    select round(extract(epoch from now() - window_started_at) / 3600)::int as hours from deliveries where id = ${id}`;
  expect(row?.hours).toBe(1);
});

test('a late response of the database is not taken for a clock step', async () => {
  const steps: ClockStep[] = [];
  let [looks, elapsedMs] = [0, 0];
  const watch = watchDatabaseClock({
    sql,
    log: pino({ level: 'silent' }),
    onStep: (step) => steps.push(step),
    intervalMs: 5,
    uptimeMs: () => elapsedMs,
    async read() {
      looks += 1;
      const at = new Date(elapsedMs);
      if (looks === 3) elapsedMs += 15_000;
      return at;
    },
  });
  await until('some looks', async () => looks > 6);
  await watch.stop();
  expect(steps).toEqual([]);
});
