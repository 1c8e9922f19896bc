/** A transaction with work for the relay wakes it after COMMIT; no other transaction does. */
import { beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { createPool } from '../../../src/db/connection/pool.ts';
import { enqueueReleaseChange, enqueueWebhookChange } from '../../../src/db/outbox/changes.ts';
import { OUTBOX_CHANNEL, workNamed } from '../../../src/db/outbox/notify.ts';
import { type Transaction, transaction } from '../../../src/db/transaction.ts';
import { insertShop } from '../../support/database/events.ts';
import { recordEvent } from '../../support/database/record-event.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { eshopId, webhookId } = await insertShop(database.sql);
const woken: MockInstance = vi.spyOn(database.sql.notifier, 'notify').mockClear();
beforeEach(() => void woken.mockClear());

const event = (type: 'CREATE_ORDER' | 'CREATE_RETURN') => (tx: Transaction) =>
  recordEvent(tx, { eshopId, type, entityId: '1', record: {} });

// These two come first: a notification of another test may be sent 20 ms later.
test('a relay is notified on its channel, and finds the committed row', async () => {
  const listener = createPool(database.url, 1);
  const heard = new Promise<string>((resolve) => {
    void listener.listen(
      OUTBOX_CHANNEL,
      resolve,
      () => void transaction(database.sql, (tx) => enqueueReleaseChange(tx, eshopId, 'heard')),
    );
  });
  expect(workNamed(await heard)).toEqual(['releases']);
  const found = await database.sql`select from changes_to_signal where eshop_order_id = 'heard'`;
  expect(found).toHaveLength(1);
  await listener.end();
});

test('a notification names each kind of work once', async () => {
  const listener = createPool(database.url, 1);
  const heard: string[] = [];
  await listener.listen(OUTBOX_CHANNEL, (payload) => void heard.push(payload));
  const { notifier } = listener;
  // The first is sent at once, the other two together 20 ms later.
  notifier.notify(['recovered']);
  notifier.notify(['fresh']);
  notifier.notify(['recoveries', 'fresh']);
  await expect.poll(() => heard).toHaveLength(2);
  expect(heard.map(workNamed)).toEqual([['recovered'], ['fresh', 'recoveries']]);
  notifier.notify(['webhooks']);
  notifier.notify(['releases']);
  await notifier.close();
  await expect.poll(() => heard.slice(2).flatMap(workNamed)).toEqual(['webhooks', 'releases']);
  await listener.end();
});

test('each kind of work wakes the relay, once per transaction', async () => {
  await transaction(database.sql, event('CREATE_ORDER'));
  await transaction(database.sql, (tx) => enqueueWebhookChange(tx, eshopId, webhookId));
  await transaction(database.sql, (tx) => enqueueReleaseChange(tx, eshopId, '1'));
  expect(woken.mock.calls).toEqual([
    [new Set(['fresh']), []],
    [new Set(['webhooks']), []],
    [new Set(['releases']), []],
  ]);
  await transaction(database.sql, async (tx) => {
    await event('CREATE_ORDER')(tx);
    await event('CREATE_ORDER')(tx);
  });
  expect(woken).toHaveBeenCalledTimes(4);
});

test('an event without a webhook wakes nobody, nor does a transaction without writes', async () => {
  await transaction(database.sql, event('CREATE_RETURN'));
  expect(await transaction(database.sql, async (tx) => (await tx`select 1 as one`)[0]?.one)).toBe(1);
  expect(woken).not.toHaveBeenCalled();
});

test('a transaction that is rolled back wakes nobody', async () => {
  const failed = transaction(database.sql, async (tx) => {
    await event('CREATE_ORDER')(tx);
    throw new Error('after all');
  });
  await expect(failed).rejects.toThrow('after all');
  expect(woken).not.toHaveBeenCalled();
});
