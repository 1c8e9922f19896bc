/** The records of attempts tell how long a webhook has been failing, and writing them needs no waiting. */
import { expect, test } from 'vitest';
import { recordAttempts } from '../../../src/db/deliveries/results.ts';
import { CLASS } from '../../../src/db/outbox/outbox.ts';
import { replaceWebhook, setActive } from '../../../src/db/webhooks/change.ts';
import { findWebhook } from '../../../src/db/webhooks/webhooks.ts';
import { incidentOf } from '../../../src/domain/incident.ts';
import { defaultRetryPolicy, jitteredWait } from '../../../src/domain/retry-policy.ts';
import {
  accepted,
  attemptRecord,
  beginAttempt,
  fireDelivery,
  makeAttempt,
} from '../../support/database/deliveries.ts';
import { databaseOfFile, shopOfEachTest } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { sql } = database;
const shop = shopOfEachTest(database, 'deliveries', 'attempts', 'failures');

const START = Date.parse('2026-11-20T10:00:00.000Z');
const at = (seconds: number) => new Date(START + seconds * 1_000);
const fire = () => fireDelivery(sql, shop);

/** An attempt that failed this many seconds after the start; the next one is due 25 seconds later. */
async function fail(id: string, number: number, seconds: number, generation = 1): Promise<void> {
  await beginAttempt(sql, { deliveryId: id, number, generation });
  const record = { number, generation, finishedAt: at(seconds), nextAttemptAt: at(seconds + 25) };
  await recordAttempts(sql, [attemptRecord(id, { ...record, error: `failure ${number} at ${seconds}` })]);
}
async function succeed(id: string, number: number, seconds: number): Promise<void> {
  await makeAttempt(sql, id, number, { ...accepted, finishedAt: at(seconds) });
}
async function incident() {
  const row = await findWebhook(sql, shop.eshopId, shop.webhookId);
  if (row === null) throw new Error('no webhook');
  return incidentOf(defaultRetryPolicy, row);
}
const ledger = async () => (await sql`select from failures`).length;

test('failures of several deliveries form one incident, with start, count and last error', async () => {
  const [first, second] = [await fire(), await fire()];
  await fail(first, 1, 0);
  await fail(second, 1, 10);
  await fail(first, 2, 30);
  expect(await incident()).toMatchObject({
    since: at(0).toISOString(),
    failures: 3,
    lastError: 'failure 2 at 30',
  });
});

test('a pause moves the deactivation by its length, and the next attempt to its end', async () => {
  const id = await fire();
  await fail(id, 1, 0);
  await sql`update deliveries set window_started_at = ${at(0)}`;
  const before = Date.parse((await incident())?.deactivationAt ?? '');
  const pause = (from: number, to: number) => sql`
    update webhooks set pauses = array[tstzrange(${at(from)}, ${at(to)})] where id = ${shop.webhookId}`;
  // Over before the next attempt, which stays: the window alone is longer, and has room already.
  await pause(5, 15);
  expect(Date.parse((await incident())?.deactivationAt ?? '')).toBe(before);
  await pause(5, 3_600);
  expect(Date.parse((await incident())?.deactivationAt ?? '') - before).toBe(3_575_000);
});

test('an accepted delivery ends the incident; the next failure begins another', async () => {
  const [first, second] = [await fire(), await fire()];
  await fail(first, 1, 0);
  await succeed(second, 1, 10);
  expect(await incident()).toBeNull();
  await fail(first, 2, 30);
  expect(await incident()).toMatchObject({ since: at(30).toISOString(), failures: 1 });
});

test('an accepted delivery adds a row only if it ends an incident', async () => {
  await succeed(await fire(), 1, 0);
  expect(await ledger()).toBe(0);
  await fail(await fire(), 1, 10);
  await succeed(await fire(), 1, 20);
  const ended = await ledger();
  await succeed(await fire(), 1, 30);
  await succeed(await fire(), 1, 40);
  expect(await ledger()).toBe(ended);
});

test('only failures before the accepted attempt are over when results are recorded together', async () => {
  const [early, good, late] = [await fire(), await fire(), await fire()];
  for (const id of [early, good, late]) {
    await beginAttempt(sql, { deliveryId: id, number: 1, generation: 1 });
  }
  const retried = { nextAttemptAt: at(60) };
  await recordAttempts(sql, [
    attemptRecord(late, { finishedAt: at(20), ...retried }),
    attemptRecord(early, { finishedAt: at(0), ...retried }),
    attemptRecord(good, { ...accepted, finishedAt: at(10) }),
  ]);
  expect(await incident()).toMatchObject({ since: at(20).toISOString(), failures: 1 });
});

test('an activation and another URL end the incident, and earlier failures no longer count', async () => {
  const id = await fire();
  await fail(id, 1, 0);
  await setActive(sql, shop.eshopId, shop.webhookId, false);
  expect(await incident()).toBeNull();
  await setActive(sql, shop.eshopId, shop.webhookId, true);
  expect(await incident()).toBeNull();
  await fail(id, 2, 30, 2);
  expect(await incident()).toMatchObject({ since: at(30).toISOString(), failures: 1 });
  const row = await findWebhook(sql, shop.eshopId, shop.webhookId);
  if (row === null) throw new Error('no webhook');
  await replaceWebhook(sql, shop.eshopId, shop.webhookId, {
    ...row,
    url: 'https://shop.example/other',
  });
  expect(await incident()).toBeNull();
});

test('the deactivation is predicted from the delivery with the fewest remaining waits', async () => {
  const [old, young] = [await fire(), await fire()];
  await sql`update deliveries set window_started_at = ${at(0)} where id = ${old}`;
  await fail(old, 20, 110_000);
  await fail(young, 1, 110_100);
  // The last wait of the older one.
  expect(await incident()).toMatchObject({ deactivationAt: at(110_025).toISOString() });
  // An operator holds it: its retries are not used up.
  await sql`update deliveries set operator_stop = 'hold' where id = ${old}`;
  const waits = Array.from({ length: 19 }, (_, index) => jitteredWait(defaultRetryPolicy, young, index + 2));
  const spent = waits.reduce((time, wait) => time + wait, at(110_125).getTime());
  expect(await incident()).toMatchObject({ deactivationAt: new Date(spent).toISOString() });
});

test('a waiting successor of a superseded delivery also predicts the deactivation', async () => {
  const [old, successor] = [await fire(), await fire()];
  await fail(old, 20, 110_000);
  await sql`
    update deliveries set state = 'superseded', superseded_by = ${successor}, finished_at = now(), next_attempt_at = null where id = ${old}`;
  await sql`
    update deliveries set class = ${CLASS.blocked}, attempts_made = 20, window_started_at = now(), last_attempt_at = ${at(110_000)} where id = ${successor}`;
  const fromNow = async () => Date.parse((await incident())?.deactivationAt ?? '') - Date.now();
  // Its last attempt may follow at once, or after a pause.
  expect(Math.abs(await fromNow())).toBeLessThan(60_000);
  await sql`update webhooks set pauses = array[tstzrange(now(), now() + interval '1 h')] where id = ${shop.webhookId}`;
  expect(Math.abs((await fromNow()) - 3_600_000)).toBeLessThan(60_000);
});

test('failures of one webhook recorded at the same moment do not wait for each other', async () => {
  const [first, second, third] = [await fire(), await fire(), await fire()];
  await fail(first, 1, 0);
  await sql.begin(async (holding) => {
    await beginAttempt(sql, { deliveryId: second, number: 1, generation: 1 });
    await recordAttempts(holding, [attemptRecord(second, { nextAttemptAt: at(60), finishedAt: at(5) })]);
    // The other transaction is still open.
    await sql.begin(async (other) => {
      await beginAttempt(sql, { deliveryId: third, number: 1, generation: 1 });
      await other`set local lock_timeout = '1s'`;
      await recordAttempts(other, [attemptRecord(third, { ...accepted, finishedAt: at(10) })]);
    });
  });
  expect(await incident()).toBeNull();
});
