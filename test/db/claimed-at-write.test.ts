/** What a process with a relay writes it may have from the start; nobody has to claim it. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createEshop } from '../../src/db/eshops.ts';
import { claimDeliveries } from '../../src/db/outbox/claim.ts';
import { type LocalRelay, notifierOf, type RelayWork } from '../../src/db/outbox/notify.ts';
import { QUEUE, type QueuedDelivery } from '../../src/db/outbox/outbox.ts';
import { type Transaction, transaction } from '../../src/db/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';
import { recordEvent } from '../support/record-event.ts';

let database: TestDatabase;
let eshopId: number;
let webhookId: number;
const taken: QueuedDelivery[] = [];
const woken: RelayWork[] = [];
let room = true;
const relay: LocalRelay = {
  wake: (work) => void woken.push(work),
  hasRoom: () => room,
  take: (claimed) => void taken.push(...claimed),
};

beforeAll(async () => {
  database = await createTestDatabase();
  ({ eshopId } = await createEshop(database.sql, { name: 'Shop', email: 'shop@example.test' }));
  webhookId = await insertWebhook(database.sql, eshopId, 'CREATE_ORDER');
});
afterEach(async () => {
  taken.length = 0;
  woken.length = 0;
  room = true;
  await database.sql`delete from deliveries`;
  await database.sql`update webhooks set ordering = 'none'`;
});
afterAll(() => database.drop());

const event = (tx: Transaction) =>
  recordEvent(tx, { eshopId, type: 'CREATE_ORDER', entityId: '1', record: {} });
const claimable = async () =>
  (await claimDeliveries(database.sql, { queue: QUEUE.fresh, limit: 10 })).deliveries.map(({ id }) => id);

test('with room the relay of the process gets it as a claim would find it, and no other claims it', async () => {
  const detach = notifierOf(database.sql).attach(relay);
  await transaction(database.sql, event);
  detach();
  expect(taken).toHaveLength(1);
  expect(woken).toEqual([]);
  expect(await claimable()).toEqual([]);
  // Whatever became of that process.
  await database.sql`update deliveries set claimed_until = now() - interval '1 second'`;
  const claimed = await claimDeliveries(database.sql, { queue: QUEUE.fresh, limit: 10 });
  expect(claimed.deliveries).toEqual(taken);
  expect(taken[0]).toMatchObject({ eshopId, webhookId, state: 'pending', ordered: false });
});

test('what is rolled back nobody gets', async () => {
  const detach = notifierOf(database.sql).attach(relay);
  const failed = transaction(database.sql, async (tx) => {
    await event(tx);
    throw new Error('after all');
  });
  await expect(failed).rejects.toThrow('after all');
  detach();
  expect(taken).toEqual([]);
});

test.each([
  [
    'without room',
    async () => {
      room = false;
    },
  ],
  ['of a webhook with an order', () => database.sql`update webhooks set ordering = 'record'`],
])('%s it waits in the queue, and the relay is woken', async (_, prepare) => {
  await prepare();
  const detach = notifierOf(database.sql).attach(relay);
  await transaction(database.sql, event);
  await expect.poll(() => woken).toEqual(['deliveries']);
  detach();
  expect(taken).toEqual([]);
  expect(await claimable()).toHaveLength(1);
});

test('without a relay in the process it waits in the queue', async () => {
  await transaction(database.sql, event);
  expect(await claimable()).toHaveLength(1);
});
