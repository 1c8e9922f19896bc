/** Decisions of an attempt from the records: whose time was lost, and whether it is due at all. */
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { beforeEach, expect, test, vi } from 'vitest';
import { makeAttempt } from '../../../src/attempt/make-attempt.ts';
import type { AttemptCommand } from '../../../src/attempt/outcome.ts';
import { createPrepare } from '../../../src/attempt/prepare.ts';
import { situationOf } from '../../../src/attempt/situation.ts';
import { createStatements } from '../../../src/attempt/statements.ts';
import type { Limits } from '../../../src/concurrency/limits.ts';
import { throughSessions } from '../../../src/db/connection/through-sessions.ts';
import { loadForAttempt } from '../../../src/db/deliveries/attempts.ts';
import { setActive } from '../../../src/db/webhooks/change.ts';
import type { AttemptRequest, AttemptResult } from '../../../src/delivery/sender.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import { untraced } from '../../../src/traces/traces.ts';
import { nextStep } from '../../../workflows/next-step.ts';
import { beginAttempt, fireDelivery } from '../../support/database/deliveries.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';
import { alone, boundless, limitsWith } from '../../support/limits.ts';
import { unwatched } from '../../support/unwatched.ts';

let deliveryId: string;
const sent: AttemptRequest[] = [];
const HOUR = 3_600_000;

const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database);
beforeEach(async () => {
  sent.length = 0;
  deliveryId = await fireDelivery(sql, shop);
});

const refused: AttemptResult = {
  outcome: 'failure',
  status: 503,
  error: 'HTTP 503',
  durationMs: 1,
  responseExcerpt: null,
  retryAfterMs: null,
};

/** An attempt that the receiver refuses; these tests are not about the wire. */
function attempt(
  expectedNumber: number | null = null,
  {
    limits,
    lastChance,
    queue = null,
  }: { limits: Limits; lastChance: boolean; queue?: AttemptCommand['queue'] } = {
    limits: boundless,
    lastChance: false,
  },
  result = refused,
  isDiskFull = () => false,
) {
  const sender = {
    async send(request: AttemptRequest) {
      sent.push(request);
      return result;
    },
  };
  const deps = {
    sql,
    statements: createStatements(sql, throughSessions(sql, null)),
    sender,
    prepare: createPrepare({ decryptSecret: () => 'whsec_AAAA' }),
    ...alone(),
    limits,
    isDiskFull,
    log: pino({ level: 'silent' }),
    watch: unwatched,
    traces: untraced,
  };
  const command = { deliveryId, policy: defaultRetryPolicy, lastChance, queue };
  return makeAttempt(deps, { ...command, expectedNumber });
}

const dueSince = (hours: number) => sql`
  update deliveries set next_attempt_at = now() - make_interval(hours => ${hours}) where id = ${deliveryId}`;

async function lateMs(): Promise<number> {
  return (await loadForAttempt(sql, deliveryId))?.lateBeforeMs ?? Number.NaN;
}

test("no request leaves while the database's disk is full, since its result could not be recorded", async () => {
  const sentBefore = sent.length;
  await expect(attempt(null, undefined, refused, () => true)).rejects.toThrow("The database's disk is full.");
  expect(sent).toHaveLength(sentBefore);
  expect(await loadForAttempt(sql, deliveryId)).toMatchObject({
    attemptsMade: 0,
    underWayUntil: null,
  });
});

test('a first attempt that an outage delayed by hours: the delay is internal', async () => {
  await beginAttempt(sql, { deliveryId, number: 1, generation: 1 });
  await sql`
    update deliveries set window_started_at = now() - interval '2 hours' where id = ${deliveryId}`;
  await attempt();
  expect(await lateMs()).toBeGreaterThanOrEqual(2 * HOUR);
});

test('the delays of several outages of one delivery add up', async () => {
  await attempt();
  for (const hours of [2, 3]) {
    await dueSince(hours);
    await attempt();
  }
  expect(await lateMs()).toBeGreaterThanOrEqual(5 * HOUR);
});

test.each([
  ['by its workflow', null, 3],
  ['in the queue', { claimId: randomUUID(), claimingMs: HOUR, handOver: () => 'none' as const }, 2],
])('an attempt deferred after an outage %s: its delay is counted once', async (_where, queue, lostHours) => {
  await attempt();
  await dueSince(3);
  const limits = { ...boundless, acquire: async () => ({ ms: 1, ofReceiver: true }) };
  for (let turn = 0; turn < 2; turn += 1) await attempt(null, { limits, lastChance: false, queue });
  await attempt();
  const late = await lateMs();
  expect(late).toBeGreaterThanOrEqual(lostHours * HOUR);
  expect(late).toBeLessThan((lostHours + 0.5) * HOUR);
});

test('hours in which the webhook was inactive are nobody’s fault', async () => {
  await attempt();
  await sql`
    update deliveries set next_attempt_at = now() - interval '3 hours' where id = ${deliveryId}`;
  await setActive(sql, shop.eshopId, shop.webhookId, false);
  await setActive(sql, shop.eshopId, shop.webhookId, true);
  await attempt();
  expect(await lateMs()).toBe(0);
});

test('hours between an activation and its attempt are internal', async () => {
  await attempt();
  await setActive(sql, shop.eshopId, shop.webhookId, false);
  await setActive(sql, shop.eshopId, shop.webhookId, true);
  await sql`
    update deliveries set next_attempt_at = now() - interval '9 hours' where id = ${deliveryId}`;
  await sql`update webhooks set generation_at = now() - interval '3 hours' where id = ${shop.webhookId}`;
  await attempt();
  const late = await lateMs();
  expect(late).toBeGreaterThanOrEqual(3 * HOUR);
  expect(late).toBeLessThan(4 * HOUR);
});

test('a caller with outdated state sends nothing early; an operator’s request is carried out', async () => {
  await attempt(1);
  expect(await attempt(1)).toEqual({ kind: 'notAttempted', reason: 'notDue' });
  expect(sent).toHaveLength(1);
  expect(await attempt(null)).toMatchObject({ kind: 'failed', number: 2 });
});

test('a delivery of an inactive webhook is held until its window ends', async () => {
  await attempt();
  await setActive(sql, shop.eshopId, shop.webhookId, false);
  const held = await attempt(2);
  const delivery = await loadForAttempt(sql, deliveryId);
  const windowEndsAt = new Date(Number(delivery?.windowStartedAt) + defaultRetryPolicy.windowMs);
  expect(held).toEqual({ kind: 'deferred', reason: 'inactive', windowEndsAt, ms: expect.any(Number) });
  expect(held).toMatchObject({ ms: expect.toSatisfy((ms: number) => ms > 47 * HOUR && ms <= 48 * HOUR) });
  expect(sent).toHaveLength(1);
});

test('without a permit, its workflow defers an attempt, while a last chance defers itself', async () => {
  const limits = limitsWith({ firstLimit: 1, claimAheadMs: 0 });
  await limits.acquire({ ...shop, receiverHost: 'shop.example' });
  expect(await attempt(null, { limits, lastChance: false })).toEqual({
    kind: 'notAttempted',
    reason: 'concurrencyLimit',
  });
  const deferred = await attempt(null, { limits, lastChance: true });
  expect(deferred).toEqual({ kind: 'deferred', reason: 'concurrencyLimit', ms: expect.any(Number) });
  expect(deferred).toMatchObject({ ms: expect.toSatisfy((ms: number) => ms > 0) });
  expect(sent).toEqual([]);
});

test('a deferral after an activation is obeyed: the activation no longer makes an attempt due at once', async () => {
  await attempt();
  await sql`update webhooks set generation = generation + 1 where id = ${shop.webhookId}`;
  await sql`update deliveries set last_attempt_at = now() - interval '1 minute' where id = ${deliveryId}`;
  const step = async () => {
    const situation = situationOf(await loadForAttempt(sql, deliveryId), defaultRetryPolicy);
    return situation.open ? nextStep(situation).step : situation.state;
  };
  expect(await step()).toBe('attempt');
  const limits = { ...boundless, acquire: async () => ({ ms: HOUR, ofReceiver: true }) };
  await attempt(null, { limits, lastChance: false });
  expect(await step()).toBe('waitForNextAttempt');
});

test.each([
  ['the limit of the receiver', true, false],
  ['a limit that others filled', false, true],
])(
  'a failed last chance is blamed on the receiver only if its own limit took the time: %s',
  async (_who, ofReceiver, lost) => {
    await attempt();
    const limits = { ...boundless, acquire: async () => ({ ms: 2 * HOUR, ofReceiver }) };
    await attempt(null, { limits, lastChance: false });
    await sql`
    update deliveries set window_started_at = now() - interval '49 hours', next_attempt_at = now() where id = ${deliveryId}`;
    await attempt(null, { limits: boundless, lastChance: true });
    expect(await loadForAttempt(sql, deliveryId)).toMatchObject({
      attemptsMade: 2,
      windowLost: lost,
    });
  },
);

test('a request has the settings that replaced others while the attempt waited for its permit', async () => {
  const acquire: Limits['acquire'] = async (...args) => {
    await sql`update webhooks set method = 'GET' where id = ${shop.webhookId}`;
    return await boundless.acquire(...args);
  };
  expect(await attempt(null, { limits: { ...boundless, acquire }, lastChance: false })).toMatchObject({
    kind: 'failed',
  });
  expect(sent).toMatchObject([{ method: 'GET' }]);
});

test('too many lookups of its e-shop defer an attempt under the same number', async () => {
  const lookupsFull = {
    ...refused,
    outcome: 'internal',
    lookupsFull: true,
    error: 'too many DNS lookups',
  } as const;
  const limits = limitsWith({});
  expect(await attempt(null, { limits, lastChance: false }, lookupsFull)).toEqual({
    kind: 'notAttempted',
    reason: 'concurrencyLimit',
  });
  const planned = await loadForAttempt(sql, deliveryId);
  expect(Number(planned?.nextAttemptAt) - Number(planned?.now)).toBeGreaterThan(1_000);
  expect(planned).toMatchObject({ state: 'pending', attemptsMade: 0, windowStartedAt: null });
  // The webhook is closed for a while.
  expect(await attempt(null, { limits, lastChance: false })).toMatchObject({ reason: 'concurrencyLimit' });
  expect(sent).toHaveLength(1);
  const deferred = await attempt(null, { limits: limitsWith({}), lastChance: true }, lookupsFull);
  expect(deferred).toEqual({ kind: 'deferred', reason: 'concurrencyLimit', ms: expect.any(Number) });
  expect(sent.map(({ number }) => number)).toEqual([1, 1]);
  await sql`update attempts set started_at = started_at - interval '1 hour'`;
  await attempt();
  expect(await loadForAttempt(sql, deliveryId)).toMatchObject({ attemptsMade: 1, lateBeforeMs: 0 });
});

test('a worker whose clock is behind records by the database’s time, and signs by its own', async () => {
  const now = new Date(Date.now() - HOUR);
  vi.useFakeTimers({ toFake: ['Date'], now });
  try {
    await attempt();
  } finally {
    vi.useRealTimers();
  }
  const [row] = await sql`
    select abs(extract(epoch from clock_timestamp() - attempts.finished_at)) < 60 as finished,
      deliveries.next_attempt_at > clock_timestamp() as planned
    from attempts join deliveries on deliveries.id = delivery_id where delivery_id = ${deliveryId}`;
  expect(row).toEqual({ finished: true, planned: true });
  expect(sent[0]?.at).toEqual(now);
});
