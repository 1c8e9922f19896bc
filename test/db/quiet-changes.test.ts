/** Changes that lead to no attempt, while nobody may be told of them: what looking after them costs meanwhile. */
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { unwatched } from '../../src/attempt/watch.ts';
import { createEshop } from '../../src/db/eshops.ts';
import { deleteWebhook } from '../../src/db/webhooks/webhooks.ts';
import { dispatchChanges } from '../../src/relay/changes.ts';
import type { FanOutPace } from '../../src/relay/fan-out-pace.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertWebhook } from '../support/events.ts';
import { fireMany } from '../support/relay.ts';

const WEBHOOKS = 20;
let database: TestDatabase;
let eshopId: number;
const told: string[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  told.length = 0;
  ({ eshopId } = await createEshop(database.sql, { name: 'Mugs', email: 'mugs@shop.example' }));
});
afterEach(() => database.drop());

/** The webhooks, deleted, with as many deliveries each that their workflows have. */
async function deleteMany(deliveriesEach: number): Promise<void> {
  const { sql } = database;
  for (let index = 0; index < WEBHOOKS; index += 1) {
    const id = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
    await fireMany({ sql, eshopId }, deliveriesEach);
    await sql`update deliveries set dispatched_at = now() where webhook_id = ${id}`;
    await sql`update webhooks set webhook_type = 'UPDATE_ORDER' where id = ${id}`;
    await deleteWebhook(sql, eshopId, id);
  }
}

/** Whoever waits for an attempt would feel it if more were told than this at a time. */
function look(quietly: number): Promise<unknown> {
  const pace: FanOutPace = {
    page: () => 0,
    quietly: () => quietly,
    wakeUp: () => 0,
    observe() {},
  };
  return dispatchChanges(
    {
      sql: database.sql,
      dispatcher: {
        async startDelivery() {},
        async signalWebhookChanged({ id }) {
          told.push(id);
        },
        async signalAttemptFailed() {},
        async signalReleaseChanged() {},
      },
      log: pino({ level: 'silent' }),
      stopping: new AbortController().signal,
      watch: unwatched,
      firstWaitMs: 25_000,
    },
    pace,
  );
}

/** The changes that wait, and how long after a time each is due: other than the present, it does not go on meanwhile. */
const waiting = (since = new Date()) =>
  database.sql<{ inMs: number }[]>`
    select (extract(epoch from due_at - ${since}) * 1000)::int as in_ms from outbox order by due_at`;

test('a change that concerns no open delivery is over at the first look, whatever the pace', async () => {
  await deleteMany(0);
  for (let looks = 0; looks < WEBHOOKS / 5; looks += 1) await look(0);
  expect(await waiting()).toEqual([]);
});

test('the more changes wait, the longer it is until each is looked at again', async () => {
  await deleteMany(1);
  const [begun] = await database.sql<{ at: Date }[]>`select clock_timestamp() as at`;
  await look(0);
  expect(told).toEqual([]);
  const later = (await waiting(begun?.at)).filter(({ inMs }) => inMs > 100);
  expect(later).toHaveLength(5);
  // Five at a time, every quarter of a second: twenty have had their turn after a second.
  for (const { inMs } of later) expect(inMs).toBeGreaterThan(600);
});

test('what may be told goes to those whose turn it is', async () => {
  await deleteMany(1);
  await look(1);
  expect(told).toHaveLength(1);
  await look(5);
  expect(told).toHaveLength(6);
});
