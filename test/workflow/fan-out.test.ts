/** A webhook's change goes to its open deliveries: page by page, resumed where it stopped, each delivery called. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { claimWebhookChanges, nextToSignal, saveProgress } from '../../src/db/outbox/changes.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { giveBack } from '../../src/db/outbox/release.ts';
import { readOutbox } from '../../src/db/overview.ts';
import { deleteWebhook, setActive } from '../../src/db/webhooks/change.ts';
import type { TestDatabase } from '../support/database/database.ts';
import { insertWebhook } from '../support/database/events.ts';
import { later } from '../support/later.ts';
import { databaseOfTest } from '../support/lifetimes.ts';
import { fireMany, relayTo } from '../support/temporal/relay.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let eshopId: number;
beforeEach(async () => {
  database = await databaseOfTest();
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
});

/** A webhook with dispatched deliveries that wait for their next attempt; answers their ids, oldest first. */
async function openDeliveries(count: number): Promise<{ webhookId: number; ids: string[] }> {
  const { sql } = database;
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await fireMany({ sql, eshopId }, count);
  const rows = await sql<{ id: string }[]>`
    update deliveries set dispatched_at = now(), window_started_at = now(), state = 'retrying', attempts_made = 1,
      last_attempt_at = now() - interval '1 hour'
    where webhook_id = ${webhookId} returning id`;
  await sql`update webhooks set webhook_type = 'UPDATE_ORDER' where id = ${webhookId}`;
  return { webhookId, ids: rows.map(({ id }) => id).sort() };
}
const change = (webhookId: number, active: boolean) => setActive(database.sql, eshopId, webhookId, active);
const changes = async () => (await database.sql`select from changes_to_signal`).length;
const untilPassedOn = () => until('the end of all changes', async () => (await changes()) === 0);

/** Passes a change on to this many deliveries, like a relay that is then killed. */
async function passOnTo(count: number): Promise<void> {
  const { sql } = database;
  const [claimed] = await claimWebhookChanges(sql, 1);
  if (claimed === undefined) throw new Error('no change is due');
  const next = await nextToSignal(sql, claimed, count);
  await saveProgress(sql, claimed.id, next.at(-1)?.id ?? '');
  await claimWebhookChanges(sql, 1);
}
const endLeases = () =>
  database.sql`update changes_to_signal set claimed_until = now() - interval '1 second'`;

test('switching a webhook off and on repeatedly is one change, signaled once per open delivery', async () => {
  const { webhookId, ids } = await openDeliveries(30);
  for (const active of [false, true, false, true, false]) await change(webhookId, active);
  expect(await changes()).toBe(1);
  const { signaled } = relayTo(database);
  await untilPassedOn();
  expect(signaled.sort()).toEqual(ids);
});

test('a change committed while its row is being claimed is claimed with its latest state', async () => {
  const { sql } = database;
  const { webhookId } = await openDeliveries(1);
  await change(webhookId, false);
  // The claim has its snapshot, and waits.
  await sql.unsafe(`
    create function wait() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(4711); return new; end';
    create trigger wait before update on changes_to_signal for each row execute function wait()`);
  const [claimed] = await sql
    .begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(4711)`;
      const claiming = claimWebhookChanges(sql, 1);
      await until('the claim', async () => {
        const waiting =
          await sql`select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`;
        return waiting.length > 0;
      });
      await sql`update webhooks set active = true where id = ${webhookId}`;
      return { claiming };
    })
    .then(({ claiming }) => claiming);
  expect(claimed).toMatchObject({ webhookId, wakes: true });
});

test('a relay killed halfway leaves only the rest to the next one', async () => {
  const { webhookId, ids } = await openDeliveries(30);
  await change(webhookId, false);
  await passOnTo(20);
  await endLeases();
  const { signaled } = relayTo(database);
  await untilPassedOn();
  expect(signaled.sort()).toEqual(ids.slice(20));
});

test('changes during a signal are signaled after it, together, to all deliveries', async () => {
  const { webhookId, ids } = await openDeliveries(30);
  await change(webhookId, true);
  await change(webhookId, false);
  await passOnTo(20);
  await change(webhookId, true);
  await change(webhookId, false);
  await endLeases();
  const { signaled } = relayTo(database);
  await untilPassedOn();
  expect(signaled.slice(0, 10).sort()).toEqual(ids.slice(20));
  expect(signaled.slice(10).sort()).toEqual(ids);
});

test('a change that waits behind another of its webhook is counted, but not as late', async () => {
  const { sql } = database;
  const { webhookId } = await openDeliveries(30);
  await change(webhookId, false);
  await passOnTo(20);
  await change(webhookId, true);
  await sql`update changes_to_signal set due_at = now() - interval '5 minutes' where signaled_id is null`;
  const { changes: count, oldestChangeSeconds } = await readOutbox(sql);
  expect(count).toBe(2);
  expect(oldestChangeSeconds).toBeLessThan(60);
  // It is late once the other one is out of its way, as is one of another webhook, or of a pre-order.
  await sql`delete from changes_to_signal where signaled_id is not null`;
  expect((await readOutbox(sql)).oldestChangeSeconds).toBeGreaterThanOrEqual(300);
  await sql`
    insert into changes_to_signal (kind, eshop_id, eshop_order_id, due_at)
    select 'orderReleaseChanged', ${eshopId}, 'order ' || n, now() - n * interval '10 minutes' from generate_series(1, 2) n`;
  expect((await readOutbox(sql)).oldestChangeSeconds).toBeGreaterThanOrEqual(1_200);
});

test('a change during the signals of a page reaches that page too', async () => {
  const { webhookId, ids } = await openDeliveries(5);
  await change(webhookId, false);
  let meanwhile: Promise<unknown> | undefined;
  let changed = false;
  const page = new Set<string>();
  const { signaled } = relayTo(database, {
    async signalWebhookChanged({ id }) {
      if (!changed) page.add(id);
      meanwhile ??= change(webhookId, true)
        .then(() => change(webhookId, false))
        .then(() => {
          changed = true;
        });
      await meanwhile;
    },
  });
  await untilPassedOn();
  expect(page.size).toBeGreaterThan(0);
  const times = (id: string) => signaled.filter((other) => other === id).length;
  for (const id of ids) expect(times(id)).toBeGreaterThanOrEqual(page.has(id) ? 2 : 1);
});

test('a change for one delivery does not wait for a change for many', async () => {
  const many = await openDeliveries(300);
  const few = await openDeliveries(1);
  await change(many.webhookId, false);
  await change(few.webhookId, false);
  const { signaled } = relayTo(database);
  await until('the one', async () => signaled.includes(few.ids[0] ?? ''));
  expect(signaled.length).toBeLessThan(150);
});

test('deliveries are started while a change cannot be signaled', async () => {
  const { webhookId } = await openDeliveries(10);
  await change(webhookId, false);
  let asked = 0;
  const [held, answer] = later();
  const { started } = relayTo(database, {
    async signalWebhookChanged() {
      asked += 1;
      await held;
    },
  });
  await until('the calls that are not answered', async () => asked > 0);
  await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  for (let round = 1; round <= 3; round += 1) {
    await fireMany({ sql: database.sql, eshopId }, 5);
    await until(`the starts of round ${round}`, async () => started.length === 5 * round);
  }
  answer();
});

test('a signal that Temporal refuses does not stop the others', async () => {
  const { webhookId, ids } = await openDeliveries(10);
  await change(webhookId, false);
  const rejection = Object.assign(new Error('3 INVALID_ARGUMENT'), { code: 3, details: '', metadata: {} });
  const { signaled } = relayTo(database, {
    async signalWebhookChanged({ id }) {
      if (id === ids[4]) throw rejection;
    },
  });
  await untilPassedOn();
  expect(signaled.sort()).toEqual(ids.filter((id) => id !== ids[4]));
});

test('stopping a relay waits for its signals under way, even if another has failed', async () => {
  const { webhookId } = await openDeliveries(10);
  await change(webhookId, false);
  let underWay = 0;
  const answers: (() => void)[] = [];
  let failed = false;
  const made = relayTo(database, {
    async signalWebhookChanged() {
      if (!failed) {
        failed = true;
        throw new Error('14 UNAVAILABLE');
      }
      underWay += 1;
      await new Promise<void>((resolve) => answers.push(resolve));
      underWay -= 1;
    },
  });
  await until('a failure, and calls under way', async () => failed && underWay > 0);
  const stopped = made.relay.stop().then(() => underWay);
  // Time enough for a relay that would not wait for them.
  setTimeout(() => {
    for (const answer of answers) answer();
  });
  expect(await stopped).toBe(0);
});

describe('deliveries without a workflow', () => {
  /** A webhook with this many deliveries that have not been started. */
  async function waiting(count: number): Promise<{ webhookId: number; ids: string[] }> {
    const { webhookId, ids } = await openDeliveries(count);
    await database.sql`
      update deliveries set dispatched_at = null, window_started_at = null, state = 'pending', attempts_made = 0,
        last_attempt_at = null`;
    return { webhookId, ids };
  }
  const requeue = (ids: readonly string[]) =>
    database.sql`update deliveries set class = ${CLASS.undelivered} where id = any(${[...ids]}::uuid[])`;
  const states = async () =>
    await database.sql<{ state: string; canceledBy: string | null; count: number }[]>`
      select state, canceled_by, count(*)::int from deliveries group by 1, 2 order by 1`;

  test('are canceled many at once when their webhook is deleted, without a workflow', async () => {
    const { webhookId, ids } = await waiting(1_200);
    await requeue(ids.slice(600));
    await deleteWebhook(database.sql, eshopId, webhookId);
    const { started } = relayTo(database, { startDelivery: () => sleep(200) });
    await untilPassedOn();
    const [canceled] = await states();
    expect(canceled).toMatchObject({ state: 'canceled', canceledBy: 'deletion' });
    // The relay was starting some at the same time.
    expect((canceled?.count ?? 0) + started.length).toBeGreaterThanOrEqual(ids.length);
    expect(started.length).toBeLessThan(ids.length / 2);
  });

  test('are canceled if they are given back after the deletion', async () => {
    const { webhookId, ids } = await waiting(20);
    const claims = await database.sql<{ id: string; claimId: string }[]>`
      update deliveries set claim_id = gen_random_uuid(), claimed_until = now() + interval '1 minute'
      returning id, claim_id`;
    await deleteWebhook(database.sql, eshopId, webhookId);
    // So that it claims none of them itself.
    relayTo(database, {}, { isDiskFull: () => true });
    await until(
      'the first look',
      async () => (await database.sql`select from changes_to_signal where due_at > created_at`).length > 0,
    );
    expect(await states()).toMatchObject([{ state: 'pending', count: 20 }]);
    await giveBack(database.sql, claims);
    await untilPassedOn();
    expect(await states()).toMatchObject([{ state: 'canceled', canceledBy: 'deletion', count: ids.length }]);
  });

  test('return to their class once their inactive webhook is active again', async () => {
    const { webhookId, ids } = await waiting(200);
    await change(webhookId, false);
    await requeue(ids);
    const attempted = ids.slice(0, 5);
    await database.sql`
      update deliveries set attempts_made = 1, window_started_at = now(), state = 'retrying' where id = any(${attempted}::uuid[])`;
    await change(webhookId, true);
    const [held, answer] = later();
    relayTo(
      database,
      {},
      {
        async makeAttempt() {
          await held;
          return { kind: 'notAttempted', reason: 'spent' };
        },
      },
    );
    onTestFinished(async () => answer());
    const queued = () =>
      database.sql<{ id: string }[]>`select id from deliveries where class = ${CLASS.fresh}`;
    // The relay is starting the workflows of some at the same time.
    const rows = await until('the queue', async () => {
      const found = await queued();
      return found.length > ids.length / 2 && found;
    });
    for (const id of attempted) expect(rows).not.toContainEqual({ id });
  });
});
