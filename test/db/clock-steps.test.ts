/** The database's clock is set: what waits would wait for as long, and people are told. */
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { type ClockStep, forgetFutureTimes, lastClockStep } from '../../src/db/future-times.ts';
import { claimReleaseChanges, enqueueReleaseChange } from '../../src/db/outbox/changes.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { QUEUE } from '../../src/db/outbox/outbox.ts';
import { transaction } from '../../src/db/transaction.ts';
import { watchDatabaseClock } from '../../src/reconciler/watch-clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fireDelivery } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let owner: { eshopId: number; webhookId: number };
beforeAll(async () => {
  database = await createTestDatabase();
  const { eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' });
  owner = { eshopId, webhookId: await insertWebhook(database.sql, eshopId, 'CREATE_ORDER') };
});
afterAll(() => database.drop());

test('leases and due times an hour ahead are past; what people gave, and what can be, stays', async () => {
  const { sql } = database;
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
  await sql`update outbox set claimed_until = now() + interval '1 hour'`;
  const [before] = await sql<{ dueAt: Date }[]>`select due_at from outbox`;

  const claimed = async () => {
    const { deliveries } = await claimDeliveries(sql, { queue: QUEUE.fresh, limit: 10 });
    return deliveries.map(({ id }) => id).sort();
  };
  expect(await claimed()).toEqual([]);
  expect(await forgetFutureTimes(sql)).toBe(3);
  expect(await claimed()).toEqual([due, leased].sort());
  expect(await claimReleaseChanges(sql, 10)).toMatchObject([{ eshopOrderId: '10001' }]);
  expect(await sql`select due_at from outbox`).toMatchObject([{ dueAt: before?.dueAt }]);
});

test('a step back and one ahead are noticed and noted, and the former is made good', async () => {
  const { sql } = database;
  const id = await fireDelivery(sql, owner);
  const steps: ClockStep[] = [];
  let setMs = 0;
  let looks = 0;
  const watch = watchDatabaseClock({
    sql,
    log: pino({ level: 'silent' }),
    onStep: (step) => steps.push(step),
    intervalMs: 5,
    async read() {
      looks += 1;
      return new Date(Date.now() + setMs);
    },
  });
  await until('some looks', async () => looks > 3);
  expect(steps).toEqual([]);
  await sql`update deliveries set due_at = now() + interval '1 hour' where id = ${id}`;
  setMs = -3_600_000;
  await until('the step back', async () => steps.length === 1);
  await until('the repair', async () => {
    const [row] = await sql<
      { due: boolean }[]
    >`select due_at <= now() as due from deliveries where id = ${id}`;
    return row?.due;
  });
  setMs = 0;
  await until('the step ahead', async () => steps.length === 2);
  await watch.stop();
  const hours = steps.map(({ ms }) => Math.round(ms / 3_600_000));
  expect(hours).toEqual([-1, 1]);
  expect(await lastClockStep(sql)).toEqual(steps[1]);
});
