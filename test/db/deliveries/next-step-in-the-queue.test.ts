/** The result of an attempt made from the queue is recorded together with the delivery's next step in the queue. */
import { expect, test } from 'vitest';
import { leaveQueue } from '../../../src/db/deliveries/attempts.ts';
import { recordOperatorAction } from '../../../src/db/deliveries/operator-actions.ts';
import { type AttemptRecord, type QueuePlan, recordAttempts } from '../../../src/db/deliveries/results.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { CLASS, type DeliveryClass, type QueuedDelivery } from '../../../src/db/outbox/outbox.ts';
import { setActive } from '../../../src/db/webhooks/change.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import {
  accepted,
  attemptRecord,
  beginAttempt,
  fireDelivery,
  recordAttempt,
} from '../../support/database/deliveries.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

const FIRST_WAIT_MS = 25_000;
const FINISHED = new Date();
/** This many seconds after the end of the attempt. */
const later = (seconds: number) => new Date(FINISHED.getTime() + seconds * 1_000);

const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database, 'deliveries', 'attempts');

async function claim(deliveryClass: DeliveryClass = CLASS.fresh): Promise<readonly QueuedDelivery[]> {
  return (await claimDeliveries(sql, { class: deliveryClass, limit: 10 })).deliveries;
}

/** A delivery whose first attempt this process has under way from the queue. */
async function underWay(): Promise<QueuedDelivery> {
  await fireDelivery(sql, shop);
  const [claimed] = await claim();
  if (claimed === undefined) throw new Error('not claimed');
  await beginAttempt(sql, { deliveryId: claimed.id, number: 1, generation: 1 });
  return claimed;
}

/** Its lease is over, and another process claims it. */
async function takenOver(id: string): Promise<QueuedDelivery> {
  await sql`update deliveries set claimed_until = now() - interval '1 second' where id = ${id}`;
  const [claimed] = await claim();
  if (claimed?.id !== id) throw new Error('not taken over');
  return claimed;
}

/** The record of its first attempt; by default a failure with no attempt left. */
function resultOf(
  { id, claimId }: QueuedDelivery,
  result: Partial<AttemptRecord>,
  workflow: QueuePlan['workflow'] = 'unstarted',
): AttemptRecord {
  const plan = { claimId, workflow, firstWaitMs: FIRST_WAIT_MS };
  return attemptRecord(id, { webhookId: shop.webhookId, plan, finishedAt: FINISHED, ...result });
}
const record = (...of: Parameters<typeof resultOf>) => recordAttempt(sql, resultOf(...of));

interface QueueRow {
  readonly class: number;
  readonly dueAt: Date;
  /** Due by now. */
  readonly due: boolean;
  readonly claimId: string | null;
  readonly claimedUntil: Date | null;
  readonly dispatchedAt: Date | null;
  readonly state: string;
  readonly attemptsMade: number;
  readonly nextAttemptAt: Date | null;
}
async function rowOf(id: string): Promise<QueueRow> {
  const [row] = await sql<QueueRow[]>`
    select class, due_at, due_at <= clock_timestamp() as due, claim_id, claimed_until, dispatched_at, state, attempts_made, next_attempt_at
    from deliveries where id = ${id}`;
  if (row === undefined) throw new Error(`no delivery ${id}`);
  return row;
}
const unclaimed = { claimId: null, claimedUntil: null };

const delivered = { class: CLASS.delivered, due: true, state: 'delivered', attemptsMade: 1 };

test('an accepted delivery waits in the queue for a process that starts its workflow', async () => {
  const claimed = await underWay();
  expect(await record(claimed, accepted, 'unstarted')).toBe('delivered');
  expect(await rowOf(claimed.id)).toMatchObject({ ...delivered, ...unclaimed, dispatchedAt: null });
  expect(await claim(CLASS.delivered)).toMatchObject([
    { id: claimed.id, state: 'delivered', attemptsMade: 1 },
  ]);
});

test('an accepted delivery stays claimed by the process that starts its workflow', async () => {
  const claimed = await underWay();
  await record(claimed, accepted, 'start');
  const row = await rowOf(claimed.id);
  expect(row).toMatchObject({ ...delivered, claimId: claimed.claimId, dispatchedAt: null });
  expect(row.claimedUntil).not.toBeNull();
  expect(await claim(CLASS.delivered)).toEqual([]);
});

test('an accepted delivery without a workflow leaves the queue', async () => {
  const claimed = await underWay();
  await record(claimed, accepted, 'none');
  const row = await rowOf(claimed.id);
  expect(row).toMatchObject({ ...delivered, ...unclaimed });
  expect(row.dispatchedAt).not.toBeNull();
  expect(await claim(CLASS.delivered)).toEqual([]);
});

test.each([1, 59, 60])(
  'a failed delivery due %i seconds later is retried from the queue',
  async (seconds) => {
    const claimed = await underWay();
    expect(await record(claimed, { nextAttemptAt: later(seconds) })).toBe('retrying');
    expect(await rowOf(claimed.id)).toMatchObject({
      class: CLASS.retry,
      dueAt: later(seconds),
      nextAttemptAt: later(seconds),
      ...unclaimed,
      dispatchedAt: null,
    });
  },
);

test.each([
  ['is due later', later(61)],
  ['has no attempt left', null],
])('a failed delivery that %s waits for its workflow', async (_, nextAttemptAt) => {
  const claimed = await underWay();
  await record(claimed, { nextAttemptAt });
  expect(await rowOf(claimed.id)).toMatchObject({
    class: CLASS.undelivered,
    due: true,
    nextAttemptAt,
    ...unclaimed,
    dispatchedAt: null,
  });
  expect(await claim(CLASS.undelivered)).toMatchObject([
    { id: claimed.id, attemptsMade: 1, failures: [{ number: 1, message: 'HTTP 503' }] },
  ]);
});

test('a failed delivery stays claimed by the process that starts its workflow, due at its retry', async () => {
  const claimed = await underWay();
  await record(claimed, { nextAttemptAt: later(30) }, 'start');
  const row = await rowOf(claimed.id);
  expect(row).toMatchObject({ class: CLASS.retry, dueAt: later(30), claimId: claimed.claimId });
  expect(row.claimedUntil).not.toBeNull();
});

test('a failed delivery is never claimed before its retry is due, and then with its count', async () => {
  const claimed = await underWay();
  await record(claimed, { nextAttemptAt: later(60) });
  for (const each of Object.values(CLASS)) expect(await claim(each)).toEqual([]);
  await sql`update deliveries set due_at = now() where id = ${claimed.id} and due_at = next_attempt_at`;
  expect(await claim(CLASS.retry)).toMatchObject([
    { id: claimed.id, state: 'retrying', attemptsMade: 1, lastStatus: 503, failures: [{ number: 1 }] },
  ]);
});

test.each([
  ['was accepted', accepted, 'delivered'],
  ['failed', { nextAttemptAt: later(30) }, 'retrying'],
] as const)(
  'a delivery that %s gets its result but keeps its place if another process has claimed it',
  async (_, result, state) => {
    const late = await underWay();
    const other = await takenOver(late.id);
    const before = await rowOf(late.id);
    expect(await record(late, result, 'none')).toBe(state);
    const { dueAt, claimId, claimedUntil } = before;
    expect(await rowOf(late.id)).toMatchObject({
      state,
      attemptsMade: 1,
      class: CLASS.fresh,
      dueAt,
      claimId,
      claimedUntil,
      dispatchedAt: null,
    });
    expect(claimId).toBe(other.claimId);
  },
);

test.each([
  [
    'was deferred by another process',
    sql`claimed_until = null, claim_id = null, due_at = now() + interval '9 seconds'`,
  ],
  [
    'outlived the lease of a dead process',
    sql`claimed_until = now() - interval '1 second', claim_id = gen_random_uuid()`,
  ],
])(
  'a delivery that %s still waits for its retry, and is attempted by no process before',
  async (_, change) => {
    const claimed = await underWay();
    await sql`update deliveries set ${change} where id = ${claimed.id}`;
    await record(claimed, { nextAttemptAt: later(30) });
    expect(await rowOf(claimed.id)).toMatchObject({ class: CLASS.retry, dueAt: later(30), ...unclaimed });
  },
);

test('a failed delivery that its workflow has taken over is in no queue', async () => {
  const claimed = await underWay();
  await leaveQueue(sql, claimed.id);
  await record(claimed, { nextAttemptAt: later(30) });
  expect(await rowOf(claimed.id)).toMatchObject({
    state: 'retrying',
    class: CLASS.fresh,
    nextAttemptAt: later(30),
  });
  for (const each of Object.values(CLASS)) expect(await claim(each)).toEqual([]);
});

test('an attempt made by a workflow plans nothing in the queue', async () => {
  const claimed = await underWay();
  await record(claimed, { plan: null, nextAttemptAt: later(30) });
  expect(await rowOf(claimed.id)).toMatchObject({
    class: CLASS.fresh,
    nextAttemptAt: later(30),
    claimId: claimed.claimId,
  });
});

async function changed(): Promise<QueuedDelivery> {
  const claimed = await underWay();
  await setActive(sql, shop.eshopId, shop.webhookId, false);
  await setActive(sql, shop.eshopId, shop.webhookId, true);
  return claimed;
}

test('after an activation during the attempt, the next one is due after the first wait of the policy', async () => {
  const claimed = await changed();
  const recorded = await recordAttempts(sql, [resultOf(claimed, { nextAttemptAt: later(3_600) })]);
  const soon = later(FIRST_WAIT_MS / 1_000);
  expect(await rowOf(claimed.id)).toMatchObject({ class: CLASS.retry, dueAt: soon, nextAttemptAt: soon });
  // What the e-shop reads of the attempt, in its log too, is the same time.
  expect(recorded.get(claimed.id)).toEqual({ state: 'retrying', nextAttemptAt: soon });
  expect(await sql`select next_attempt_at from attempts where delivery_id = ${claimed.id}`).toEqual([
    { nextAttemptAt: soon },
  ]);
});

test('after an activation during the attempt, the next one is due no later than planned', async () => {
  const claimed = await changed();
  await record(claimed, { nextAttemptAt: later(10) });
  expect(await rowOf(claimed.id)).toMatchObject({ dueAt: later(10), nextAttemptAt: later(10) });
});

test('after an activation during the last attempt, the workflow decides, not the queue', async () => {
  const claimed = await changed();
  await record(claimed, {});
  expect(await rowOf(claimed.id)).toMatchObject({ class: CLASS.undelivered, nextAttemptAt: null });
});

test('recording a result a second time changes nothing', async () => {
  const claimed = await underWay();
  const once = resultOf(claimed, { nextAttemptAt: later(30) });
  await recordAttempts(sql, [once]);
  const before = await rowOf(claimed.id);
  expect(await recordAttempts(sql, [{ ...once, nextAttemptAt: later(40), status: 500 }])).toEqual(new Map());
  expect(await rowOf(claimed.id)).toEqual(before);
});

test('results recorded together give each delivery its own next step', async () => {
  const good = await underWay();
  const bad = await underWay();
  const recorded = await recordAttempts(sql, [
    resultOf(bad, { nextAttemptAt: later(30) }, 'unstarted'),
    resultOf(good, accepted, 'none'),
  ]);
  expect(recorded).toEqual(
    new Map([
      [good.id, { state: 'delivered', nextAttemptAt: null }],
      [bad.id, { state: 'retrying', nextAttemptAt: later(30) }],
    ]),
  );
  expect(await rowOf(good.id)).toMatchObject({ class: CLASS.delivered });
  expect(await rowOf(bad.id)).toMatchObject({ class: CLASS.retry, dueAt: later(30), dispatchedAt: null });
});

test.each(['hold', 'giveUp'] as const)(
  'a delivery stopped during its attempt goes to its workflow, not to its retry: %s',
  async (action) => {
    const claimed = await underWay();
    await sql`update attempts set owned_until = now() + interval '1 minute'`;
    const asked = { id: action, action, by: 'anna', reason: '' };
    await recordOperatorAction(sql, claimed.id, asked, defaultRetryPolicy);
    await record(claimed, { nextAttemptAt: later(50) });
    expect(await rowOf(claimed.id)).toMatchObject({ class: CLASS.undelivered, due: true, ...unclaimed });
  },
);
