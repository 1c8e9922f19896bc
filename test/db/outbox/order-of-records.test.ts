/** The order of records in the queue: claims that were lost, and many records at once. */
import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { beginAttempts, giveUpAttempt, loadForAttempt } from '../../../src/db/deliveries/attempts.ts';
import { readActionTargets, recordOperatorAction } from '../../../src/db/deliveries/operator-actions.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { recordEvents } from '../../../src/db/outbox/events.ts';
import { keepOrdering, settleOrdering } from '../../../src/db/outbox/keep-ordering.ts';
import { CLASS, type DeliveryClass } from '../../../src/db/outbox/outbox.ts';
import { requeue } from '../../../src/db/outbox/release.ts';
import { supersedeRetries } from '../../../src/db/outbox/supersede-retries.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { acceptedActions } from '../../../src/domain/operator-action.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import { insertShop, insertWebhook } from '../../support/database/events.ts';
import { untilBlocked } from '../../support/database/lock-waits.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const { sql } = await databaseOfFile();
const { eshopId, webhookId } = await insertShop(sql);
await sql`update webhooks set ordering = 'record'`;
afterEach(async () => {
  await sql`delete from deliveries`;
  await sql`delete from webhooks where id <> ${webhookId}`;
  await sql`update webhooks set ordering = 'record'`;
});

/** Writes events of a record, in order; answers the ids of their deliveries. */
async function happen(count: number, deliveryClass: DeliveryClass = CLASS.fresh): Promise<string[]> {
  const events = Array.from({ length: count }, (_, index) => ({
    type: 'CREATE_ORDER' as const,
    entityId: '1',
    sequence: index + 1,
    happenedAt: null,
    snapshot: '{}',
    origin: 'service' as const,
    changed: null,
  }));
  await transaction(sql, (tx) => recordEvents(tx, eshopId, events, deliveryClass));
  const rows = await sql<{ id: string }[]>`select id from deliveries order by sequence`;
  return rows.map(({ id }) => id);
}

test('only the first delivery of a record is attempted after a process died before its check of the order', async () => {
  const [first] = await happen(3);
  const dead = await claimDeliveries(sql, { class: CLASS.fresh, limit: 10 });
  expect(dead.deliveries).toHaveLength(3);
  await sql`update deliveries set claimed_until = null`;
  // One claim takes the first, another the rest.
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 1 });
  expect(deliveries).toMatchObject([{ id: first, isBlocked: false }]);
  const ready = await keepOrdering(sql, deliveries);
  expect(ready.map(({ id }) => id)).toEqual([first]);
  expect(await claim()).toEqual([]);
  // Nor does the dead process attempt any other when it comes back.
  expect((await keepOrdering(sql, dead.deliveries)).map(({ id }) => id)).toEqual([first]);
});

test('the first delivery of each record goes, page by page, however many records wait', async () => {
  const RECORDS = 1_203;
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, ordering_key, sequence, class)
    select gen_random_uuid(), gen_random_uuid(), ${eshopId}, ${webhookId}, 'CREATE_ORDER', 'order ' || record, 'record ' || record, sequence,
      ${CLASS.blocked}
    from generate_series(1, ${RECORDS}::int) record, generate_series(1, 2) sequence`;
  await settleOrdering(sql, { eshopId: eshopId + 1 });
  expect(await sql`select from deliveries where class = ${CLASS.fresh}`).toHaveLength(0);
  await settleOrdering(sql, 'all');
  const putBack = await sql`select from deliveries where class = ${CLASS.fresh} and sequence = 1`;
  expect(putBack).toHaveLength(RECORDS);
  expect(await sql`select from deliveries where class = ${CLASS.blocked}`).toHaveLength(RECORDS);
});

test('a delivery claimed just before its webhook becomes inactive waits without a window for its turn', async () => {
  await happen(1);
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 1 });
  await sql`update webhooks set active = false`;
  await requeue(
    sql,
    deliveries.map(({ id, claimId }) => ({ id, claimId, needsWorkflow: false })),
  );
  expect((await stored())[0]?.class).toBe(CLASS.blocked);
  await sql`update webhooks set active = true`;
  await settleOrdering(sql, { eshopId });
  expect((await stored())[0]?.class).toBe(CLASS.fresh);
});

/** The deliveries of the record by sequence. */
async function stored() {
  return await sql<
    { id: string; state: string; class: number; attemptsMade: number }[]
  >`select id, state, class, attempts_made from deliveries order by sequence, id`;
}

/** How long ago the window of a delivery began, in hours. */
async function windowHours(id: string): Promise<number | undefined> {
  const [row] = await sql<{ hours: number }[]>`
    select (extract(epoch from now() - window_started_at) / 3600)::float8 as hours from deliveries where id = ${id}`;
  return row?.hours;
}

/** Claims waiting deliveries and keeps their order. */
async function claim(): Promise<readonly string[]> {
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 10 });
  const ready = await keepOrdering(sql, deliveries);
  return ready.map(({ id }) => id);
}

test('an event for two webhooks of one receiver goes to both at once', async () => {
  await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  await sql`update webhooks set ordering = 'record'`;
  const [first, beside, ...behind] = await happen(2);
  expect((await claim()).toSorted()).toEqual([first, beside]);
  await sql`update deliveries set state = 'delivered' where id = any(${[String(first), String(beside)]})`;
  await settleOrdering(sql, { records: [String(first)] });
  expect((await claim()).toSorted()).toEqual(behind);
});

test('a delivery that is given up supersedes nothing', async () => {
  await sql`update webhooks set ordering = 'latest'`;
  const [first, second] = await happen(2);
  await sql`update deliveries set operator_stop = 'giveUp' where id = ${String(second)}`;
  expect(await claim()).toContain(first);
  expect((await stored())[0]).toMatchObject({ id: first, state: 'pending' });
});

test('two deliveries begun before the ordering became latest: the one with more failures continues', async () => {
  const [often, seldom, newest] = await happen(3);
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 15, window_started_at = now() - interval '9 h'
    where id = ${String(often)}`;
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 3, window_started_at = now() - interval '1 h'
    where id = ${String(seldom)}`;
  await sql`update deliveries set class = ${CLASS.blocked} where id = ${String(newest)}`;
  await sql`update webhooks set ordering = 'latest'`;
  await supersedeRetries(sql, String(often));
  await supersedeRetries(sql, String(seldom));
  expect((await stored()).at(-1)).toMatchObject({ attemptsMade: 15 });
  expect(await windowHours(String(newest))).toBeCloseTo(9, 1);
});

test.each([
  ['the oldest one', 0, [0]],
  ['the newest one', 2, [0, 1]],
])(
  '%s of three simultaneous retries becomes due under the ordering latest: a newer one continues',
  async (_, due, gone) => {
    const ids = await happen(3);
    await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 10 - sequence, window_started_at = now(),
      next_attempt_at = now()`;
    await sql`update webhooks set ordering = 'latest'`;
    const ended = await supersedeRetries(sql, String(ids[due]));
    expect(ended).toEqual(gone.map((index) => ids[index]));
    const rows = await sql<
      { id: string; state: string; supersededBy: string | null; attemptsMade: number }[]
    >`
    select id, state, superseded_by, attempts_made from deliveries order by sequence`;
    expect(rows).toEqual(
      ids.map((id, index) => ({
        id,
        state: gone.includes(index) ? 'superseded' : 'retrying',
        supersededBy: gone.includes(index) ? ids[2] : null,
        attemptsMade: 9 - index,
      })),
    );
  },
);

test('two retries of a record that are due at the same moment never deadlock', async () => {
  const ids = await happen(4);
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 3, window_started_at = now(),
    next_attempt_at = now() where sequence < 4`;
  await sql`update deliveries set class = ${CLASS.blocked} where sequence = 4`;
  await sql`update webhooks set ordering = 'latest'`;
  const [first = '', , third = '', newest] = ids;
  const holder = await sql.reserve();
  await holder`begin`;
  await holder`select from deliveries where id = ${first} for update`;
  const all = supersedeRetries(sql, third);
  await untilBlocked(sql, 1);
  const one = supersedeRetries(sql, first);
  await untilBlocked(sql, 2);
  await holder`commit`;
  holder.release();
  expect([...(await all), ...(await one)].toSorted()).toEqual(ids.slice(0, 3).toSorted());
  expect((await stored()).at(-1)).toMatchObject({ id: newest, attemptsMade: 3 });
});

test('a delivery without attempts left is not superseded, since its webhook is about to be deactivated', async () => {
  const [spent, due] = await happen(3);
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), window_started_at = now(), attempts_made = 21
    where id = ${String(spent)}`;
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), window_started_at = now(), attempts_made = 3,
    next_attempt_at = now() where id = ${String(due)}`;
  await sql`update webhooks set ordering = 'latest'`;
  expect(await supersedeRetries(sql, String(due))).not.toContain(spent);
  expect((await stored())[0]).toMatchObject({ state: 'retrying', attemptsMade: 21 });
});

/** Under "latest": a delivery whose next attempt is due, with that attempt, and a newer one that waits behind it. */
async function dueBeforeNewer() {
  const [older = '', newest] = await happen(2);
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), window_started_at = now(), attempts_made = 3,
    next_attempt_at = now() where id = ${older}`;
  await sql`update deliveries set class = ${CLASS.blocked} where id = ${String(newest)}`;
  await sql`update webhooks set ordering = 'latest'`;
  const attempt = {
    deliveryId: older,
    number: 4,
    generation: 1,
    webhookVersion: null,
    owner: randomUUID(),
    ownedMs: 60_000,
  };
  return { older, newest, attempt };
}

test('a delivery with an attempt under way is not superseded, and the newest stays blocked', async () => {
  const { older, newest, attempt } = await dueBeforeNewer();
  expect((await beginAttempts(sql, [attempt])).size).toBe(1);
  expect(await supersedeRetries(sql, older)).toEqual([]);
  expect(await stored()).toMatchObject([{ state: 'retrying' }, { id: newest, class: CLASS.blocked }]);
  await giveUpAttempt(sql, older, attempt.owner);
  expect(await supersedeRetries(sql, older)).toEqual([older]);
});

test('a delivery whose attempt begins during the check is not superseded', async () => {
  const { older, newest, attempt } = await dueBeforeNewer();
  let replaced: Promise<readonly string[]> | undefined;
  await sql.begin(async (tx) => {
    expect((await beginAttempts(tx, [attempt])).size).toBe(1);
    replaced = supersedeRetries(sql, older);
    await untilBlocked(sql, 1);
  });
  expect(await replaced).toEqual([]);
  expect(await stored()).toMatchObject([{ state: 'retrying' }, { id: newest, class: CLASS.blocked }]);
});

test('a pause is counted once for a delivery that goes on at once in the place of another', async () => {
  await sql`update webhooks set ordering = 'latest'`;
  const [first, newest] = await happen(2);
  await sql`update deliveries set class = ${CLASS.blocked} where id = ${String(newest)}`;
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 2, window_started_at = now() - interval '9 h',
    next_attempt_at = now() where id = ${String(first)}`;
  await sql`update webhooks set pauses = array[tstzrange(now() - interval '5 h', now() - interval '2 h')]`;
  await supersedeRetries(sql, String(first));
  const windowStartedAt = Number((await loadForAttempt(sql, String(newest)))?.windowStartedAt);
  expect((Date.now() - windowStartedAt) / 3_600_000).toBeCloseTo(6, 1);
});

test('a successor blocked behind another webhook keeps its whole window, and leaves the import’s class', async () => {
  const other = await insertWebhook(sql, eshopId, 'UPDATE_ORDER');
  await sql`update webhooks set ordering = case when id = ${other} then 'record' else 'latest' end`;
  const [first, between, newest] = await happen(3, CLASS.bulk);
  await sql`update deliveries set webhook_id = ${other}, event_type = 'UPDATE_ORDER', class = ${CLASS.blocked} where id = ${String(between)}`;
  await sql`update deliveries set class = ${CLASS.blocked} where id = ${String(newest)}`;
  await sql`update deliveries set state = 'retrying', dispatched_at = now(), attempts_made = 2, window_started_at = now() - interval '9 h'
    where id = ${String(first)}`;
  await supersedeRetries(sql, String(first));
  await sql`update deliveries set due_at = due_at - interval '40 h', window_started_at = window_started_at - interval '40 h'
    where id = ${String(newest)}`;
  // A pause of five hours, before the wait of forty.
  await sql`update webhooks set pauses = array[tstzrange(now() - interval '48 h', now() - interval '43 h')]`;
  await sql`update deliveries set state = 'delivered' where id = ${String(between)}`;
  await settleOrdering(sql, { records: [String(between)] });
  expect(await windowHours(String(newest))).toBeCloseTo(4, 1);
  expect((await stored()).at(-1)).toMatchObject({ state: 'retrying', class: CLASS.fresh });
});

test('a blocked successor with a count of failures can be held but not tried, even if inactive', async () => {
  const [first, successor = ''] = await happen(2);
  await sql`update deliveries set class = ${CLASS.blocked}, attempts_made = 3, window_started_at = now() where id = ${successor}`;
  const accepted = async () => {
    const target = (await readActionTargets(sql, [successor], defaultRetryPolicy)).get(successor);
    return target === undefined ? [] : acceptedActions(target);
  };
  const ask = async (action: 'tryNow' | 'hold') =>
    await recordOperatorAction(
      sql,
      successor,
      { id: action, action, by: 'anna', reason: '' },
      defaultRetryPolicy,
    );
  expect(await ask('tryNow')).toMatchObject({
    accepted: false,
    message: `It waits for its order: delivery ${first}, of the same record, has to end first.`,
  });
  expect(await accepted()).toEqual(['hold', 'giveUp']);
  await sql`update webhooks set active = false`;
  expect(await accepted()).toEqual(['hold', 'giveUp']);
  await sql`update webhooks set active = true`;
  expect(await ask('hold')).toMatchObject({ accepted: true });
  expect(await accepted()).toEqual(['resume', 'giveUp']);
});

test('a delivery committed after its webhook was deleted is not blocked, and can be canceled', async () => {
  const [first = '', late = ''] = await happen(2);
  // Its writer was slow: the change to the webhook was passed on before its transaction ended.
  await sql`update webhooks set active = false, deleted_at = now()`;
  expect((await claim()).toSorted()).toEqual([first, late].toSorted());
  await sql`update deliveries set class = ${CLASS.blocked}, claimed_until = null`;
  await settleOrdering(sql, 'all');
  expect(await stored()).toMatchObject([{ class: CLASS.fresh }, { class: CLASS.fresh }]);
  await sql`update webhooks set active = true, deleted_at = null`;
});
