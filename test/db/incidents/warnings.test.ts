/** Which e-shop is warned, and when: one warning per webhook and incident, decided from the records. */
import { describe, expect, test } from 'vitest';
import { recordAttempts } from '../../../src/db/deliveries/results.ts';
import { decideWarnings } from '../../../src/db/incidents/decide.ts';
import { readWarning } from '../../../src/db/incidents/warnings.ts';
import { readNotice } from '../../../src/db/notices/notice.ts';
import { recordNoticeSent } from '../../../src/db/notices/outcome.ts';
import { claimNotices, giveBackNotices } from '../../../src/db/notices/pending.ts';
import { setChoice } from '../../../src/db/notices/settings.ts';
import { setActive } from '../../../src/db/webhooks/change.ts';
import { findWebhook } from '../../../src/db/webhooks/webhooks.ts';
import { warningTimes } from '../../../src/domain/incident.ts';
import { defaultRetryPolicy } from '../../../src/domain/retry-policy.ts';
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
const shop = shopOfEachTest(database, 'deliveries', 'attempts', 'failures', 'notices');

const HOUR = 3_600_000;
const terms = { leadMs: 24 * HOUR, patienceMs: 6 * HOUR };
const fire = () => fireDelivery(sql, shop);
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR);
const decide = () => decideWarnings(sql, terms);
const ledger = () =>
  sql<
    { failures: number; lastCall: string | null }[]
  >`select failures, last_call from failures order by until`;

async function fail(id: string, number: number, at: Date, lastCall = false, generation = 1): Promise<void> {
  await beginAttempt(sql, { deliveryId: id, number, generation });
  const record = { number, generation, finishedAt: at, nextAttemptAt: new Date(Date.now() + HOUR), lastCall };
  await recordAttempts(sql, [attemptRecord(id, record)]);
}
const succeed = (id: string, number: number, at: Date) =>
  makeAttempt(sql, id, number, { ...accepted, finishedAt: at });
async function incidentSince() {
  return (await findWebhook(sql, shop.eshopId, shop.webhookId))?.incidentSince ?? null;
}

test('warning times: a day before and after six hours by default, sooner for short policies, or never', () => {
  expect(warningTimes(defaultRetryPolicy)).toEqual(terms);
  expect(warningTimes({ ...defaultRetryPolicy, windowMs: 96 * HOUR, maxRetries: 21 })).toEqual(terms);
  // A single wait of an hour.
  const short = warningTimes({ ...defaultRetryPolicy, initialIntervalMs: HOUR, maxRetries: 1 });
  expect(short).toEqual({
    leadMs: expect.closeTo(HOUR * 0.52, -5),
    patienceMs: expect.closeTo(HOUR * 0.13, -5),
  });
  expect(warningTimes({ ...defaultRetryPolicy, initialIntervalMs: 1_000, maxRetries: 5 })).toBeNull();
});

describe('after six hours without an accepted delivery', () => {
  test('an incident gets one warning, however many deliveries fail, and however long', async () => {
    const [first, second] = [await fire(), await fire()];
    await fail(first, 1, hoursAgo(5.9));
    expect(await decide()).toBe(0);
    await fail(second, 1, hoursAgo(6.1));
    expect(await decide()).toBe(1);
    await fail(second, 2, hoursAgo(0));
    expect(await decide()).toBe(0);
  });

  test('another incident gets another warning', async () => {
    const id = await fire();
    await fail(id, 1, hoursAgo(20));
    expect(await decide()).toBe(1);
    await sql`update notices set at = ${hoursAgo(14)}`;
    await succeed(await fire(), 1, hoursAgo(10));
    expect(await decide()).toBe(0);
    await fail(id, 2, hoursAgo(7));
    expect(await decide()).toBe(1);
    expect(await decide()).toBe(0);
  });

  test('a failure recorded at the same moment as a later success is no incident', async () => {
    const [bad, good] = [await fire(), await fire()];
    // Neither transaction sees the other.
    await beginAttempt(sql, { deliveryId: bad, number: 1, generation: 1 });
    await beginAttempt(sql, { deliveryId: good, number: 1, generation: 1 });
    await sql.begin(async (open) => {
      const failure = { finishedAt: hoursAgo(7), nextAttemptAt: hoursAgo(-1) };
      await recordAttempts(open, [attemptRecord(bad, failure)]);
      await recordAttempts(sql, [attemptRecord(good, { ...accepted, finishedAt: hoursAgo(6.9) })]);
    });
    expect(await incidentSince()).not.toBeNull();
    expect(await decide()).toBe(0);
    expect(await incidentSince()).toBeNull();
  });

  test('no warning without the e-shop’s consent, or for an inactive webhook', async () => {
    await fail(await fire(), 1, hoursAgo(7));
    await setChoice(sql, shop.eshopId, { warning: false });
    expect(await decide()).toBe(0);
    await setChoice(sql, shop.eshopId, { warning: true });
    await setActive(sql, shop.eshopId, shop.webhookId, false);
    expect(await decide()).toBe(0);
  });
});

describe('a day before the retries of a delivery are spent', () => {
  test('a single failing delivery gets one warning although others are accepted', async () => {
    const poisoned = await fire();
    await fail(poisoned, 18, hoursAgo(0), true);
    await succeed(await fire(), 1, hoursAgo(0));
    expect(await incidentSince()).toBeNull();
    expect(await decide()).toBe(1);
    await fail(poisoned, 19, hoursAgo(0), true);
    await succeed(await fire(), 1, hoursAgo(0));
    expect(await decide()).toBe(0);
    const [warning] = await claimNotices(sql, 10);
    const notice = await readWarning(sql, warning?.id ?? '');
    expect(notice).toMatchObject({ stillNeeded: true, deliveryId: poisoned, deliveryAttempts: 19 });
  });

  test('an incident that has had its warning gets no second one', async () => {
    const id = await fire();
    await fail(id, 1, hoursAgo(40));
    expect(await decide()).toBe(1);
    await sql`update notices set at = ${hoursAgo(34)}`;
    await fail(id, 18, hoursAgo(0), true);
    expect(await decide()).toBe(0);
  });
});

describe('compacting the ledger', () => {
  test('merges the failures of an incident into one row, and drops ended and earlier ones', async () => {
    const ids = [await fire(), await fire(), await fire()];
    await fail(ids[0] ?? '', 1, hoursAgo(3));
    await succeed(await fire(), 1, hoursAgo(2.5));
    await fail(ids[1] ?? '', 1, hoursAgo(2));
    await fail(ids[2] ?? '', 1, hoursAgo(1));
    await decide();
    expect(await ledger()).toEqual([{ failures: 2, lastCall: null }]);
    const before = await incidentSince();
    await decide();
    expect(await incidentSince()).toEqual(before);
    await setActive(sql, shop.eshopId, shop.webhookId, false);
    await setActive(sql, shop.eshopId, shop.webhookId, true);
    await decide();
    expect(await ledger()).toEqual([]);
  });

  test('keeps a success of this minute, since an earlier failure may be recorded after it', async () => {
    const [late, good] = [await fire(), await fire()];
    await fail(await fire(), 1, hoursAgo(1));
    await succeed(good, 1, new Date());
    await decide();
    await fail(late, 1, hoursAgo(0.5));
    expect(await incidentSince()).toBeNull();
  });
});

describe('an unsent warning', () => {
  test('is claimed by one process at a time, again after a minute or a return, and never once mailed', async () => {
    await fail(await fire(), 1, hoursAgo(7));
    await decide();
    const [warning] = await claimNotices(sql, 10);
    const id = warning?.id ?? '';
    expect(warning).toMatchObject({ ...shop, webhookType: 'CREATE_ORDER' });
    expect(await claimNotices(sql, 10)).toEqual([]);
    await giveBackNotices(sql, [{ id }]);
    expect(await claimNotices(sql, 10)).toHaveLength(1);
    await sql`update notices set check_at = check_at - interval '1 minute'`;
    expect(await claimNotices(sql, 10)).toHaveLength(1);
    await recordNoticeSent(sql, id);
    await sql`update notices set check_at = now()`;
    expect(await claimNotices(sql, 10)).toEqual([]);
    expect(await readNotice(sql, id)).toMatchObject({ pending: false });
  });

  test('is not needed after a success or an activation', async () => {
    await fail(await fire(), 1, hoursAgo(7));
    await decide();
    const [warning] = await claimNotices(sql, 10);
    const stillNeeded = async () => (await readWarning(sql, warning?.id ?? ''))?.stillNeeded;
    expect(await stillNeeded()).toBe(true);
    await setChoice(sql, shop.eshopId, { warning: false });
    expect(await stillNeeded()).toBe(false);
    await setChoice(sql, shop.eshopId, { warning: true });
    await succeed(await fire(), 1, new Date());
    expect(await stillNeeded()).toBe(false);
  });
});
