/** Many pre-orders at once (docs/interface.md, O4): their timers are set at a pace, and end one after the other. */
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { claimReleaseChanges, enqueueReleaseChange } from '../../../src/db/outbox/changes.ts';
import { readOutbox } from '../../../src/db/overview.ts';
import { isReleasePending, pendingReleases } from '../../../src/db/reconciliation.ts';
import { readReleaseTime } from '../../../src/db/records/order-release.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { insertPreOrder } from '../../support/temporal/lost-workflows.ts';

let database: TestDatabase;
let eshopId: number;
let otherId: number;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
  ({ eshopId: otherId } = await createEshop(database.sql, { name: 'Other', email: 'other@example.test' }));
});
beforeEach(() => database.sql`truncate orders, changes_to_signal cascade`);
afterAll(() => database.drop());

const noon = new Date('2026-12-24T12:00:00.000Z');
const preOrder = (owner: number, id: string, at: Date) =>
  insertPreOrder({ sql: database.sql, eshopId: owner }, id, at);
/** When the timer ends, in milliseconds after noon. */
const endOf = async (owner: number, id: string) => {
  const pending = await readReleaseTime(database.sql, owner, id);
  return (pending?.releaseAt ?? Number.NaN) - noon.getTime();
};

test('pre-orders of one second are released a tenth of a second apart, per e-shop', async () => {
  for (const id of ['a', 'b', 'c']) await preOrder(eshopId, id, noon);
  await preOrder(eshopId, 'a little later', new Date(noon.getTime() + 40));
  await preOrder(eshopId, 'the next second', new Date(noon.getTime() + 1_000));
  await preOrder(otherId, 'z', noon);
  expect(await Promise.all(['a', 'b', 'c'].map((id) => endOf(eshopId, id)))).toEqual([0, 100, 200]);
  expect(await endOf(eshopId, 'a little later')).toBe(40 + 300);
  expect(await endOf(eshopId, 'the next second')).toBe(1_000);
  expect(await endOf(otherId, 'z')).toBe(0);
});

test('a pre-order without a time has none, and another order gives null', async () => {
  await preOrder(eshopId, 'by hand', noon);
  await database.sql`update orders set release_at = null where eshop_order_id = 'by hand'`;
  expect(await readReleaseTime(database.sql, eshopId, 'by hand')).toMatchObject({ releaseAt: null });
  await database.sql`update orders set status = 'canceled'`;
  expect(await readReleaseTime(database.sql, eshopId, 'by hand')).toBeNull();
});

test('the earlier of the two clocks counts, since a release cannot be undone', async () => {
  await preOrder(eshopId, 'a', noon);
  const present = async () => (await readReleaseTime(database.sql, eshopId, 'a'))?.readAt ?? Number.NaN;
  const [hour, now] = [3_600_000, Date.now()];
  vi.useFakeTimers({ toFake: ['Date'], now: now - hour });
  onTestFinished(() => void vi.useRealTimers());
  expect(await present()).toBeLessThan(now - hour / 2);
  vi.setSystemTime(now + hour);
  expect(await present()).toBeLessThan(now + hour / 2);
});

test('a pre-order is late once both clocks say so', async () => {
  const hour = 3_600_000;
  await preOrder(eshopId, 'a', new Date(Date.now() - hour));
  const late = () =>
    pendingReleases(database.sql, { graceMs: 1_000, lateOnly: true, after: null, limit: 10 });
  expect(await late()).toMatchObject([{ late: true }]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * hour });
  onTestFinished(() => void vi.useRealTimers());
  expect(await late()).toEqual([]);
});

test('a later pre-order takes nobody’s place', async () => {
  const ends: number[] = [];
  for (const id of ['c', 'b', 'a']) {
    await preOrder(eshopId, id, noon);
    ends.push(await endOf(eshopId, id));
  }
  expect(ends).toEqual([0, 100, 200]);
});

test('timers due first are set first, across all e-shops', async () => {
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  for (const [owner, id, due] of [
    [eshopId, 'in an hour', inMinutes(60)],
    [eshopId, 'in two hours', inMinutes(120)],
    [otherId, 'in two minutes', inMinutes(2)],
    [eshopId, 'canceled', null],
  ] as const)
    await transaction(database.sql, (tx) => enqueueReleaseChange(tx, owner, id, due));
  const claimed: string[] = [];
  for (;;) {
    const [next] = await claimReleaseChanges(database.sql, 1);
    if (next === undefined) break;
    claimed.push(next.eshopOrderId);
  }
  expect(claimed).toEqual(['canceled', 'in two minutes', 'in an hour', 'in two hours']);
  // The age of the oldest change counts only late ones.
  expect((await readOutbox(database.sql)).oldestChangeSeconds).toBeLessThan(30);
});

test('an e-shop with very many changes does not delay others', async () => {
  await database.sql`
    insert into changes_to_signal (kind, eshop_id, eshop_order_id, due_at)
    select 'orderReleaseChanged', ${eshopId}, 'many ' || n, now() - interval '1 hour' from generate_series(1, 1000) n`;
  for (const id of ['first', 'second'])
    await transaction(database.sql, (tx) => enqueueReleaseChange(tx, otherId, id));
  const claimed = await claimReleaseChanges(database.sql, 4);
  expect(claimed).toHaveLength(4);
  expect(
    claimed
      .filter((change) => change.eshopId === otherId)
      .map(({ eshopOrderId }) => eshopOrderId)
      .sort(),
  ).toEqual(['first', 'second']);
  // The claimed ones are left alone; the rest can be claimed.
  expect(await claimReleaseChanges(database.sql, 1_000)).toHaveLength(998);
  expect(await claimReleaseChanges(database.sql, 1)).toEqual([]);
});

test('beyond six thousand per second places are random, and none is more than ten minutes late', async () => {
  await preOrder(eshopId, 'one', noon);
  await database.sql`
    insert into orders
    select copy.* from orders o, generate_series(1, 6000) n,
      jsonb_populate_record(o, jsonb_build_object('eshop_order_id', 'copy ' || n)) copy`;
  const ends = await Promise.all(Array.from({ length: 20 }, () => endOf(eshopId, 'one')));
  expect(new Set(ends).size).toBeGreaterThan(10);
  for (const end of ends) expect(end).toBeLessThan(600_000);
});

test('a pre-order delayed by others of its second is late only once all could have been released', async () => {
  const late = async () => {
    const options = { graceMs: 10_000, lateOnly: true, after: null, limit: 10 };
    const pending = await pendingReleases(database.sql, options);
    return pending.filter((one) => one.late).map(({ eshopOrderId }) => eshopOrderId);
  };
  const ago = (ms: number) => new Date(Math.floor((Date.now() - ms) / 1_000) * 1_000);
  // Those meant for one second share it, whenever the clock's next second begins.
  const [twenty, minutes] = [ago(20_000), ago(615_000)];
  await preOrder(eshopId, 'alone', ago(15_000));
  for (const id of ['a', 'b']) await preOrder(eshopId, id, twenty);
  expect(await late()).toEqual(['alone']);
  for (const id of ['c', 'd']) await preOrder(eshopId, id, minutes);
  expect(await late()).toEqual(['c', 'd', 'alone']);
});

test('a search for forgotten pre-orders reads one change of each, not all waiting ones', async () => {
  const many = 3_000;
  const { sql } = database;
  // Without statistics, and with enough rows to matter: of a thousand the planner may read all.
  for (const table of ['orders', 'changes_to_signal'])
    await sql`alter table ${sql(table)} set (autovacuum_enabled = false)`;
  await preOrder(eshopId, '0', noon);
  await sql`
    insert into orders
    select copy.* from orders o, generate_series(1, ${many - 1}::int) n,
      jsonb_populate_record(o, jsonb_build_object('eshop_order_id', n::text)) copy`;
  await sql`
    insert into changes_to_signal (kind, eshop_id, eshop_order_id, due_at)
    select 'orderReleaseChanged', eshop_id, eshop_order_id, release_at from orders`;
  await preOrder(eshopId, 'forgotten', noon);
  await transaction(sql, async (tx) => {
    // Not yet reported by this connection: earlier transactions may be included.
    const count = async () => {
      const [counted] = await tx<{ entries: number }[]>`
        select sum(pg_stat_get_xact_tuples_returned(oid))::int as entries from pg_class
        where oid = 'changes_to_signal'::regclass or oid in (select indexrelid from pg_index where indrelid = 'changes_to_signal'::regclass)`;
      return counted?.entries ?? Number.NaN;
    };
    const before = await count();
    const found = await pendingReleases(tx, { graceMs: 1_000, lateOnly: false, after: null, limit: 100 });
    expect(found.map(({ eshopOrderId }) => eshopOrderId)).toEqual(['forgotten']);
    const between = await count();
    expect(between - before).toBeGreaterThanOrEqual(many);
    expect(between - before).toBeLessThan(5 * many);
    expect(await isReleasePending(tx, eshopId, 'forgotten')).toBe(true);
    expect((await count()) - between).toBeLessThan(10);
  });
});
