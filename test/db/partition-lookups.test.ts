/** Whoever knows an id reads one partition, and plans nothing for it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { markDispatched, releaseDeliveries, renewDeliveries } from '../../src/db/outbox/outbox.ts';
import type { Sql } from '../../src/db/pool.ts';
import { closedAmong, dispatchedAmong } from '../../src/db/reconciliation.ts';
import { listAllDeliveries } from '../../src/db/webhooks/all-deliveries.ts';
import {
  type AttemptRecord,
  beginAttempts,
  loadForAttempt,
  loadOfBatch,
  recordAttempts,
} from '../../src/db/webhooks/attempts.ts';
import { defer, requeue } from '../../src/db/webhooks/batch-returns.ts';
import { closeDelivery, deferAttempt, spendRetries, startWindow } from '../../src/db/webhooks/deliveries.ts';
import { findDelivery } from '../../src/db/webhooks/delivery-log.ts';
import { weekName, weekOf } from '../../src/domain/weeks.ts';
import { makeAhead } from '../../src/retention/retain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';
import { exaggerate, planAsThroughPooler } from '../support/plans.ts';
import { firstWeek, insertDelivery, weeksAfter } from '../support/weeks.ts';

const BATCH = '01900000-0000-7000-8000-000000000000';

let database: TestDatabase;
let eshopId: number;
let webhookId: number;
/** The partition in the middle, and a delivery that lies there with its event. */
let week: string;
let id: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  ({ eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' }));
  webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await sql`insert into batches (id, run) values (${BATCH}, ${BATCH})`;
  const monday = await firstWeek(sql);
  await makeAhead(sql, { now: monday });
  for (const weeks of [0, 1, 2, 3]) {
    const at = new Date(weeksAfter(monday, weeks).getTime() + 1);
    const made = await insertDelivery(sql, { eshopId, webhookId, at, state: 'retrying' });
    if (weeks === 2) [id, week] = [made.id, weekName(weekOf(at))];
  }
});
afterAll(() => database.drop());

class Undone extends Error {}

async function undone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
}

/** How often this transaction has read each partition. */
async function scans(tx: Sql): Promise<Map<string, number>> {
  const rows = await tx<{ name: string; scans: number }[]>`
    select relname as name, (seq_scan + idx_scan)::int as scans from pg_stat_xact_user_tables
    where relname ~ '^(events|deliveries|attempts)_'`;
  return new Map(rows.map((row) => [row.name, row.scans]));
}

/** What the names of the partitions that are read end with; everything is undone. */
async function weeksRead(lookUp: (tx: Sql) => Promise<unknown>): Promise<string[]> {
  const weeks = new Set<string>();
  await undone(
    database.sql.begin(async (tx) => {
      // Whoever plans a statement looks into the indexes as well: that is done here.
      await undone(
        tx.savepoint(async (first) => {
          await lookUp(first);
          throw new Undone();
        }),
      );
      const before = await scans(tx);
      await lookUp(tx);
      for (const [name, count] of await scans(tx)) {
        if (count > (before.get(name) ?? 0)) weeks.add(name.slice(name.indexOf('_') + 1));
      }
      throw new Undone();
    }),
  );
  return [...weeks];
}

const result = (): AttemptRecord => ({
  deliveryId: id,
  number: 1,
  generation: 1,
  outcome: 'success',
  finishedAt: new Date(),
  durationMs: 1,
  status: 200,
  error: null,
  responseExcerpt: null,
  nextAttemptAt: null,
  lateMs: 0,
  windowLost: false,
  lastCall: false,
});

const lookUps: Readonly<Record<string, (tx: Sql) => Promise<unknown>>> = {
  loadForAttempt: (tx) => loadForAttempt(tx, id),
  loadOfBatch: (tx) => loadOfBatch(tx, BATCH, [id]),
  beginAttempts: (tx) => beginAttempts(tx, [{ deliveryId: id, number: 2, generation: 1 }], null),
  recordAttempts: (tx) => recordAttempts(tx, [result()], null),
  'requeue of some': (tx) => requeue(tx, { id: BATCH, run: BATCH }, [id]),
  defer: (tx) => defer(tx, { id: BATCH, run: BATCH }, [id]),
  markDispatched: (tx) => markDispatched(tx, [id]),
  renewDeliveries: (tx) => renewDeliveries(tx, [id]),
  releaseDeliveries: (tx) => releaseDeliveries(tx, [id]),
  dispatchedAmong: (tx) => dispatchedAmong(tx, [id]),
  closedAmong: (tx) => closedAmong(tx, [id]),
  spendRetries: (tx) => spendRetries(tx, id, 1),
  deferAttempt: (tx) => deferAttempt(tx, id, 1, 1_000),
  startWindow: (tx) => startWindow(tx, id),
  closeDelivery: (tx) => closeDelivery(tx, id, 'expired'),
  findDelivery: (tx) => findDelivery(tx, eshopId, id),
};

describe('one partition is read by', () => {
  test.each(Object.keys(lookUps))('%s', async (name) => {
    expect(await weeksRead(async (tx) => lookUps[name]?.(tx))).toEqual([week]);
  });
});

test('a page of the delivery log reads no rows of other webhooks, whatever their weeks', async () => {
  const { sql } = database;
  const other = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state)
    select overlay(d.id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, d.event_id, d.eshop_id, ${other} + n % 30, d.event_type, n::text, 'delivered'
    from deliveries d, generate_series(1, 500) n where d.webhook_id = ${webhookId}`;
  await sql`analyze deliveries`;
  await exaggerate(sql);
  let read = 0;
  await sql.begin(async (tx) => {
    const rows = await listAllDeliveries(tx, eshopId, { webhookId }, { limit: 2, offset: 0 });
    expect(rows).toHaveLength(2);
    const [counted] = await tx<{ rows: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname ~ '^deliveries_'`;
    read = counted?.rows ?? 0;
  });
  expect(read).toBeGreaterThan(1);
  expect(read).toBeLessThan(200);
});

/** How often a statement is planned for its values alone, before Postgres compares that with a plan for any. */
const PLANNED_FOR_VALUES = 5;

test('what is asked by id is planned once per connection, and not again for the partition of each id', async () => {
  const connection = await database.sql.reserve();
  try {
    await planAsThroughPooler(connection);
    const times = 3 * PLANNED_FOR_VALUES;
    // Once in the life of few deliveries, and dearer for any value than for its own.
    const { closeDelivery: _, ...often } = lookUps;
    for (const lookUp of Object.values(often)) {
      await connection`begin`;
      for (let n = 0; n < times; n += 1) await lookUp(connection);
      await connection`rollback`;
    }
    const planned = await connection<{ statement: string; plans: number }[]>`
      select statement, custom_plans::int as plans from pg_prepared_statements
      where generic_plans + custom_plans >= ${times} and statement ~ '(events|deliveries|attempts)'`;
    expect(planned.length).toBeGreaterThanOrEqual(Object.keys(often).length);
    expect(planned.filter(({ plans }) => plans > PLANNED_FOR_VALUES)).toEqual([]);
  } finally {
    await connection`reset all`;
    connection.release();
  }
});
