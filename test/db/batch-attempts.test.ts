/**
 * A batch makes attempts as single mode does: the same request, the same decisions, the same records. Each case runs for two
 * deliveries of the same event, one attempted by its own workflow and one in a batch.
 */

import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { InternalFailure } from '../../src/attempt/internal-failure.ts';
import { makeAttempt } from '../../src/attempt/make-attempt.ts';
import { makeBatch } from '../../src/attempt/make-batch.ts';
import { unwatched } from '../../src/attempt/watch.ts';
import { createEshop } from '../../src/db/eshops.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { throughSessions } from '../../src/db/through-sessions.ts';
import { deleteWebhook, replaceSecret, setActive } from '../../src/db/webhooks/change.ts';
import { closeDelivery } from '../../src/db/webhooks/deliveries.ts';
import type { AttemptRequest, AttemptResult, Sender } from '../../src/delivery/sender.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { createKeys } from '../../src/secrets/keys.ts';
import { untraced } from '../../src/traces/traces.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fireDelivery } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';
import { alone, limitsWith } from '../support/limits.ts';

let database: TestDatabase;
let eshopId: number;
let webhookId: number;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate deliveries, attempts, batches`;
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
  webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  await reseal('whsec_Zmlyc3Q=', false);
});
afterAll(() => database.drop());

const keys = createKeys(Buffer.alloc(32, 7));
const reseal = (secret: string, overlap: boolean) =>
  replaceSecret(
    database.sql,
    eshopId,
    webhookId,
    keys.encryptSecret(secret, { eshopId, webhookId }),
    overlap,
  );

type Failure = Exclude<AttemptResult, { outcome: 'success' }>;
const base = { status: null, durationMs: 12, responseExcerpt: null, retryAfterMs: null };
const answer = (failure: Partial<Failure> & Pick<Failure, 'error'>): Failure => ({
  ...base,
  outcome: 'failure',
  ...failure,
});
const delivered: AttemptResult = { ...base, outcome: 'success', status: 204, error: null };

function senderOf(result: AttemptResult, sent: AttemptRequest[]): Pick<Sender, 'send'> {
  return {
    async send(request) {
      sent.push(request);
      return result;
    },
  };
}

const common = () => ({
  sql: database.sql,
  execute: throughSessions(database.sql, null),
  keys,
  ...alone(),
  log: pino({ level: 'silent' }),
  watch: unwatched,
  traces: untraced,
});
const neither = { stop: new AbortController().signal, abort: new AbortController().signal };
const policy = defaultRetryPolicy;

/** The record of a delivery: only whether times are set, and the next attempt relative to the last. */
async function recorded(id: string) {
  const [row] = await database.sql`
    select d.state, d.attempts_made, d.last_status, d.last_error, d.last_generation, d.late_ms, d.window_lost,
      d.canceled_by, d.window_started_at is not null as window_started, d.last_attempt_at is not null as attempted,
      d.finished_at is not null as finished, round(extract(epoch from d.next_attempt_at - d.last_attempt_at)) as wait,
      a.number, a.generation, a.outcome, a.duration_ms, a.status, a.error, a.response_excerpt,
      a.finished_at = d.last_attempt_at as same_time, a.next_attempt_at = d.next_attempt_at as same_plan
    from deliveries d left join attempts a on a.delivery_id = d.id where d.id = ${id}`;
  return row;
}

/** Makes the first attempt of one delivery alone and of another in a batch. */
async function both(result: AttemptResult, change: (id: string) => Promise<unknown> = async () => {}) {
  const [alone, together] = [
    await fireDelivery(database.sql, { eshopId, webhookId }),
    await fireDelivery(database.sql, { eshopId, webhookId }),
  ];
  const batchId = uuidv7();
  await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10, batchId });
  await database.sql`update deliveries set batch_id = null where id = ${alone}`;
  for (const id of [alone, together]) await change(id);
  const sent: AttemptRequest[] = [];
  const deps = { ...common(), sender: senderOf(result, sent) };
  const order = { deliveryId: alone, policy, lastChance: false, expectedNumber: 1 };
  const outcome = await makeAttempt(deps, order).catch((error: unknown) => error);
  const counts = await makeBatch(deps, { batchId, policy }, neither);
  const [first, second] = sent.map(
    ({ deliveryId: _, eventId: __, happenedAt: ___, at: ____, ...request }) => request,
  );
  expect(second).toEqual(first);
  expect(await recorded(together)).toEqual(await recorded(alone));
  return { alone, together, outcome, counts, sent };
}
async function isHandedBack(id: string): Promise<boolean> {
  const rows = await database.sql`
    select from deliveries where id = ${id} and dispatched_at is null and class in (${CLASS.retry}, ${CLASS.workflow}) and batch_id is null`;
  return rows.length === 1;
}

describe('an answer is recorded alike', () => {
  test.each<[string, AttemptResult, boolean]>([
    ['204', delivered, true],
    [
      '503',
      answer({ status: 503, error: 'HTTP 503 from shop.example after 12 ms', responseExcerpt: 'bu"sy\n\\' }),
      false,
    ],
    ['503 with Retry-After', answer({ status: 503, error: 'HTTP 503', retryAfterMs: 600_000 }), false],
    [
      '302',
      answer({ status: 302, error: 'redirect (HTTP 302) from shop.example: redirects are not followed' }),
      false,
    ],
    ['410', answer({ outcome: 'gone', status: 410, error: 'HTTP 410 (gone)' }), false],
    ['none', answer({ error: 'no response from shop.example within 15 s' }), false],
  ])('%s', async (_, result, isDelivered) => {
    const { together, counts } = await both(result);
    expect(counts).toEqual({
      delivered: isDelivered ? 1 : 0,
      requeued: isDelivered ? 0 : 1,
      deferred: 0,
      left: 0,
    });
    expect(await isHandedBack(together)).toBe(!isDelivered);
  });

  test('410 to an address that was changed meanwhile: a failure like any other', async () => {
    const id = await fireDelivery(database.sql, { eshopId, webhookId });
    const batchId = uuidv7();
    await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10, batchId });
    const sender = {
      async send() {
        await database.sql`update webhooks set generation = generation + 1 where id = ${webhookId}`;
        return answer({ outcome: 'gone', status: 410, error: 'HTTP 410 (gone)' });
      },
    };
    const deps = { ...common(), sender };
    await makeBatch(deps, { batchId, policy }, neither);
    expect(await recorded(id)).toMatchObject({ outcome: 'failure', wait: '25' });
  });
});

describe('nothing is sent, and its own workflow does what follows', () => {
  test.each<[string, (id: string) => Promise<unknown>, string]>([
    ['webhook inactive', () => setActive(database.sql, eshopId, webhookId, false), 'inactive'],
    ['webhook deleted', () => deleteWebhook(database.sql, eshopId, webhookId), 'deleted'],
    [
      'window over',
      (id) =>
        database.sql`update deliveries set window_started_at = now() - interval '3 days' where id = ${id}`,
      'windowOver',
    ],
  ])('%s', async (_, change, reason) => {
    const { outcome, sent, together, counts } = await both(delivered, change);
    expect(outcome).toEqual({ kind: 'notAttempted', reason });
    expect(sent).toEqual([]);
    expect(counts).toEqual({ delivered: 0, requeued: 1, deferred: 0, left: 0 });
    expect(await isHandedBack(together)).toBe(true);
  });

  test('ended meanwhile: it needs no workflow at all', async () => {
    const { sent, together, counts } = await both(delivered, (id) =>
      closeDelivery(database.sql, id, 'canceled'),
    );
    expect(sent).toEqual([]);
    expect(counts).toEqual({ delivered: 0, requeued: 0, deferred: 0, left: 0 });
    expect(await isHandedBack(together)).toBe(false);
  });

  test('no request can be made of the records: an alarm, and the window begins', async () => {
    const { outcome, together } = await both(
      delivered,
      () => database.sql`update webhooks set secret = 'broken' where id = ${webhookId}`,
    );
    expect(outcome).toBeInstanceOf(InternalFailure);
    expect(await isHandedBack(together)).toBe(true);
    expect(await recorded(together)).toMatchObject({ windowStarted: true, number: null });
  });
});

test('beside some of which no request can be made, while the database fails for these: the others are sent', async () => {
  const broken = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  await database.sql`update webhooks set secret = 'broken' where id = ${broken}`;
  for (let index = 0; index < 3; index += 1) await fireDelivery(database.sql, { eshopId, webhookId });
  const batchId = uuidv7();
  await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10, batchId });
  const sql = new Proxy(database.sql, {
    apply(target, self, asked) {
      if (String(asked[0]).includes('coalesce(window_started_at')) throw new Error('The database is away.');
      return Reflect.apply(target, self, asked);
    },
  });
  const sent: AttemptRequest[] = [];
  const deps = { ...common(), sql, sender: senderOf(delivered, sent) };
  const counts = await makeBatch(deps, { batchId, policy }, neither);
  expect(counts).toEqual({ delivered: 3, requeued: 3, deferred: 0, left: 0 });
  expect(sent).toHaveLength(3);
});

test('a failure of Waybill’s own uses up no attempt', async () => {
  const { outcome, together } = await both(
    answer({ outcome: 'internal', error: 'our resolver is not responding' }),
  );
  expect(outcome).toBeInstanceOf(InternalFailure);
  expect(await recorded(together)).toMatchObject({ state: 'pending', attemptsMade: 0, outcome: null });
  expect(await isHandedBack(together)).toBe(true);
});

describe('the request is the same', () => {
  test.each(['POST', 'GET'])('%s', async (method) => {
    const { sent } = await both(delivered, () => database.sql`update webhooks set method = ${method}`);
    expect(sent).toMatchObject([
      { method, number: 1, body: method === 'GET' ? null : Buffer.from('{}') },
      { method, number: 1 },
    ]);
  });

  test.each(['v2', 'v21'])('%s', async (version) => {
    await both(
      delivered,
      () => database.sql`
        with changed as (update events set snapshot = '{"orderProducts":[{"quantity":"2"}]}')
        update webhooks set payload_version = ${version}`,
    );
  });

  test('while a secret is being replaced: both sign, the newest first', async () => {
    const { sent } = await both(delivered, async () => await reseal('whsec_c2Vjb25k', true));
    expect(sent).toHaveLength(2);
    expect(sent[1]?.secrets[0]).toBe('whsec_c2Vjb25k');
  });
});

test('several webhooks of an event: each gets its own version, signed with its own secret', async () => {
  const others = [
    await insertWebhook(database.sql, eshopId, 'CREATE_ORDER'),
    await insertWebhook(database.sql, eshopId, 'CREATE_ORDER'),
  ];
  for (const id of others) {
    const sealed = keys.encryptSecret(`whsec_${Buffer.from(String(id)).toString('base64')}`, {
      eshopId,
      webhookId: id,
    });
    await database.sql`update webhooks set payload_version = 'v21', secret = ${sealed} where id = ${id}`;
  }
  await fireDelivery(database.sql, { eshopId, webhookId });
  await database.sql`update events set snapshot = '{"orderProducts":[{"quantity":"2"}]}'`;
  const batchId = uuidv7();
  await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10, batchId });
  const sent: AttemptRequest[] = [];
  const deps = { ...common(), sender: senderOf(delivered, sent) };
  await makeBatch(deps, { batchId, policy }, neither);
  expect(sent.map(({ body }) => String(body)).sort()).toEqual([
    '{"orderProducts":[{"quantity":"2"}]}',
    '{"orderProducts":[{"quantity":2}]}',
    '{"orderProducts":[{"quantity":2}]}',
  ]);
  expect(new Set(sent.map(({ secrets }) => secrets[0])).size).toBe(3);
});

test('several events in one batch: each is sent to all its webhooks, however often it was read', async () => {
  for (let index = 0; index < 2; index += 1) await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
  await database.sql`
    update webhooks w set secret = (select secret from webhooks where id = ${webhookId}) where eshop_id = ${eshopId}`;
  const opened = { ...keys, decryptSecret: () => 'whsec_Zmlyc3Q=' };
  for (const note of ['one', 'two', 'three']) {
    await fireDelivery(database.sql, { eshopId, webhookId });
    await database.sql`update events set snapshot = ${JSON.stringify({ note })} where snapshot = '{}'`;
  }
  const batchId = uuidv7();
  await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 10, batchId });
  const sent: AttemptRequest[] = [];
  const deps = { ...common(), keys: opened, sender: senderOf(delivered, sent) };
  await makeBatch(deps, { batchId, policy }, neither);
  const events = await database.sql<{ id: string; snapshot: string }[]>`
    select d.id, e.snapshot from deliveries d join events e on e.id = d.event_id`;
  const snapshots = new Map(events.map(({ id, snapshot }) => [id, snapshot]));
  expect(sent).toHaveLength(9);
  for (const { deliveryId, body } of sent) expect(String(body)).toBe(snapshots.get(deliveryId));
});

describe('made again', () => {
  /** A batch of this many deliveries. */
  async function batchOf(count: number) {
    for (let index = 0; index < count; index += 1) await fireDelivery(database.sql, { eshopId, webhookId });
    const batchId = uuidv7();
    await claimDeliveries(database.sql, { class: CLASS.fresh, limit: count, batchId });
    return { batchId, policy };
  }
  const depsWith = (send: Sender['send']) => ({ ...common(), sender: { send } });

  test('after an interruption, it repeats only what has no result, under the same number', async () => {
    const order = await batchOf(10);
    const sent: AttemptRequest[] = [];
    const failing = depsWith(async (request) => {
      sent.push(request);
      if (sent.length > 6) throw new DOMException('The attempt was interrupted.', 'AbortError');
      return delivered;
    });
    await expect(makeBatch(failing, order, neither)).rejects.toThrow('interrupted');
    const answered = sent.slice(0, 6).map(({ deliveryId }) => deliveryId);
    const again: AttemptRequest[] = [];
    const counts = await makeBatch(
      depsWith(async (request) => {
        again.push(request);
        return delivered;
      }),
      order,
      neither,
    );
    expect(counts).toEqual({ delivered: 10, requeued: 0, deferred: 0, left: 0 });
    expect(again).toHaveLength(4);
    for (const { deliveryId, number } of again) {
      expect(answered).not.toContain(deliveryId);
      expect(number).toBe(1);
    }
  });

  test('when it is whole, it sends nothing and says the same', async () => {
    const order = await batchOf(3);
    const sent: AttemptRequest[] = [];
    const deps = depsWith(async (request) => {
      sent.push(request);
      return delivered;
    });
    const first = await makeBatch(deps, order, neither);
    expect(await makeBatch(deps, order, neither)).toEqual(first);
    expect(sent).toHaveLength(3);
  });

  test('told to stop, it lets what is under way finish, and says what is left', async () => {
    const order = await batchOf(100);
    const stop = new AbortController();
    const sent: AttemptRequest[] = [];
    const deps = depsWith(async (request) => {
      sent.push(request);
      stop.abort();
      return delivered;
    });
    const counts = await makeBatch(deps, order, { ...neither, stop: stop.signal });
    expect(counts.left).toBeGreaterThan(0);
    expect(counts).toEqual({ delivered: sent.length, requeued: 0, deferred: 0, left: 100 - sent.length });
  });

  test('a slow receiver does not hold up the others', async () => {
    const slow = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
    const sealed = keys.encryptSecret('whsec_c2xvdw==', { eshopId, webhookId: slow });
    await database.sql`update webhooks set url = 'https://slow.example/', secret = ${sealed} where id = ${slow}`;
    for (let index = 0; index < 50; index += 1) await fireDelivery(database.sql, { eshopId, webhookId });
    const batchId = uuidv7();
    await claimDeliveries(database.sql, { class: CLASS.fresh, limit: 100, batchId });
    let answerSlow = () => {};
    const answered = new Promise<void>((resolve) => {
      answerSlow = resolve;
    });
    let prompt = 0;
    const deps = depsWith(async (request) => {
      if (request.url.includes('slow')) await answered;
      // The slow ones answer once all others have been sent.
      else if (++prompt === 50) answerSlow();
      return delivered;
    });
    expect(
      await makeBatch(
        { ...deps, limits: limitsWith({ attempts: 256, firstLimit: 64 }) },
        { batchId, policy },
        neither,
      ),
    ).toEqual({
      delivered: 100,
      requeued: 0,
      deferred: 0,
      left: 0,
    });
  });

  test('what finds no place at its receiver goes back to the queue, and uses up no attempt', async () => {
    const order = await batchOf(50);
    const limits = limitsWith({ claimAheadMs: 0 });
    const sent: AttemptRequest[] = [];
    const underWay: (() => void)[] = [];
    const deps = depsWith(async (request) => {
      sent.push(request);
      // No request is answered before as many have begun as may begin.
      if (sent.length < 20) await new Promise<void>((answer) => underWay.push(answer));
      else for (const answer of underWay) answer();
      return delivered;
    });
    const [begun] = await database.sql<{ at: Date }[]>`select clock_timestamp() as at`;
    const counts = await makeBatch({ ...deps, limits }, order, neither);
    expect(counts).toEqual({ delivered: 20, requeued: 0, deferred: 30, left: 0 });
    const [row] = await database.sql`
      select count(*)::int as count, max(attempts_made) as attempts, min(due_at) >= ${begun?.at ?? null}::timestamptz + interval '1 second' as left_alone,
        max(due_at) < now() + interval '2 seconds' as not_for_long
      from deliveries where state = 'pending' and batch_id is null and dispatched_at is null and class = ${CLASS.fresh}`;
    expect(row).toEqual({ count: 30, attempts: 0, leftAlone: true, notForLong: true });
    await database.sql`update deliveries set due_at = now()`;
    const { deliveries } = await claimDeliveries(database.sql, {
      class: CLASS.fresh,
      limit: 100,
      batchId: uuidv7(),
    });
    expect(deliveries).toHaveLength(30);
    expect(limits.open()).toBe(0);
  });

  test('what its own e-shop’s lookups leave no time for goes back to the queue, and nobody comes there for a while', async () => {
    const order = await batchOf(3);
    const limits = limitsWith({});
    const deps = depsWith(async () =>
      answer({ outcome: 'internal', lookupsFull: true, error: 'too many DNS lookups' }),
    );
    const counts = await makeBatch({ ...deps, limits }, order, neither);
    expect(counts).toEqual({ delivered: 0, requeued: 0, deferred: 3, left: 0 });
    const [row] = await database.sql`
      select count(*)::int as count, max(attempts_made) as attempts, count(window_started_at)::int as windows from deliveries
      where state = 'pending' and batch_id is null and dispatched_at is null and class = ${CLASS.fresh}`;
    expect(row).toEqual({ count: 3, attempts: 0, windows: 0 });
    expect(limits.quotas(1).webhooks.get(webhookId)).toBe(0);
  });

  test('those of a prompt receiver wait in the batch for their places', async () => {
    const order = await batchOf(100);
    const limits = limitsWith({});
    for (let index = 0; index < 40; index += 1) {
      const permit = await limits.acquire({ eshopId, webhookId, url: 'https://other.example/' });
      if (typeof permit === 'object') permit.release(false);
    }
    let underWay = 0;
    let most = 0;
    let answerFirst = () => {};
    const twentyUnderWay = new Promise<void>((resolve) => {
      answerFirst = resolve;
    });
    const deps = depsWith(async () => {
      most = Math.max(most, ++underWay);
      // No request is answered before as many are under way as may be.
      if (underWay === 20) answerFirst();
      await twentyUnderWay;
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      return answer({ status: 503, error: 'HTTP 503' });
    });
    const counts = await makeBatch({ ...deps, limits }, order, neither);
    expect(counts.left).toBe(0);
    expect(most).toBe(20);
  });
});
