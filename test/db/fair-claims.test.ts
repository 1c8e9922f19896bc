/** Which deliveries a claim takes: by turns of e-shop and webhook, and no more than are attempted at once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { type InFlightLimits, UNBOUNDED } from '../../src/db/outbox/claim.ts';
import { claimDeliveries } from '../../src/db/outbox/claim-deliveries.ts';
import { claimHandedBack, countOverdue } from '../../src/db/outbox/handed-back.ts';
import { markDispatched } from '../../src/db/outbox/outbox.ts';
import { deferAttempt, startWindow } from '../../src/db/webhooks/deliveries.ts';
import { setActive } from '../../src/db/webhooks/webhooks.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { accepted, beginAttempt, finishAttempt } from '../support/deliveries.ts';
import { insertWebhook } from '../support/events.ts';

let database: TestDatabase;
let import_: Queue;
let neighbour: Queue;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.sql`truncate deliveries, attempts`;
  import_ = await createQueue();
  neighbour = await createQueue();
});
afterAll(() => database.drop());

interface Queue {
  readonly eshopId: number;
  readonly webhookId: number;
}

async function createQueue(ofEshop?: number): Promise<Queue> {
  const { sql } = database;
  const eshopId = ofEshop ?? (await createEshop(sql, { name: 'Shop', email: 'shop@example.test' })).eshopId;
  return { eshopId, webhookId: await insertWebhook(sql, eshopId, 'CREATE_ORDER') };
}

/** Lets so many deliveries of a webhook wait, behind what waits already; answers their ids, oldest first. */
async function enqueue({ eshopId, webhookId }: Queue, count: number): Promise<string[]> {
  const rows = await database.sql<{ id: string }[]>`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id)
    select lpad(to_hex((select count(*) from deliveries) + n), 32, '0')::uuid, gen_random_uuid(), ${eshopId}, ${webhookId},
           'CREATE_ORDER', n::text
    from generate_series(1, ${count}::int) n
    returning id`;
  return rows.map(({ id }) => id).sort();
}

const claim = (limit: number, handedOver?: number) =>
  claimDeliveries(database.sql, { limit, ...(handedOver === undefined ? {} : { handedOver }) });

/** The ids that a claim takes. */
async function taken(limit: number, handedOver?: number): Promise<string[]> {
  return (await claim(limit, handedOver)).deliveries.map(({ id }) => id);
}

/** How many of the deliveries that a claim takes belong to each of the queues. */
async function shares(limit: number, queues: readonly Queue[]): Promise<number[]> {
  const { deliveries } = await claim(limit);
  return queues.map((queue) => deliveries.filter(({ webhookId }) => webhookId === queue.webhookId).length);
}

/** Hands over what a claim takes. */
async function handOver(limit: number): Promise<string[]> {
  const ids = await taken(limit);
  await markDispatched(database.sql, ids);
  return ids;
}

const begin = (deliveryId: string) => beginAttempt(database.sql, { deliveryId, number: 1, generation: 1 });

describe('turns', () => {
  test('an e-shop that has little waiting does not wait behind one that has much', async () => {
    await enqueue(import_, 1_500);
    await enqueue(neighbour, 3);
    expect(await shares(6, [import_, neighbour])).toEqual([3, 3]);
  });

  test('a webhook that has little waiting does not wait behind another one of its e-shop', async () => {
    const other = await createQueue(import_.eshopId);
    await enqueue(import_, 1_500);
    await enqueue(other, 3);
    expect(await shares(6, [import_, other])).toEqual([3, 3]);
  });

  test('an e-shop gains nothing by having many webhooks', async () => {
    const many = [import_];
    for (let index = 1; index < 10; index += 1) many.push(await createQueue(import_.eshopId));
    for (const queue of many) await enqueue(queue, 10);
    await enqueue(neighbour, 10);
    expect((await shares(10, [neighbour]))[0]).toBe(5);
  });

  test('what an e-shop has in flight counts as its turns', async () => {
    await enqueue(import_, 100);
    for (const id of await handOver(4)) await begin(id);
    await enqueue(neighbour, 3);
    expect(await shares(3, [import_, neighbour])).toEqual([0, 3]);
  });

  test('where slots are free, several in flight count as one turn', async () => {
    await enqueue(import_, 100);
    for (const id of await handOver(4)) await begin(id);
    await enqueue(neighbour, 3);
    const { deliveries } = await claimDeliveries(database.sql, { limit: 3, perTurn: 4 });
    const of = ({ eshopId }: Queue) => deliveries.filter((delivery) => delivery.eshopId === eshopId).length;
    expect([of(import_), of(neighbour)]).toEqual([1, 2]);
  });

  test('what has its result counts no more', async () => {
    await enqueue(import_, 100);
    for (const id of await handOver(4)) {
      await begin(id);
      await finishAttempt(database.sql, id, 1, accepted);
    }
    await enqueue(neighbour, 100);
    expect(await shares(4, [import_, neighbour])).toEqual([2, 2]);
  });

  test('who is alone gets everything, oldest first', async () => {
    const ids = await enqueue(import_, 60);
    expect(await taken(25)).toEqual(ids.slice(0, 25));
    expect(await taken(100)).toEqual(ids.slice(25));
  });

  test('of more webhooks than a claim takes, none is always last', async () => {
    const queues = [import_, neighbour];
    while (queues.length < 8) queues.push(await createQueue());
    for (const queue of queues) await enqueue(queue, 200);
    const served = new Set<number>();
    // By lot: that one of eight is left out by all of 200 claims has a chance of 10^-11.
    for (let round = 0; round < 200 && served.size < 8; round += 1) {
      const { deliveries } = await claim(1);
      for (const { webhookId } of deliveries) served.add(webhookId);
    }
    expect(served.size).toBe(8);
  });
});

describe('the bound on what is handed over', () => {
  test('is filled and not passed, and what an attempt has begun of makes room', async () => {
    await enqueue(import_, 100);
    const ids = await taken(50, 10);
    await markDispatched(database.sql, ids);
    expect(ids).toHaveLength(10);
    expect(await claim(50, 10)).toMatchObject({ deliveries: [], handedOver: 10 });
    for (const id of ids.slice(0, 3)) await begin(id);
    expect(await taken(50, 10)).toHaveLength(3);
  });

  test('keeps a few places for e-shops that have nothing in flight, and for none of them two', async () => {
    await enqueue(import_, 100);
    await markDispatched(database.sql, await taken(100, 10));
    await enqueue(neighbour, 3);
    const [first, ...none] = (await claim(100, 10)).deliveries;
    expect(first?.eshopId).toBe(neighbour.eshopId);
    expect(none).toEqual([]);
    await markDispatched(database.sql, [first?.id ?? '']);
    expect(await taken(100, 10)).toEqual([]);
    for (let shop = 0; shop < 20; shop += 1) await enqueue(await createQueue(), 1);
    await markDispatched(database.sql, await taken(100, 10));
    expect((await claim(100, 10)).handedOver).toBe(18);
  });

  test('is not filled by deliveries that are held', async () => {
    await enqueue(import_, 10);
    await handOver(10);
    await setActive(database.sql, import_.eshopId, import_.webhookId, false);
    await enqueue(neighbour, 10);
    expect(await taken(50, 10)).toHaveLength(10);
  });

  test('is not filled for ever by deliveries that wait for something of their own', async () => {
    await enqueue(import_, 20);
    const ids = await handOver(10);
    expect(await taken(50, 10)).toHaveLength(0);
    await database.sql`update deliveries set dispatched_at = now() - interval '61 seconds' where id = any(${ids}::uuid[])`;
    expect(await taken(50, 10)).toHaveLength(10);
  });

  test('is not filled by deliveries whose window has begun', async () => {
    await enqueue(import_, 20);
    for (const id of await handOver(10)) await startWindow(database.sql, id);
    expect(await taken(50, 10)).toHaveLength(10);
  });
});

describe('the bounds on what is in flight', () => {
  const bounded = async (inFlight: Partial<InFlightLimits>) => {
    const claimed = await claimDeliveries(database.sql, {
      limit: 50,
      inFlight: { ...UNBOUNDED, ...inFlight },
    });
    return {
      kept: claimed.kept,
      taken: [import_, neighbour].map(
        ({ webhookId }) => claimed.deliveries.filter((each) => each.webhookId === webhookId).length,
      ),
    };
  };
  const hostOf = async ({ webhookId }: Queue) => {
    const [row] = await database.sql<{ host: string }[]>`select host from webhooks where id = ${webhookId}`;
    return row?.host ?? '';
  };

  test.each(['webhook', 'eshop'] as const)(
    'of one %s: what is attempted and has no result counts',
    async (whose) => {
      await enqueue(import_, 20);
      await enqueue(neighbour, 2);
      const inFlight = { [whose]: 5 };
      for (const id of await handOver(6)) await begin(id);
      expect(await bounded(inFlight)).toEqual({ taken: [1, 0], kept: true });
      expect(await bounded(inFlight)).toMatchObject({ kept: true });
    },
  );

  test('of one webhook about which more is known', async () => {
    await enqueue(import_, 20);
    await enqueue(neighbour, 20);
    const webhooks = new Map([[import_.webhookId, 1]]);
    expect(await bounded({ webhook: 5, webhooks })).toEqual({ taken: [1, 5], kept: true });
  });

  test('to one host, whatever webhooks lead there', async () => {
    await enqueue(import_, 20);
    await enqueue(neighbour, 20);
    const host = await hostOf(import_);
    expect(host).toBe('shop.example');
    expect(await bounded({ hosts: new Map([[host, 6]]) })).toEqual({ taken: [3, 3], kept: true });
  });

  test('tell how long the oldest waits that they keep back, unless nothing may be in flight there', async () => {
    await enqueue(import_, 20);
    await database.sql`update deliveries set created_at = now() - interval '7 hours'`;
    const keptMs = async (most: number) => {
      const inFlight = { ...UNBOUNDED, webhooks: new Map([[import_.webhookId, most]]) };
      return (await claimDeliveries(database.sql, { limit: 50, inFlight })).keptMs;
    };
    expect(await keptMs(0)).toBe(0);
    for (let count = 0; count < 2; count += 1) expect(Math.floor((await keptMs(2)) / 3_600_000)).toBe(7);
    expect(await keptMs(50)).toBe(0);
  });

  test('keep nothing back where there is nothing more', async () => {
    await enqueue(import_, 5);
    expect(await bounded({ webhook: 5, host: 5, eshop: 5 })).toEqual({ taken: [5, 0], kept: false });
  });
});

test('what waits for room there fills no bound on what is handed over', async () => {
  await enqueue(import_, 20);
  for (const id of await handOver(10)) await deferAttempt(database.sql, id, 0, 60_000);
  expect(await taken(50, 10)).toHaveLength(10);
});

test('a claim counts what waits, as far as asked for, and not behind receivers that take no more', async () => {
  const countTo = 50;
  const waiting = async (inFlight: InFlightLimits = UNBOUNDED) =>
    (await claimDeliveries(database.sql, { limit: 0, countTo, inFlight })).waiting;
  expect(await waiting()).toBe(0);
  await enqueue(neighbour, 7);
  expect(await waiting()).toBe(7);
  await enqueue(import_, 1_000);
  expect(await waiting()).toBe(50);
  const full = { ...UNBOUNDED, webhooks: new Map([[import_.webhookId, 0]]) };
  expect(await waiting(full)).toBe(7);
  expect((await claim(0)).waiting).toBe(0);
});

test('a claim tells how long the oldest waits, on either side of it', async () => {
  await enqueue(import_, 20);
  await handOver(2);
  await database.sql`
    update deliveries set created_at = now() - interval '7 hours', dispatched_at = dispatched_at - interval '20 seconds'`;
  const { handedOver, handOverMs, waitedMs, more } = await claim(5);
  expect(handedOver).toBe(2);
  // What was handed over more than a minute ago is not counted.
  expect(handOverMs).toBeGreaterThanOrEqual(20_000);
  expect(handOverMs).toBeLessThan(60_000);
  expect(Math.floor(waitedMs / 3_600_000)).toBe(7);
  expect(more).toBe(true);
  expect(await claim(50)).toMatchObject({ more: false });
  expect(await claim(50)).toMatchObject({ deliveries: [], waitedMs: 0, more: false });
});

describe('what batches handed back', () => {
  /** Hands so many deliveries of a webhook back, due after so many seconds each. */
  async function handedBack(queue: Queue, count: number, dueSeconds: number): Promise<string[]> {
    const ids = await enqueue(queue, count);
    await database.sql`
      update deliveries set handed_back_at = now(), attempts_made = 1, next_attempt_at = now() + make_interval(secs => ${dueSeconds})
      where id = any(${ids}::uuid[])`;
    return ids;
  }
  const webhooksOf = async (limit: number) =>
    (await claimHandedBack(database.sql, limit)).map(({ webhookId }) => webhookId).sort((a, b) => a - b);

  test('one e-shop does not wait behind the many of another, though these are due for longer', async () => {
    await handedBack(import_, 300, -60);
    await handedBack(neighbour, 1, -1);
    expect(await webhooksOf(4)).toContain(neighbour.webhookId);
  });

  test('a webhook does not wait behind the many of another one of its e-shop', async () => {
    const other = await createQueue(import_.eshopId);
    await handedBack(import_, 300, -60);
    await handedBack(other, 2, -1);
    expect(await webhooksOf(4)).toEqual([import_, import_, other, other].map(({ webhookId }) => webhookId));
  });

  test('what is due goes before what is not, whoever it belongs to', async () => {
    const later = await handedBack(neighbour, 1, 90);
    const due = await handedBack(import_, 4, -1);
    const first = await claimHandedBack(database.sql, 4);
    expect(first.map(({ id }) => id).sort()).toEqual(due);
    expect((await claimHandedBack(database.sql, 4)).map(({ id }) => id)).toEqual(later);
  });

  test('what is due within a minute waits for its time; what is due later is to be seen in Temporal until then', async () => {
    const inASecond = await handedBack(import_, 1, 1);
    await handedBack(import_, 300, 25);
    const inAnHour = await handedBack(import_, 1, 3_600);
    const claimed = await claimHandedBack(database.sql, 4);
    expect(claimed.map(({ id }) => id).sort()).toEqual([...inASecond, ...inAnHour].sort());
    expect(await claimHandedBack(database.sql, 4)).toEqual([]);
  });

  test('what is late is counted, a first attempt as any other, but nothing that a workflow could not help either', async () => {
    await handedBack(import_, 7, -3);
    await handedBack(import_, 5, 25);
    const unattempted = await handedBack(neighbour, 4, 0);
    await database.sql`
      update deliveries set next_attempt_at = null, attempts_made = 0, handed_back_at = now() - interval '2 seconds'
      where id = any(${unattempted}::uuid[])`;
    const inactive = await createQueue(import_.eshopId);
    await handedBack(inactive, 9, -60);
    await database.sql`update webhooks set active = false where id = ${inactive.webhookId}`;
    const { count, lateMs } = await countOverdue(database.sql);
    expect(count).toBe(11);
    expect(lateMs).toBeGreaterThanOrEqual(3_000);
    expect(lateMs).toBeLessThan(60_000);
  });

  test('what is late does not wait behind what would only be held', async () => {
    const inactive = await createQueue(import_.eshopId);
    await handedBack(inactive, 20, -60);
    await database.sql`update webhooks set active = false where id = ${inactive.webhookId}`;
    await handedBack(neighbour, 1, -1);
    expect(await webhooksOf(1)).toEqual([neighbour.webhookId]);
  });

  test('a failure for good is late as soon as it was handed back', async () => {
    const ids = await handedBack(import_, 1, 0);
    await database.sql`
      update deliveries set next_attempt_at = null, handed_back_at = now() - interval '3 seconds' where id = any(${ids}::uuid[])`;
    expect(await countOverdue(database.sql)).toMatchObject({ count: 1 });
  });

  test('nothing is late where nothing was handed back', async () => {
    expect(await countOverdue(database.sql)).toEqual({ count: 0, lateMs: 0 });
  });
});
