/** What is overdue: attempts that Temporal has and nobody begins, and classes of the queue that nobody takes from. */
import { beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { deferAttempt } from '../../src/db/deliveries/deliveries.ts';
import { CLASS } from '../../src/db/outbox/outbox.ts';
import { type Overdue, readOverdue } from '../../src/db/overdue.ts';
import { beginAttempt, fireDelivery } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile } from '../support/lifetimes.ts';

const { sql } = await databaseOfFile();
const eshopId: number = (await createEshop(sql, { name: 'Shop', email: 'shop@example.test' })).eshopId;
beforeEach(async () => {
  await sql`delete from deliveries`;
});

/** A delivery that Temporal has, with an attempt due an hour ago, to a webhook of its own. */
async function due(): Promise<{ readonly id: string; readonly webhookId: number }> {
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const id = await fireDelivery(sql, { eshopId, webhookId });
  await sql`delete from deliveries where webhook_id <> ${webhookId}`;
  await sql`
    update deliveries set dispatched_at = now() - interval '2 hours', next_attempt_at = now() - interval '1 hour' where id = ${id}`;
  return { id, webhookId };
}
const attemptSeconds = async () => Math.round((await readOverdue(sql)).attemptSeconds / 60) * 60;

test('an attempt that is due and not begun is overdue, even while the reconciler leaves it alone', async () => {
  const { id } = await due();
  expect(await attemptSeconds()).toBe(3_600);
  await sql`update deliveries set check_at = now() + interval '50 minutes' where id = ${id}`;
  expect(await attemptSeconds()).toBe(3_600);
  await sql`update deliveries set next_attempt_at = now() + interval '1 minute' where id = ${id}`;
  expect(await attemptSeconds()).toBe(0);
});

test('an attempt under way is not overdue until its owner is late', async () => {
  const { id } = await due();
  await beginAttempt(sql, { deliveryId: id, number: 1, generation: 1, ownedMs: 60_000 });
  expect(await attemptSeconds()).toBe(0);
  await sql`update attempts set owned_until = now() - interval '1 second' where delivery_id = ${id}`;
  expect(await attemptSeconds()).toBe(3_600);
});

test('a deferred attempt is not overdue', async () => {
  const { id } = await due();
  await deferAttempt(sql, { id, attemptsMade: 0, generation: 1 }, { ms: 60_000, lostMs: 0 });
  expect(await attemptSeconds()).toBe(0);
});

test('a held delivery is not overdue; after an activation it is due from then on', async () => {
  const { id, webhookId } = await due();
  await sql`update deliveries set operator_stop = 'hold' where id = ${id}`;
  expect(await attemptSeconds()).toBe(0);
  await sql`update deliveries set operator_stop = null where id = ${id}`;
  await sql`update webhooks set active = false where id = ${webhookId}`;
  expect(await attemptSeconds()).toBe(0);
  await sql`
    update webhooks set active = true, generation_at = now() - interval '10 minutes' where id = ${webhookId}`;
  expect(await attemptSeconds()).toBe(600);
  await sql`insert into changes_to_signal (kind, eshop_id, webhook_id) values ('webhookChanged', ${eshopId}, ${webhookId})`;
  expect(await attemptSeconds()).toBe(0);
  await sql`delete from changes_to_signal`;
});

test('a delivery of a paused webhook is not overdue, and is due from the end of the pause', async () => {
  const { id, webhookId } = await due();
  const pause = (end: string) => sql`
    update webhooks set pauses = array[tstzrange(now() - interval '2 hours', now() + ${end}::interval)] where id = ${webhookId}`;
  await pause('1 hour');
  expect(await attemptSeconds()).toBe(0);
  await pause('-10 minutes');
  expect(await attemptSeconds()).toBe(600);
  await sql`
    update deliveries set dispatched_at = null, class = ${CLASS.fresh}, due_at = now() - interval '1 hour' where id = ${id}`;
  const fresh = async () => Math.round((await readOverdue(sql)).queue.fresh / 60) * 60;
  expect(await fresh()).toBe(600);
  await pause('1 hour');
  expect(await fresh()).toBe(0);
});

test('each class in the queue reports its first due delivery, of any webhook', async () => {
  const minutes: Record<keyof Overdue['queue'], number> = {
    fresh: 1,
    retry: 2,
    bulk: 3,
    recovered: 4,
    undelivered: 5,
  };
  const classOf = { fresh: 0, retry: 1, bulk: 2, recovered: 3, undelivered: 4 } as const;
  const names = ['fresh', 'retry', 'bulk', 'recovered', 'undelivered'] as const;
  const webhooks = [
    await insertWebhook(sql, eshopId, 'CREATE_ORDER'),
    await insertWebhook(sql, eshopId, 'CREATE_ORDER'),
  ];
  for (const name of names) {
    for (const [index, webhookId] of webhooks.entries()) {
      const id = await fireDelivery(sql, { eshopId, webhookId, entityId: `${name} ${index}` });
      await sql`
        update deliveries set class = ${classOf[name]}, due_at = now() - make_interval(mins => ${index * minutes[name]}) where id = ${id}`;
    }
  }
  // Each event went to both webhooks: of the pair, the one not moved is due now. Delivered and ordered do not count.
  await sql`
    insert into deliveries (id, event_id, eshop_id, webhook_id, event_type, entity_id, class, due_at)
    select gen_random_uuid(), event_id, eshop_id, webhook_id, event_type, entity_id, c, now() - interval '1 day'
    from (select * from deliveries limit 1) d, unnest(array[5, 6]) c`;
  const { queue } = await readOverdue(sql);
  expect(Object.fromEntries(names.map((name) => [name, Math.round(queue[name] / 60)]))).toEqual(minutes);
  await sql`update deliveries set due_at = now() + interval '1 minute'`;
  expect((await readOverdue(sql)).queue).toEqual({
    fresh: 0,
    retry: 0,
    bulk: 0,
    recovered: 0,
    undelivered: 0,
  });
});

test('deliveries of a paused recovery are not due, and do not hide those of another', async () => {
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const id = await fireDelivery(sql, { eshopId, webhookId });
  const [recovery] = await sql<{ id: string }[]>`
    insert into recoveries (id, eshop_id, webhook_id, since, until, include, found)
    values (gen_random_uuid(), ${eshopId}, ${webhookId}, now(), now(), '{failed}', 1) returning id`;
  await sql`
    update deliveries set class = 3, recovery_id = ${recovery?.id ?? ''}, due_at = now() - interval '1 hour' where id = ${id}`;
  const seconds = async () => Math.round((await readOverdue(sql)).queue.recovered / 60) * 60;
  expect(await seconds()).toBe(3_600);
  await sql`update recoveries set state = 'paused'`;
  expect(await seconds()).toBe(0);
  const other = await fireDelivery(sql, { eshopId, webhookId });
  await sql`
    with running as (
      insert into recoveries (id, eshop_id, webhook_id, since, until, include, found, exhausted)
      values (gen_random_uuid(), ${eshopId}, ${webhookId}, now(), now(), '{failed}', 1, true) returning id)
    update deliveries d set class = 3, recovery_id = running.id, due_at = now() - interval '10 minutes' from running where d.id = ${other}`;
  expect(await seconds()).toBe(600);
});
