/** A lookup by id reads one partition, and is not planned again for it. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sql } from '../../../src/db/connection/pool.ts';
import { listAllDeliveries } from '../../../src/db/deliveries/all-deliveries.ts';
import { beginAttempts, loadForAttempt } from '../../../src/db/deliveries/attempts.ts';
import {
  closeOpen,
  deferAttempt,
  exhaustRetries,
  startWindow,
} from '../../../src/db/deliveries/deliveries.ts';
import { findDelivery } from '../../../src/db/deliveries/delivery-log.ts';
import { readActionTargets } from '../../../src/db/deliveries/operator-actions.ts';
import { type QueuePlan, recordAttempts } from '../../../src/db/deliveries/results.ts';
import {
  deferClaimed,
  giveBack,
  markDispatched,
  renewClaims,
  requeue,
} from '../../../src/db/outbox/release.ts';
import { findClosed, findDispatched } from '../../../src/db/reconciliation.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import { weekName, weekOf } from '../../../src/domain/weeks.ts';
import { makeAhead } from '../../../src/retention/retain.ts';
import { accepted, attemptRecord, owned } from '../../support/database/deliveries.ts';
import { insertShop, insertWebhook } from '../../support/database/events.ts';
import { planAsThroughPooler } from '../../support/database/plans.ts';
import { firstWeek, insertDelivery, weeksAfter } from '../../support/database/weeks.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const CLAIM = '01900000-0000-7000-8000-000000000000';

/** The partition in the middle, and a delivery in it with its event. */
let week: string;
let id: string;
const database = await databaseOfFile();
const { sql } = database;
const { eshopId, webhookId } = await insertShop(sql);
const monday = await firstWeek(sql);
await makeAhead(sql, { now: monday });
for (const weeks of [0, 1, 2, 3]) {
  const at = new Date(weeksAfter(monday, weeks).getTime() + 1);
  const made = await insertDelivery(sql, { eshopId, webhookId, at, state: 'retrying' });
  if (weeks === 2) [id, week] = [made.id, weekName(weekOf(at))];
}
await sql`update deliveries set claim_id = ${CLAIM}`;

class Undone extends Error {}

async function undone(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
}

/** How many times this transaction has read each partition. */
async function scans(tx: Sql): Promise<Map<string, number>> {
  const rows = await tx<{ name: string; scans: number }[]>`
    select relname as name, (seq_scan + idx_scan)::int as scans from pg_stat_xact_user_tables
    where relname ~ '^(events|deliveries|attempts)_'`;
  return new Map(rows.map((row) => [row.name, row.scans]));
}

/** The weeks, from their names, of the partitions that a lookup reads; it is rolled back. */
async function weeksRead(
  lookUp: (tx: Sql) => Promise<unknown>,
  { throughPooler }: { readonly throughPooler: boolean },
): Promise<string[]> {
  const weeks = new Set<string>();
  await undone(
    sql.begin(async (tx) => {
      if (throughPooler) await planAsThroughPooler(tx);
      // Planning reads the indexes too: it happens in this run.
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

const result = (plan: QueuePlan | null) => attemptRecord(id, { ...accepted, webhookId, plan });
const claimed = () => ({ id, claimId: CLAIM });

const lookUps: Readonly<Record<string, (tx: Sql) => Promise<unknown>>> = {
  loadForAttempt: (tx) => loadForAttempt(tx, id),
  beginAttempts: (tx) => beginAttempts(tx, [{ deliveryId: id, number: 2, generation: 1, ...owned }]),
  recordAttempts: (tx) => recordAttempts(tx, [result(null)]),
  'recordAttempts with a plan': (tx) =>
    recordAttempts(tx, [result({ claimId: CLAIM, workflow: 'unstarted', firstWaitMs: 1_000 })]),
  requeue: (tx) => requeue(tx, [{ ...claimed(), needsWorkflow: false }]),
  deferClaimed: (tx) => deferClaimed(tx, [claimed()]),
  markDispatched: (tx) => markDispatched(tx, [id]),
  renewClaims: (tx) => renewClaims(tx, [claimed()]),
  giveBack: (tx) => giveBack(tx, [claimed()]),
  'giveBack of one whose workflow was not started': (tx) => giveBack(tx, [claimed()], 1_000),
  findDispatched: (tx) => findDispatched(tx, [id]),
  findClosed: (tx) => findClosed(tx, [id]),
  exhaustRetries: (tx) => exhaustRetries(tx, id, 1),
  deferAttempt: (tx) => deferAttempt(tx, { id, attemptsMade: 1, generation: 1 }, { ms: 1_000, lostMs: 0 }),
  startWindow: (tx) => startWindow(tx, id),
  closeOpen: (tx) => closeOpen(tx, id, 'expired', {}),
  findDelivery: (tx) => findDelivery(tx, eshopId, id),
  readActionTargets: (tx) => readActionTargets(tx, [id], defaultRetryPolicy),
};

// First, before its connection has other plans.
test('a statement is planned once per connection, not again for each partition', async () => {
  const connection = await sql.reserve();
  try {
    for (let n = 0; n < 12; n += 1) await loadForAttempt(connection, id);
    const [plans] = await connection`
      select sum(generic_plans)::int as generic_plans, sum(custom_plans)::int as custom_plans from pg_prepared_statements
      where statement like '%e.snapshot%' and statement not like '%pg_prepared_statements%'`;
    expect(plans).toMatchObject({ customPlans: 0 });
    expect(plans?.genericPlans).toBeGreaterThanOrEqual(12);
  } finally {
    connection.release();
  }
});

describe.each([false, true])('through a pooler: %s', (throughPooler) => {
  test.each(Object.keys(lookUps))('reads a single partition: %s', async (name) => {
    expect(await weeksRead(async (tx) => lookUps[name]?.(tx), { throughPooler })).toEqual([week]);
  });
});

describe('a page of the delivery log reads no rows of other webhooks, in any week', () => {
  const rowsRead = async (tx: Sql) => {
    const [counted] = await tx<{ rows: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname ~ '^deliveries_'`;
    return counted?.rows ?? 0;
  };

  beforeAll(async () => {
    const other = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
    await sql`
      insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, state)
      select overlay(d.id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, d.event_id, d.eshop_id, ${other}, d.event_type, n::text, 'delivered'
      from deliveries d, generate_series(1, 500) n where d.webhook_id = ${webhookId}`;
  });

  // Nor do statistics mislead the planner, by which each of two webhooks has half of the rows.
  test.each(['never analyzed', 'analyzed'])('in a table that was %s', async (how) => {
    if (how === 'analyzed') await sql`analyze deliveries`;
    const read = await sql.begin(async (tx) => {
      // What the session read before this transaction may count too.
      const before = await rowsRead(tx);
      expect(await listAllDeliveries(tx, eshopId, { webhookId }, { limit: 2, offset: 0 })).toHaveLength(2);
      return (await rowsRead(tx)) - before;
    });
    expect(read).toBeGreaterThan(1);
    expect(read).toBeLessThan(200);
  });
});
