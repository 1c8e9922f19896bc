/** Changes to webhooks, page by page. */
import pino from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { schedulerDefaults } from '../../../src/concurrency/settings.ts';
import { createEshop } from '../../../src/db/accounts/eshops.ts';
import { deleteWebhook } from '../../../src/db/webhooks/change.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
import { dispatchChanges } from '../../../src/relay/changes.ts';
import { createSuspects } from '../../../src/relay/suspects.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { insertWebhook } from '../../support/database/events.ts';
import { databaseOfTest } from '../../support/lifetimes.ts';
import { fireMany } from '../../support/temporal/relay.ts';
import { unwatched } from '../../support/unwatched.ts';

const WEBHOOKS = 20;
let database: TestDatabase;
let eshopId: number;
const signaled: string[] = [];
let logged: { msg: string; webhookId: number }[];
let answers = 0;
/** Whether Temporal is unavailable. */
let failing = false;

beforeEach(async () => {
  database = await databaseOfTest();
  signaled.length = 0;
  logged = [];
  answers = 0;
  failing = false;
  ({ eshopId } = await createEshop(database.sql, { name: 'Mugs', email: 'mugs@shop.example' }));
});

/** Creates webhooks with as many started deliveries each, and deletes them. */
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

/** One round of the changes, by a relay that makes this many calls per tick. @returns the calls that it made */
async function look(backgroundPerTick: number): Promise<number> {
  const before = signaled.length;
  await dispatchChanges({
    sql: database.sql,
    dispatcher: {
      async startDelivery() {},
      async signalWebhookChanged({ id }) {
        if (failing) throw new Error('away');
        signaled.push(id);
      },
      async signalAttemptFailed() {},
      async signalReleaseChanged() {},
    },
    log: pino({}, { write: (line: string) => logged.push(JSON.parse(line)) }),
    stopping: new AbortController().signal,
    onAnswered() {
      answers += 1;
    },
    suspects: createSuspects(),
    watch: unwatched,
    policy: defaultRetryPolicy,
    options: { ...schedulerDefaults, backgroundPerTick },
  });
  return signaled.length - before;
}
const waiting = async () => (await database.sql`select from changes_to_signal`).length;

test('a change without open deliveries is done at the first look', async () => {
  await deleteMany(0);
  for (let looks = 0; looks < WEBHOOKS / schedulerDefaults.backgroundConcurrency; looks += 1)
    expect(await look(1)).toBe(0);
  expect(await waiting()).toBe(0);
  expect(answers).toBe(0);
});

test('the signals of a tick are shared among webhooks in turn', async () => {
  await deleteMany(3);
  expect(await look(8)).toBe(8);
  expect(answers).toBe(8);
  for (let looks = 0; looks < 10; looks += 1) await look(8);
  expect(new Set(signaled).size).toBe(WEBHOOKS * 3);
});

test('a change is logged once, when it begins, even if a page fails', async () => {
  await deleteMany(3);
  const lines = () =>
    logged.filter(({ msg }) => msg === 'passing a change to a webhook on to its open deliveries');
  const numbers = () => new Set(lines().map(({ webhookId }) => webhookId)).size;
  failing = true;
  await expect(look(8)).rejects.toThrow('away');
  expect(numbers()).toBeGreaterThan(0);
  failing = false;
  for (let looks = 0; looks < 12; looks += 1) await look(8);
  expect(await waiting()).toBe(0);
  expect(numbers()).toBe(WEBHOOKS);
  expect(lines()).toHaveLength(WEBHOOKS);
});
