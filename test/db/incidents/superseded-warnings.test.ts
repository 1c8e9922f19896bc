/** The warning about a superseded delivery applies to the one that continues its count of failures. */
import { beforeEach, expect, test } from 'vitest';
import { decideWarnings } from '../../../src/db/incidents/decide.ts';
import { readWarning } from '../../../src/db/incidents/warnings.ts';
import { claimNotices } from '../../../src/db/notices/pending.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { supersedeRetries } from '../../../src/db/outbox/supersede-retries.ts';
import { accepted, fireDelivery, makeAttempt } from '../../support/database/deliveries.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

let sequence: number;
const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database, 'deliveries', 'attempts', 'failures', 'notices');
beforeEach(async () => {
  await sql`update webhooks set ordering = 'latest' where id = ${shop.webhookId}`;
  sequence = 0;
});

const HOUR = 3_600_000;
const decide = () => decideWarnings(sql, { leadMs: 24 * HOUR, patienceMs: 6 * HOUR });

/** The next event of the record: its delivery waits behind the earlier ones. */
async function next(): Promise<string> {
  const id = await fireDelivery(sql, shop);
  sequence += 1;
  await sql`update deliveries set sequence = ${sequence}, class = ${CLASS.blocked} where id = ${id}`;
  return id;
}

/** A delivery with few retries left. */
async function lastRetries(): Promise<string> {
  const id = await next();
  await makeAttempt(sql, id, 18, { nextAttemptAt: new Date(Date.now() + HOUR), lastCall: true });
  return id;
}

/** A newer event supersedes this one and continues its count; answers its delivery. */
async function replace(id: string): Promise<string> {
  const successor = await next();
  expect(await supersedeRetries(sql, id)).toEqual([id]);
  return successor;
}

async function notice() {
  const [warning] = await sql<{ id: string }[]>`select id from notices`;
  return await readWarning(sql, warning?.id ?? '');
}

test('superseding moves a pending warning to the newest delivery; a success ends it', async () => {
  const first = await lastRetries();
  expect(await decide()).toBe(1);
  expect(await claimNotices(sql, 10)).toHaveLength(1);
  expect(await notice()).toMatchObject({ stillNeeded: true, deliveryId: first });
  const newest = await replace(await replace(first));
  expect(await notice()).toMatchObject({
    stillNeeded: true,
    deliveryId: newest,
    deliverySince: expect.any(Date),
    deliveryAttempts: 18,
    deliveryError: 'HTTP 503',
  });
  await makeAttempt(sql, newest, 19, accepted);
  expect(await notice()).toMatchObject({ stillNeeded: false });
});

test('a blocked successor still needs the warning; one held by an operator does not', async () => {
  const first = await lastRetries();
  expect(await decide()).toBe(1);
  const successor = await replace(first);
  await sql`update deliveries set state = 'pending', class = ${CLASS.blocked}, next_attempt_at = null where id = ${successor}`;
  expect(await notice()).toMatchObject({ stillNeeded: true, deliveryId: successor });
  await sql`update deliveries set operator_stop = 'hold' where id = ${successor}`;
  expect(await notice()).toMatchObject({ stillNeeded: false });
});

test('a warning about a delivery superseded before the decision is about its successor', async () => {
  const successor = await replace(await lastRetries());
  expect(await decide()).toBe(1);
  expect(await notice()).toMatchObject({ stillNeeded: true, deliveryId: successor });
});
