/** The rows that statements of many attempts read, even right after a first import, without any statistics. */
import { v7 as uuidv7 } from 'uuid';
import { expect, type TestContext, test } from 'vitest';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { createPool, type Pool } from '../../../src/db/connection/pool.ts';
import { beginAttempts, loadForAttempts } from '../../../src/db/deliveries/attempts.ts';
import { recordAttempts } from '../../../src/db/deliveries/results.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { keepOrdering, settleOrdering } from '../../../src/db/outbox/keep-ordering.ts';
import { CLASS, type QueuedDelivery } from '../../../src/db/outbox/outbox.ts';
import {
  deferClaimed,
  giveBack,
  postponeRejected,
  renewClaims,
  requeue,
} from '../../../src/db/outbox/release.ts';
import { retryFromQueue } from '../../../src/db/outbox/unstarted-workflows.ts';
import {
  bringForward,
  cancelWithoutWorkflow,
  hasDeliveriesWithoutWorkflow,
  requeueHeld,
} from '../../../src/db/outbox/without-workflow.ts';
import { listPartitions } from '../../../src/db/retention/partitions.ts';
import { type Transaction, transaction } from '../../../src/db/transaction.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { accepted, attemptRecord, neverAttempted, owned } from '../../support/database/deliveries.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { planAsThroughPooler } from '../../support/database/plans.ts';

const WEBHOOKS = 50;
const OF_EACH = 100;
/** More attempts than begin at once. */
const PAGE = 64;

test.for([false, true])(
  'claims and attempts without statistics read a few rows per delivery; through a pooler: %s',
  async (throughPooler, { onTestFinished }) => {
    const { sql, eshopId } = await withoutStatistics(onTestFinished);
    const counting = <T>(pool: Pool, step: (tx: Transaction) => Promise<T>) =>
      counted(pool, step, throughPooler);
    for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) await enqueue(sql, eshopId);
    const { result, read } = await counting(sql, (tx) =>
      claimDeliveries(tx, { class: CLASS.fresh, limit: 500 }),
    );
    expect(result.deliveries).toHaveLength(500);
    expect(read).toBeGreaterThan(500);
    expect(read).toBeLessThan(3 * WEBHOOKS * OF_EACH);

    const claimed = result.deliveries.slice(0, PAGE);
    const wanted = claimed.map(({ id }) => ({ deliveryId: id, number: 1, generation: 1, ...owned }));
    const ids = claimed.map(({ id }) => id);
    const loaded = await counting(sql, (tx) => loadForAttempts(tx, ids));
    expect(loaded.result.size).toBe(PAGE);
    expect(loaded.fetched).toBeGreaterThanOrEqual(PAGE);
    expect(loaded.fetched).toBeLessThan(5 * PAGE);
    const others = result.deliveries.slice(PAGE);
    const statements: readonly ((tx: Transaction, some: readonly QueuedDelivery[]) => Promise<void>)[] = [
      renewClaims,
      postponeRejected,
      (tx, some) => giveBack(tx, some, 1_000),
      deferClaimed,
      (tx, some) =>
        requeue(
          tx,
          some.map((each) => ({ ...each, needsWorkflow: false })),
        ),
    ];
    for (const [nth, statement] of statements.entries()) {
      const some = others.slice(nth * PAGE, (nth + 1) * PAGE);
      const { fetched } = await counting(sql, (tx) => statement(tx, some));
      expect(fetched).toBeGreaterThanOrEqual(PAGE);
      expect(fetched).toBeLessThan(5 * PAGE);
    }
    const begun = await counting(sql, (tx) => beginAttempts(tx, wanted));
    expect(begun.result.size).toBe(PAGE);
    // Once to begin it and once to start its window, not again for each of the webhooks.
    expect(begun.fetched).toBeGreaterThanOrEqual(PAGE);
    expect(begun.fetched).toBeLessThan(5 * PAGE);
    expect(begun.webhooks).toBe(PAGE);

    const results = claimed.map(({ id, claimId, webhookId }) =>
      attemptRecord(id, { ...accepted, webhookId, plan: { claimId, workflow: 'unstarted', firstWaitMs: 1 } }),
    );
    const recorded = await counting(sql, (tx) => recordAttempts(tx, results));
    expect(recorded.result.size).toBe(PAGE);
    expect(recorded.fetched).toBeGreaterThanOrEqual(PAGE);
    // Each delivery once, and not all of them for each result.
    expect(recorded.fetched).toBeLessThan(5 * PAGE);
  },
);

test('attempts find deliveries by id even if statistics were taken when none was open', async ({
  onTestFinished,
}) => {
  const { sql, eshopId } = await withoutStatistics(onTestFinished);
  for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) await enqueue(sql, eshopId);
  await sql`update deliveries set state = 'delivered', dispatched_at = now()`;
  await sql`vacuum analyze deliveries`;
  for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) await enqueue(sql, eshopId);
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: PAGE });
  const wanted = deliveries.map(({ id }) => ({ deliveryId: id, number: 1, generation: 1, ...owned }));
  const begun = await counted(sql, (tx) => beginAttempts(tx, wanted), false);
  expect(begun.result.size).toBe(PAGE);
  expect(begun.fetched).toBeLessThan(5 * PAGE);
  const results = wanted.map(({ deliveryId }) => attemptRecord(deliveryId, accepted));
  const recorded = await counted(sql, (tx) => recordAttempts(tx, results), false);
  expect(recorded.result.size).toBe(PAGE);
  expect(recorded.fetched).toBeLessThan(5 * PAGE);
});

test.for([false, true])(
  'due retries are found without reading 5,000 other deliveries; through a pooler: %s',
  async (throughPooler, { onTestFinished }) => {
    const { sql, eshopId } = await withoutStatistics(onTestFinished);
    for (let webhook = 0; webhook < WEBHOOKS; webhook += 1) await enqueue(sql, eshopId);
    await sql`update deliveries set class = ${CLASS.undelivered}, state = 'retrying', attempts_made = 3, window_started_at = now(), next_attempt_at = now() + interval '1 h'`;
    await sql`update deliveries set next_attempt_at = now() where entity_id = '1'`;
    const { read } = await counted(sql, (tx) => retryFromQueue(tx, 3_600_000), throughPooler);
    expect(await sql`select from deliveries where class = ${CLASS.retry}`).toHaveLength(WEBHOOKS);
    expect(read).toBeGreaterThanOrEqual(WEBHOOKS);
    expect(read).toBeLessThan(5 * WEBHOOKS);
  },
);

test.for([false, true])(
  'a change to a webhook does not read its 5,000 deliveries in Temporal; through a pooler: %s',
  async (throughPooler, { onTestFinished }) => {
    const { sql, eshopId } = await withoutStatistics(onTestFinished);
    const webhookId = await enqueue(sql, eshopId, WEBHOOKS * OF_EACH);
    await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 1, window_started_at = now()`;
    const webhook = { eshopId, webhookId };
    const steps: readonly ((tx: Transaction) => Promise<unknown>)[] = [
      (tx) => requeueHeld(tx, webhook),
      (tx) => bringForward(tx, webhook, 20_000),
      (tx) => cancelWithoutWorkflow(tx, webhook),
      (tx) => hasDeliveriesWithoutWorkflow(tx, webhook),
    ];
    for (const step of steps) expect((await counted(sql, step, throughPooler)).read).toBeLessThan(OF_EACH);
  },
);

const RECORDS = 1_000;
/** For each record, behind one that is being retried. */
const BEHIND = 5;

test('the next delivery of a record is found without reading 5,000 blocked ones of others', async ({
  onTestFinished,
}) => {
  const { sql, url, eshopId } = await withoutStatistics(onTestFinished);
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await sql`update webhooks set ordering = 'record' where id = ${webhookId}`;
  const ids = Array.from({ length: RECORDS * (BEHIND + 1) }, () => uuidv7());
  await sql`
    insert into deliveries
      (id, event_id, eshop_id, webhook_id, event_type, entity_id, ordering_key, sequence, state, class, dispatched_at, next_attempt_at)
    select id, gen_random_uuid(), ${eshopId}, ${webhookId}, 'CREATE_ORDER', (n % ${RECORDS})::text, 'record ' || n % ${RECORDS},
      1 + n / ${RECORDS},
      case when n < ${RECORDS} then 'retrying' else 'pending' end,
      case when n < ${RECORDS} then ${CLASS.fresh}::int else ${CLASS.blocked}::int end,
      case when n < ${RECORDS} then now() end, case when n < ${RECORDS} then now() end
    from (select id, (nth - 1)::int as n from unnest(${ids}::uuid[]) with ordinality as new (id, nth)) new`;
  const [head = '', , , ...others] = ids;
  const newest = others.at(-1) ?? '';
  await sql`update deliveries set class = ${CLASS.fresh} where id = ${newest}`;
  const one = createPool(url, 1);
  onTestFinished(() => one.end());
  const read = async () => {
    await one`select pg_stat_force_next_flush()`;
    const [row] = await one<{ read: number }[]>`
      select sum(seq_tup_read + idx_tup_fetch)::int as read from pg_stat_user_tables where relname like 'deliveries%'`;
    return row?.read ?? Number.NaN;
  };

  await one`update deliveries set state = 'delivered' where id = ${head}`;
  const before = await read();
  await settleOrdering(one, { records: [head] });
  const settled = await read();
  expect(await one`select from deliveries where class = ${CLASS.fresh} and entity_id = '0'`).toHaveLength(2);
  expect(settled - before).toBeGreaterThan(0);
  expect(settled - before).toBeLessThan(20 * (BEHIND + 1));

  const from = await read();
  const claimed = {
    ...neverAttempted,
    eshopId,
    webhookId,
    eventType: 'CREATE_ORDER',
    isBlocked: true,
  } as const;
  const ready = await keepOrdering(one, [
    { ...claimed, id: newest, entityId: String(RECORDS - 1), receiverHost: null },
  ]);
  expect(ready).toEqual([]);
  expect((await read()) - from).toBeLessThan(40 * (BEHIND + 1));
});

/** A database with an e-shop, whose partitions are never analyzed. */
async function withoutStatistics(onTestFinished: TestContext['onTestFinished']) {
  const { sql, url, drop } = await createTestDatabase();
  onTestFinished(drop);
  for (const { table, week } of await listPartitions(sql)) {
    await sql.unsafe(`alter table ${table}_${week} set (autovacuum_enabled = false)`);
  }
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'shop@example.test' });
  return { sql, url, eshopId };
}

/** Creates a webhook with waiting deliveries; answers its id. */
async function enqueue(sql: Pool, eshopId: number, count = OF_EACH): Promise<number> {
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const ids = Array.from({ length: count }, () => uuidv7());
  await sql`
    insert into events (id, eshop_id, type, entity_id, snapshot)
    select id, ${eshopId}, 'CREATE_ORDER', n::text, '{}' from unnest(${ids}::uuid[]) with ordinality as new (id, n)`;
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id)
    select id, id, ${eshopId}, ${webhookId}, 'CREATE_ORDER', n::text from unnest(${ids}::uuid[]) with ordinality as new (id, n)`;
  return webhookId;
}

/** The rows that a step reads: of `deliveries`, all and those by an index; and of `webhooks`. */
async function counted<T>(sql: Pool, step: (tx: Transaction) => Promise<T>, throughPooler: boolean) {
  return await transaction(sql, async (tx) => {
    // Not yet reported by this connection: earlier transactions may be included.
    const count = async () => {
      const [counted] = await tx<{ read: number; fetched: number; webhooks: number }[]>`
        select sum(seq_tup_read + idx_tup_fetch)::int as read, sum(idx_tup_fetch)::int as fetched,
          (select idx_tup_fetch from pg_stat_xact_user_tables where relname = 'webhooks')::int as webhooks
        from pg_stat_xact_user_tables where relname like 'deliveries%'`;
      return counted ?? { read: Number.NaN, fetched: Number.NaN, webhooks: Number.NaN };
    };
    if (throughPooler) await planAsThroughPooler(tx);
    const before = await count();
    const result = await step(tx);
    const after = await count();
    return {
      result,
      read: after.read - before.read,
      fetched: after.fetched - before.fetched,
      webhooks: after.webhooks - before.webhooks,
    };
  });
}
