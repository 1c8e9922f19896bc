/** What operators ask of deliveries in the queue: the database decides alone, whether Temporal is there or not. */
import { beforeEach, describe, expect, test } from 'vitest';
import { recordOperatorAction } from '../../../src/db/deliveries/operator-actions.ts';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { CLASS, type DeliveryClass } from '../../../src/db/outbox/outbox.ts';
import type { ActionName, RequestedAction } from '../../../src/domain/operator-action.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import { accepted, beginAttempt, finishAttempt, fireDelivery } from '../../support/database/deliveries.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

let ended: string[];
let woken: Set<string>;
const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database, 'deliveries', 'attempts');
beforeEach(async () => {
  ended = [];
  woken = new Set();
  sql.notifier.attach({
    wake: (work) => void woken.add(work),
    hasRoom: () => false,
    start() {},
    ended: (eventType, as) => void ended.push(`${eventType} ${as}`),
  });
});

/** Changes a delivery. @param changes applied in turn, as SQL */
async function change(id: string, ...changes: readonly string[]): Promise<void> {
  for (const each of changes) await sql.unsafe(`update deliveries set ${each} where id = '${id}'`);
}
/** A delivery in the queue. */
async function queued(...changes: readonly string[]): Promise<string> {
  const id = await fireDelivery(sql, shop);
  await change(id, ...changes);
  return id;
}
const failed = (next: string, deliveryClass: DeliveryClass) =>
  `state = 'retrying', attempts_made = 1, window_started_at = now(), last_attempt_at = now(), last_generation = 1,
   next_attempt_at = now() + interval '${next}', class = ${deliveryClass}, due_at = now() + interval '${next}'`;
const RETRY = failed('50 seconds', CLASS.retry);
const FOR_WORKFLOW = `${failed('1 hour', CLASS.undelivered)}, claimed_until = null`;
const WAITS = `class = ${CLASS.blocked}`;

/** Begins its next attempt. */
async function begun(id: string, number = 1): Promise<string> {
  await beginAttempt(sql, { deliveryId: id, number, generation: 1, ownedMs: 60_000 });
  return id;
}

const act = (id: string, action: ActionName, more: Partial<RequestedAction> = {}) =>
  recordOperatorAction(sql, id, { id: action, action, by: 'anna', reason: '', ...more }, defaultRetryPolicy);

/** Where it waits: its class, the time until it is due and until its next attempt, in whole minutes. */
async function rowOf(id: string) {
  const minutes = (column: string) =>
    sql`round(extract(epoch from ${sql(column)} - clock_timestamp()) / 60)::int`;
  const [row] = await sql`
    select state, class, ${minutes('due_at')} as due_in, ${minutes('next_attempt_at')} as next_in, operator_stop, canceled_by,
      dispatched_at is null as queued
    from deliveries where id = ${id}`;
  return row;
}
const claim = async (deliveryClass: DeliveryClass) =>
  (await claimDeliveries(sql, { class: deliveryClass, limit: 10 })).deliveries.map(({ id }) => id);

describe('try now', () => {
  test.each([
    ['waits for its retry', RETRY],
    ['waits for its workflow', FOR_WORKFLOW],
  ])('queues an attempt at once for a delivery that %s', async (_, changes) => {
    const id = await queued(changes);
    expect(await act(id, 'tryNow')).toMatchObject({ accepted: true });
    expect(await rowOf(id)).toMatchObject({ class: CLASS.retry, dueIn: 0, nextIn: 0, queued: true });
    expect(await claim(CLASS.retry)).toEqual([id]);
    await expect.poll(() => woken).toContain('retry');
  });

  test('is refused before the first attempt, which begins as soon as there is room', async () => {
    const id = await queued();
    const before = await rowOf(id);
    expect(await act(id, 'tryNow')).toMatchObject({
      accepted: false,
      message: 'It waits in the queue for its first attempt, which is made as soon as there is room.',
    });
    expect(await rowOf(id)).toEqual(before);
  });

  test('is refused after a 410, unless its webhook has changed since', async () => {
    const id = await begun(await queued());
    await finishAttempt(sql, id, 1, { outcome: 'gone', status: 410 });
    expect(await act(id, 'tryNow')).toMatchObject({ accepted: false, message: 'No attempt is left.' });
    await sql`update webhooks set generation = 2 where id = ${shop.webhookId}`;
    expect(await act(id, 'tryNow')).toMatchObject({ accepted: true });
    expect(await rowOf(id)).toMatchObject({ class: CLASS.retry, dueIn: 0, nextIn: 0 });
  });

  test('is refused while an attempt is under way', async () => {
    const id = await begun(await queued(RETRY), 2);
    expect(await act(id, 'tryNow')).toMatchObject({
      accepted: false,
      message: 'Attempt 2 is under way at this moment.',
    });
    expect(await rowOf(id)).toMatchObject({ nextIn: 1 });
  });
});

describe('a hold', () => {
  test.each([
    ['was never attempted', '', null],
    ['waits for its retry', RETRY, 1],
    ['waits for its workflow', FOR_WORKFLOW, 60],
  ])('sends a delivery that %s to its workflow, without an attempt', async (_, changes, nextIn) => {
    const id = await queued(...(changes === '' ? [] : [changes]));
    expect(await act(id, 'hold')).toMatchObject({ accepted: true });
    expect(await rowOf(id)).toMatchObject({
      class: CLASS.undelivered,
      dueIn: 0,
      nextIn,
      operatorStop: 'hold',
      queued: true,
    });
    for (const each of [CLASS.fresh, CLASS.retry]) expect(await claim(each)).toEqual([]);
    expect(await beginAttempt(sql, { deliveryId: id, number: 1, generation: 1 })).toBeUndefined();
    await expect.poll(() => woken).toContain('undelivered');
    expect(await claim(CLASS.undelivered)).toEqual([id]);
  });

  test('lets an attempt under way finish', async () => {
    const id = await begun(await queued());
    expect(await act(id, 'hold')).toMatchObject({
      accepted: true,
      message: expect.stringContaining('Attempt 1 is under way and is allowed to finish'),
    });
    expect(await finishAttempt(sql, id, 1, accepted)).toBe('delivered');
  });

  test('leaves a blocked delivery where it is', async () => {
    const id = await queued(WAITS);
    expect(await act(id, 'hold')).toMatchObject({ accepted: true });
    expect(await rowOf(id)).toMatchObject({ class: CLASS.blocked, operatorStop: 'hold', state: 'pending' });
  });
});

describe('a resumed delivery', () => {
  test.each<[string, string, DeliveryClass, number]>([
    ['never attempted: in the class in which it was written', 'id = id', CLASS.fresh, 0],
    ['never attempted, of an import', 'bulk = true', CLASS.bulk, 0],
    ['due within a minute: for its retry', RETRY, CLASS.retry, 1],
    ['due since long: for its retry, at once', failed('-1 hour', CLASS.retry), CLASS.retry, -60],
    ['due later: for its workflow', FOR_WORKFLOW, CLASS.undelivered, 0],
  ])('chooses its class from the current row (%s)', async (_, changes, deliveryClass, dueIn) => {
    const id = await queued(changes);
    await act(id, 'hold');
    expect(await act(id, 'resume')).toMatchObject({ accepted: true });
    expect(await rowOf(id)).toMatchObject({ class: deliveryClass, dueIn, operatorStop: null, queued: true });
    await expect
      .poll(() => [...woken].map((work) => CLASS[work as keyof typeof CLASS]))
      .toContain(deliveryClass);
  });

  test('waits for its workflow while its webhook is inactive', async () => {
    const id = await queued();
    await act(id, 'hold');
    await sql`update webhooks set active = false where id = ${shop.webhookId}`;
    expect(await act(id, 'resume')).toMatchObject({
      message: `Resumed, but still held because webhook ${shop.webhookId} is inactive.`,
    });
    expect(await rowOf(id)).toMatchObject({ class: CLASS.undelivered, operatorStop: null });
  });

  test('keeps its class if its attempt is under way', async () => {
    const id = await begun(await queued(RETRY), 2);
    await act(id, 'hold');
    expect(await act(id, 'resume')).toMatchObject({ message: 'Resumed: attempt 2 is under way.' });
    expect(await rowOf(id)).toMatchObject({ class: CLASS.retry, operatorStop: null });
  });

  test('stays blocked if it was', async () => {
    const id = await queued(WAITS);
    await act(id, 'hold');
    expect(await act(id, 'resume')).toMatchObject({
      message: 'Resumed. It waits for its turn in the order of its record.',
    });
    expect(await rowOf(id)).toMatchObject({ class: CLASS.blocked, operatorStop: null });
  });
});

describe('a delivery that is given up', () => {
  test.each([CLASS.fresh, CLASS.recovered])(
    'ends at once without a workflow before its first attempt, and is counted once: class %i',
    async (deliveryClass) => {
      const id = await queued(`class = ${deliveryClass}`);
      expect(await act(id, 'giveUp')).toMatchObject({ accepted: true });
      expect(await rowOf(id)).toMatchObject({
        state: 'canceled',
        canceledBy: 'operator',
        nextIn: null,
        queued: false,
      });
      await act(id, 'giveUp');
      expect(ended).toEqual(['CREATE_ORDER canceled']);
    },
  );

  test.each([RETRY, FOR_WORKFLOW])(
    'ends at once after an attempt, and gets a workflow that shows its end',
    async (changes) => {
      const id = await queued(changes);
      await act(id, 'giveUp');
      expect(await rowOf(id)).toMatchObject({
        state: 'canceled',
        class: CLASS.undelivered,
        dueIn: 0,
        nextIn: null,
        queued: true,
      });
      expect(await claim(CLASS.undelivered)).toEqual([id]);
      expect(ended).toEqual(['CREATE_ORDER canceled']);
    },
  );

  test('records that a user of the e-shop canceled it', async () => {
    const id = await queued();
    await act(id, 'giveUp', { user: true });
    expect(await rowOf(id)).toMatchObject({ canceledBy: 'user' });
  });

  test('is not attempted if it was claimed already', async () => {
    const id = await queued();
    expect(await claim(CLASS.fresh)).toEqual([id]);
    await act(id, 'giveUp');
    expect(await rowOf(id)).toMatchObject({ state: 'canceled' });
    expect(await beginAttempt(sql, { deliveryId: id, number: 1, generation: 1 })).toBeUndefined();
  });

  test('counts as delivered if its attempt under way is accepted, and does not end before', async () => {
    const id = await begun(await queued());
    expect(await act(id, 'giveUp')).toMatchObject({
      accepted: true,
      message: expect.stringContaining('Attempt 1 is under way and is allowed to finish'),
    });
    expect(await rowOf(id)).toMatchObject({ state: 'pending', operatorStop: 'giveUp', queued: true });
    expect(ended).toEqual([]);
    expect(await finishAttempt(sql, id, 1, accepted)).toBe('delivered');
  });

  test('ends while blocked, and those behind it still wait for the first', async () => {
    await sql`update webhooks set ordering = 'record' where id = ${shop.webhookId}`;
    const [first, second, third] = [await queued(), await queued(WAITS), await queued(WAITS)];
    await blocked();
    await act(second, 'giveUp');
    expect(await rowOf(second)).toMatchObject({ state: 'canceled', queued: false });
    expect(await rowOf(third)).toMatchObject({ class: CLASS.blocked });
    expect(await rowOf(first)).toMatchObject({ state: 'pending' });
    expect(ended).toEqual(['CREATE_ORDER canceled']);
  });

  test.each([
    ['before its first attempt', 'id = id'],
    ['after an attempt', RETRY],
  ])('lets the next of its record go: %s', async (_, changes) => {
    await sql`update webhooks set ordering = 'record' where id = ${shop.webhookId}`;
    const [first, second, third] = [await queued(changes), await queued(WAITS), await queued(WAITS)];
    await blocked();
    await act(first, 'giveUp');
    expect(await rowOf(second)).toMatchObject({ class: CLASS.fresh, dueIn: 0 });
    expect(await rowOf(third)).toMatchObject({ class: CLASS.blocked });
    await expect.poll(() => woken).toContain('fresh');
    expect(ended).toEqual(['CREATE_ORDER canceled']);
  });

  test('keeps the next of its record blocked while an attempt is under way', async () => {
    await sql`update webhooks set ordering = 'record' where id = ${shop.webhookId}`;
    const [first, second] = [await begun(await queued()), await queued(WAITS)];
    await blocked();
    await act(first, 'giveUp');
    expect(await rowOf(second)).toMatchObject({ class: CLASS.blocked });
    expect(ended).toEqual([]);
  });
});

/** Numbers the deliveries of the record as they were made. */
async function blocked(): Promise<void> {
  await sql`
    update deliveries d set sequence = n.number
    from (select id, row_number() over (order by id) as number from deliveries) n where n.id = d.id`;
}

test('a delivery that Temporal has keeps its row: its workflow decides', async () => {
  for (const action of ['hold', 'giveUp'] as const) {
    const id = await queued(RETRY, 'dispatched_at = now()');
    const before = await rowOf(id);
    expect(await act(id, action)).toMatchObject({ accepted: true });
    expect(await rowOf(id)).toEqual({ ...before, operatorStop: action });
  }
  expect(ended).toEqual([]);
});
