/** An attempt has one owner at a time: a delivery's requests never overlap, whatever happens to the processes. */
import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { beforeEach, expect, test, vi } from 'vitest';
import { type AttemptDeps, begin } from '../../../src/attempt/begin-attempt.ts';
import { makeAttempt } from '../../../src/attempt/make-attempt.ts';
import type { AttemptCommand, QueueTerms } from '../../../src/attempt/outcome.ts';
import { createPrepare } from '../../../src/attempt/prepare.ts';
import { createStatements } from '../../../src/attempt/statements.ts';
import { throughSessions } from '../../../src/db/connection/through-sessions.ts';
import { giveUpAttempt, loadForAttempt } from '../../../src/db/deliveries/attempts.ts';
import { readActionTargets } from '../../../src/db/deliveries/operator-actions.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { deferClaimed } from '../../../src/db/outbox/release.ts';
import { transaction } from '../../../src/db/transaction.ts';
import type { AttemptResult } from '../../../src/delivery/sender.ts';
import { defaultRetryPolicy as policy } from '../../../src/domain/retry-policy.ts';
import { untraced } from '../../../src/traces/traces.ts';
import {
  accepted,
  attemptRecord,
  beginAttempt,
  fireDelivery,
  owned,
  recordAttempt,
} from '../../support/database/deliveries.ts';
import { untilBlocked } from '../../support/database/lock-waits.ts';
import { later } from '../../support/later.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';
import { alone } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { unwatched } from '../../support/unwatched.ts';

let deliveryId: string;
const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database);
beforeEach(async () => {
  deliveryId = await fireDelivery(sql, shop);
});

const success: AttemptResult = {
  outcome: 'success',
  status: 200,
  error: null,
  durationMs: 1,
  responseExcerpt: null,
  retryAfterMs: null,
};
const failure: AttemptResult = { ...success, outcome: 'failure', status: 503, error: 'HTTP 503' };
const interrupted = new DOMException('The attempt was interrupted.', 'AbortError');
const UNDER_WAY = { kind: 'notAttempted', reason: 'underWay' };

const command = (): AttemptCommand => ({
  deliveryId,
  policy,
  lastChance: false,
  expectedNumber: null,
  queue: null,
});
/** Claims the delivery, which waits in the queue; others of this file wait as well. */
async function claimIt() {
  const quotas = {
    eshop: 0,
    webhook: 0,
    eshops: new Map([[shop.eshopId, 10]]),
    webhooks: new Map([[shop.webhookId, 10]]),
  };
  return (await claimDeliveries(sql, { class: CLASS.fresh, limit: 10, quotas })).deliveries;
}
const ofQueue = (claimId: string): QueueTerms => ({ claimId, claimingMs: 0, handOver: () => 'unstarted' });

/** A process that makes attempts; `answer` is its receiver's. */
function processWith(answer: () => Promise<AttemptResult>) {
  const numbers: number[] = [];
  const deps: AttemptDeps = {
    sql,
    statements: createStatements(sql, throughSessions(sql, null)),
    sender: {
      send({ number }) {
        numbers.push(number);
        return answer();
      },
    },
    prepare: createPrepare({ decryptSecret: () => 'whsec_AAAA' }),
    ...alone(),
    log: pino({ level: 'silent' }),
    watch: unwatched,
    traces: untraced,
  };
  return {
    deps,
    numbers,
    /** @param queue the terms if it is made from the queue; by default its workflow makes it */
    attempt: (queue: QueueTerms | null = null) => makeAttempt(deps, { ...command(), queue }),
  };
}

/** A process whose request is at its receiver. */
async function underWay() {
  const [answered, answer] = later<AttemptResult>();
  const made = processWith(() => answered);
  const outcome = made.attempt();
  await until('its request', async () => made.numbers.length > 0);
  return { ...made, outcome, answer };
}
/** The time for which the attempt was owned is over. */
const ownerIsLate = () => sql`update attempts set owned_until = now() - interval '1 ms'`;
const attempts = () =>
  sql`select number, outcome from attempts where delivery_id = ${deliveryId} order by number`;

test('while one process makes an attempt, no other does, and its result counts', async () => {
  const first = await underWay();
  const second = processWith(async () => success);
  expect(await second.attempt()).toEqual(UNDER_WAY);
  first.answer(failure);
  expect(await first.outcome).toMatchObject({ kind: 'failed', number: 1 });
  expect(second.numbers).toEqual([]);
  expect(await attempts()).toEqual([{ number: 1, outcome: 'failure' }]);
});

test('only one of two processes that race to begin an attempt makes it', async () => {
  const delivery = await loadForAttempt(sql, deliveryId);
  if (delivery === undefined) throw new Error('no delivery');
  const begins = () => begin(processWith(async () => success).deps, delivery, command());
  expect(await begins()).toMatchObject({ kind: 'ready', attempt: { number: 1 } });
  expect(await begins()).toEqual({ kind: 'outdated' });
});

test('an attempt that an operator stops as it begins has no owner: the next may begin at once', async () => {
  const delivery = await loadForAttempt(sql, deliveryId);
  if (delivery === undefined) throw new Error('no delivery');
  const { deps } = processWith(async () => success);
  const beginning = await transaction(sql, async (tx) => {
    await tx`select from deliveries where id = ${deliveryId} for update`;
    const begun = begin(deps, delivery, command());
    await untilBlocked(sql);
    await tx`update deliveries set operator_stop = 'hold' where id = ${deliveryId}`;
    return { begun };
  });
  expect(await beginning.begun).toEqual({ kind: 'outdated' });
  expect(await sql`select owned_until from attempts where delivery_id = ${deliveryId}`).toEqual([
    { ownedUntil: null },
  ]);
});

test('the attempt of a dead process is repeated under the same number', async () => {
  await underWay();
  await ownerIsLate();
  const second = processWith(async () => success);
  expect(await second.attempt()).toMatchObject({ kind: 'delivered', number: 1 });
  expect(await attempts()).toEqual([{ number: 1, outcome: 'success' }]);
});

test('a late owner loses its attempt if it failed; its success still counts', async () => {
  const first = await underWay();
  await ownerIsLate();
  const second = await underWay();
  first.answer(failure);
  expect(await first.outcome).toMatchObject({ kind: 'notAttempted' });
  expect(await attempts()).toEqual([{ number: 1, outcome: null }]);
  await recordAttempt(sql, attemptRecord(deliveryId, { ...accepted, owner: owned.owner }));
  second.answer(failure);
  await second.outcome;
  expect(await attempts()).toEqual([{ number: 1, outcome: 'success' }]);
});

test('a success whose statement lost its response counts as recorded', async () => {
  const { outcome, answer } = await underWay();
  const [row] = await sql<{ owner: string }[]>`select owner from attempts where delivery_id = ${deliveryId}`;
  await recordAttempt(sql, attemptRecord(deliveryId, { ...accepted, owner: row?.owner ?? '' }));
  answer(success);
  expect(await outcome).toEqual({ kind: 'delivered', number: 1, status: 200 });
});

test('after a step of the clock, a process never makes the same attempt twice at once', async () => {
  const first = await underWay();
  await ownerIsLate();
  await expect(first.attempt()).rejects.toThrow('under way already');
  await expect(first.attempt(ofQueue(uuidv7()))).rejects.toThrow('under way already');
  expect(first.numbers).toEqual([1]);
  first.answer(failure);
  expect(await first.outcome).toMatchObject({ kind: 'failed', number: 1 });
  expect(await attempts()).toEqual([{ number: 1, outcome: 'failure' }]);
  // The attempt has ended: the next one may be made.
  expect(await first.attempt()).toMatchObject({ kind: 'failed', number: 2 });
});

test('an attempt whose request never left is made later, also by the same process', async () => {
  const made = processWith(async () => success);
  const delivery = await loadForAttempt(sql, deliveryId);
  if (delivery === undefined) throw new Error('no delivery');
  await begin(made.deps, delivery, command());
  await ownerIsLate();
  expect(await made.attempt()).toMatchObject({ kind: 'delivered', number: 1 });
});

// While the machine sleeps, the first of these clocks stands still.
test.each(['performance', 'Date'] as const)(
  'a process stopped before its request left sends nothing when it resumes (%s)',
  async (clock) => {
    const { deps, attempt, numbers } = processWith(async () => success);
    vi.useFakeTimers({ toFake: [clock] });
    try {
      const beginSpan: typeof untraced.begin = (span) => {
        vi.advanceTimersByTime(60_000);
        return untraced.begin(span);
      };
      Object.assign(deps, { traces: { ...untraced, begin: beginSpan } });
      await expect(attempt()).rejects.toThrow('interrupted before its request left');
    } finally {
      vi.useRealTimers();
    }
    expect(numbers).toEqual([]);
  },
);

test('an interrupted owner gives up its attempt, and the next process makes it at once', async () => {
  await expect(processWith(() => Promise.reject(interrupted)).attempt()).rejects.toThrow('interrupted');
  expect(await processWith(async () => success).attempt()).toMatchObject({ kind: 'delivered', number: 1 });
});

test('a process leaves an attempt to its owner, and takes over once the owner is late', async () => {
  const first = await underWay();
  // Its workflow was lost, say: another process has it from the queue.
  await sql`update deliveries set dispatched_at = null where id = ${deliveryId}`;
  const [claimed] = await claimIt();
  if (claimed === undefined) throw new Error('not claimed');
  const second = processWith(async () => success);
  expect(await second.attempt(ofQueue(claimed.claimId))).toEqual(UNDER_WAY);
  expect(second.numbers).toEqual([]);
  await deferClaimed(sql, [claimed]);
  expect(await claimIt()).toEqual([]);
  await sql`
    update deliveries set due_at = now()
    where id = ${deliveryId} and due_at = (select owned_until from attempts where delivery_id = ${deliveryId})`;
  expect(await claimIt()).toMatchObject([{ id: deliveryId }]);
  first.answer(failure);
  await first.outcome;
});

test('an operator sees an attempt as under way until its owner gives it up', async () => {
  const owner = uuidv7();
  const underWayNow = async () =>
    (await readActionTargets(sql, [deliveryId], policy)).get(deliveryId)?.underWay;
  await beginAttempt(sql, { deliveryId, number: 1, generation: 1, owner, ownedMs: 60_000 });
  expect(await underWayNow()).toBe(1);
  await giveUpAttempt(sql, deliveryId, owner);
  expect(await underWayNow()).toBeNull();
});

test('an owner may begin its attempt again if the first response was lost; nobody else may', async () => {
  const attempt = { deliveryId, number: 1, generation: 1 };
  const beginAs = async (owner: string) =>
    (await beginAttempt(sql, { ...attempt, owner, ownedMs: 60_000 })) !== undefined;
  const [one, other] = [uuidv7(), uuidv7()];
  expect([await beginAs(one), await beginAs(one), await beginAs(other)]).toEqual([true, true, false]);
});
