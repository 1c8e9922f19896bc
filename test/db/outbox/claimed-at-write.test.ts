/** A process with a relay owns some of the deliveries that it writes from the start, without a claim. */
import { afterEach, expect, test } from 'vitest';
import { claimDeliveries } from '../../../src/db/outbox/claim.ts';
import { recordEvents } from '../../../src/db/outbox/events.ts';
import { keepOrdering, settleOrdering } from '../../../src/db/outbox/keep-ordering.ts';
import type { LocalRelay, RelayWork } from '../../../src/db/outbox/notify.ts';
import { CLASS, type DeliveryClass, type QueuedDelivery } from '../../../src/db/outbox/outbox.ts';
import { type Transaction, transaction } from '../../../src/db/transaction.ts';
import { insertShop } from '../../support/database/events.ts';
import { recordEvent } from '../../support/database/record-event.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const taken: QueuedDelivery[] = [];
const woken: RelayWork[] = [];
let room = true;
let detach = () => {};
const relay: LocalRelay = {
  wake: (work) => void woken.push(work),
  hasRoom: () => room,
  start: (claimed) => void taken.push(...claimed),
  ended() {},
};

const { sql } = await databaseOfFile();
const { eshopId, webhookId } = await insertShop(sql);
afterEach(async () => {
  detach();
  // Wakes that wait for their interval, or for a lease that is given back, would come into the next test.
  await sql.notifier.close();
  taken.length = 0;
  woken.length = 0;
  room = true;
  await sql`delete from deliveries`;
  await sql`update webhooks set ordering = 'none'`;
});

const event = (tx: Transaction) =>
  recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId: '1', record: {} });
const happens = (sequence: number) => ({
  type: 'CREATE_ORDER' as const,
  entityId: '1',
  sequence,
  happenedAt: null,
  snapshot: '{}',
  origin: 'service' as const,
  changed: null,
});
const claimable = async (deliveryClass: DeliveryClass = CLASS.fresh) =>
  (await claimDeliveries(sql, { class: deliveryClass, limit: 10 })).deliveries.map(({ id }) => id);

test('a relay with room gets the delivery as if claimed, and no other process can claim it', async () => {
  detach = sql.notifier.attach(relay);
  await transaction(sql, event);
  detach();
  expect(taken).toHaveLength(1);
  expect(woken).toEqual([]);
  expect(await claimable()).toEqual([]);
  // If that process has died since.
  await sql`update deliveries set claimed_until = now() - interval '1 second'`;
  const claimed = await claimDeliveries(sql, { class: CLASS.fresh, limit: 10 });
  expect(claimed.deliveries).toEqual(taken.map((each) => ({ ...each, claimId: expect.any(String) })));
  // That process may only be late.
  expect(claimed.deliveries[0]?.claimId).not.toBe(taken[0]?.claimId);
  expect(taken[0]).toMatchObject({ eshopId, webhookId, state: 'pending', isBlocked: false });
});

test('a relay gets nothing from a transaction that is rolled back', async () => {
  detach = sql.notifier.attach(relay);
  const failed = transaction(sql, async (tx) => {
    await event(tx);
    throw new Error('after all');
  });
  await expect(failed).rejects.toThrow('after all');
  detach();
  expect(taken).toEqual([]);
});

test('a relay without room is woken, and the delivery waits in the queue', async () => {
  room = false;
  detach = sql.notifier.attach(relay);
  await transaction(sql, event);
  await expect.poll(() => woken).toEqual(['fresh']);
  detach();
  expect(taken).toEqual([]);
  expect(await claimable()).toHaveLength(1);
});

test('an ordered webhook’s relay gets the first delivery of a record, then the next once that has ended', async () => {
  await sql`update webhooks set ordering = 'record'`;
  detach = sql.notifier.attach(relay);
  await transaction(sql, (tx) => recordEvents(tx, eshopId, [happens(1), happens(2)]));
  await transaction(sql, (tx) => recordEvents(tx, eshopId, [happens(3)]));
  const [first] = taken;
  expect(taken).toHaveLength(1);
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.fresh, limit: 10 });
  expect(deliveries.map(({ isBlocked }) => isBlocked)).toEqual([true, true]);
  expect(await keepOrdering(sql, deliveries)).toEqual([]);
  await sql`update deliveries set state = 'delivered', finished_at = now() where id = ${first?.id ?? null}`;
  await settleOrdering(sql, { records: [String(first?.id)] });
  expect(taken.map(({ id }) => id)).toEqual([first?.id, deliveries[0]?.id]);
  expect(await claimable()).toEqual([]);

  // The third has no room here: a relay is woken for it.
  await sql`update deliveries set state = 'delivered', finished_at = now() where id = ${deliveries[0]?.id ?? null}`;
  room = false;
  woken.length = 0;
  await settleOrdering(sql, { records: [String(deliveries[0]?.id)] });
  await expect.poll(() => woken).toContain('fresh');
  detach();
  expect(taken).toHaveLength(2);
  expect(await claimable()).toEqual([deliveries[1]?.id]);
});

test('imported deliveries wait behind fresh ones, even as the next of their record', async () => {
  await sql`update webhooks set ordering = 'record'`;
  detach = sql.notifier.attach(relay);
  await transaction(sql, (tx) => recordEvents(tx, eshopId, [happens(1), happens(2)], CLASS.bulk));
  await expect.poll(() => woken).toEqual(['bulk']);
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.bulk, limit: 10 });
  const [first, second] = deliveries;
  expect(await keepOrdering(sql, deliveries)).toEqual([first]);
  await sql`
    update deliveries set state = 'delivered', finished_at = now(), dispatched_at = now() where id = ${first?.id ?? null}`;
  woken.length = 0;
  await settleOrdering(sql, { records: [String(first?.id)] });
  expect(taken).toEqual([]);
  expect(await claimable()).toEqual([]);
  expect(await claimable(CLASS.bulk)).toEqual([second?.id]);
  await expect.poll(() => woken).toContain('bulk');
  detach();
});

test('the next of a record in a recovery waits for a claim, which a pause of the recovery prevents', async () => {
  const [recovery] = await sql<{ id: string }[]>`
    insert into recoveries (id, eshop_id, webhook_id, since, until, include, found)
    values (gen_random_uuid(), ${eshopId}, ${webhookId}, now(), now(), '{missed}', 2) returning id`;
  await sql`update webhooks set ordering = 'record'`;
  await transaction(sql, (tx) => recordEvents(tx, eshopId, [happens(1), happens(2)]));
  await sql`update deliveries set recovery_id = ${recovery?.id ?? null}, class = ${CLASS.recovered}`;
  const { deliveries } = await claimDeliveries(sql, { class: CLASS.recovered, limit: 10 });
  const [first, second] = deliveries;
  expect(await keepOrdering(sql, deliveries)).toEqual([first]);
  await sql`
    update deliveries set state = 'delivered', finished_at = now(), dispatched_at = now() where id = ${first?.id ?? null}`;
  await sql`update recoveries set state = 'paused'`;
  detach = sql.notifier.attach(relay);
  await settleOrdering(sql, { records: [String(first?.id)] });
  expect(taken).toEqual([]);
  expect(await claimable(CLASS.recovered)).toEqual([]);
  await sql`update recoveries set state = 'running'`;
  expect(await claimable(CLASS.recovered)).toEqual([second?.id]);
});

test('a delivery written by a process without a relay waits in the queue', async () => {
  await transaction(sql, event);
  expect(await claimable()).toHaveLength(1);
});
