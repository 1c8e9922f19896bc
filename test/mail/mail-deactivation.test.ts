/** The activity that mails a deactivation: what it records, with a real mail server and a real database. */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import PostalMime from 'postal-mime';
import { beforeEach, describe, expect, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { readNotices } from '../../src/db/notices/overview.ts';
import { claimNotices } from '../../src/db/notices/pending.ts';
import { claimLateMails } from '../../src/db/reconciliation.ts';
import { exhaustDelivery, fireDelivery } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile, mailServerOfTest } from '../support/lifetimes.ts';
import { noticeActivities } from '../support/notice-activities.ts';
import { runWaybill } from '../support/programs/waybill-command.ts';
import { type MailServer, mailerTo } from '../support/servers/mail-server.ts';

let server: MailServer;
let webhookId: number;
let deliveryId: string;
let logged: Record<string, unknown>[];

const database = await databaseOfFile();
const { sql } = database;
beforeEach(async () => {
  server = await mailServerOfTest();
  logged = [];
});

/** A webhook that was deactivated this many hours ago, by the database's clock. */
async function deactivated(hoursAgo: number): Promise<void> {
  const { eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' });
  webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  deliveryId = await fireDelivery(sql, { eshopId, webhookId, entityId: '10001' });
  await exhaustDelivery(sql, deliveryId);
  await sql`
    update notices set at = now() - ${hoursAgo} * interval '1 hour' where webhook_id = ${webhookId}`;
}

/** One execution of the activity, as the worker runs it. */
async function mailIt(): Promise<void> {
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const { mailDeactivation } = noticeActivities({ sql, mailer: mailerTo(server), log });
  await new MockActivityEnvironment().run(mailDeactivation, { webhookId, generation: 1 });
}

async function recorded() {
  const [row] = await sql<
    { outcome: string | null; settledAt: Date | null; error: string | null }[]
  >`select outcome, settled_at, error from notices where webhook_id = ${webhookId}`;
  return row;
}

const nothing = { outcome: null, settledAt: null, error: null };
const claimed = async () =>
  (await claimLateMails(sql, 30_000, 100)).filter((mail) => mail.webhookId === webhookId);
const alarms = () => logged.filter(({ alarm }) => alarm !== undefined);

test('a sent mail is recorded, and not repeated with its activity', async () => {
  await deactivated(0);

  await mailIt();
  await mailIt();

  expect(server.mails).toHaveLength(1);
  expect(await recorded()).toMatchObject({ outcome: 'sent', settledAt: expect.any(Date) });
});

test('a mail that was refused for less than a day is tried again, in case the server is fixed', async () => {
  await deactivated(72);
  server.behavior.refuseRecipient = 550;

  await expect(mailIt()).rejects.toThrow(', 550)');

  expect(await recorded()).toMatchObject({ outcome: null });
  expect(alarms()).toEqual([]);

  delete server.behavior.refuseRecipient;
  await mailIt();
  expect(server.mails).toHaveLength(1);
  expect(await recorded()).toMatchObject({ outcome: 'sent' });
});

test.each([
  ['recipient', { refuseRecipient: 550 }, 'the mail server refused the recipient (EENVELOPE, 550)'],
  ['text', { refuseText: 554 }, 'the mail server refused the message (EMESSAGE, 554)'],
])('a mail whose %s is refused for a day is given up, with an alarm', async (_what, behavior, message) => {
  await deactivated(72);
  Object.assign(server.behavior, behavior);
  await expect(mailIt()).rejects.toThrow(message);
  await sql`update notices set refused_at = refused_at - interval '25 hours'`;

  await mailIt();

  expect(await recorded()).toEqual({ outcome: 'givenUp', settledAt: expect.any(Date), error: message });
  expect(alarms()).toEqual([
    expect.objectContaining({
      alarm: 'mailRefused',
      webhookId,
      deliveryId,
      reason: message,
      level: 50,
    }),
  ]);
  expect(JSON.stringify(logged)).not.toContain('shop.example');
});

test('a refusal of our sender is not one of the mail, which is tried again', async () => {
  await deactivated(72);
  server.behavior.refuseSender = 550;
  const message = 'the mail server refused our sender (EENVELOPE, 550)';
  await expect(mailIt()).rejects.toThrow(message);
  await sql`update notices set refused_at = refused_at - interval '25 hours'`;

  await expect(mailIt()).rejects.toThrow(message);

  expect(await recorded()).toMatchObject({ outcome: null });
  expect(alarms()).toEqual([]);
});

test('a mail after a new activation says so, and asks for nothing', async () => {
  await deactivated(3);
  await sql`update webhooks set active = true, generation = 2 where id = ${webhookId}`;

  await mailIt();

  const { text } = await PostalMime.parse(server.mails[0]?.content ?? '');
  expect(text).toContain('It has been activated again since.');
  expect(text).not.toContain('reactivate');
});

test('another failure in between restarts the day of refusals', async () => {
  await deactivated(72);
  server.behavior.refuseRecipient = 550;
  await expect(mailIt()).rejects.toThrow(', 550)');
  await sql`update notices set refused_at = refused_at - interval '25 hours'`;
  server.behavior.refuseRecipient = 451;
  await expect(mailIt()).rejects.toThrow(', 451)');

  server.behavior.refuseRecipient = 550;
  await expect(mailIt()).rejects.toThrow(', 550)');

  expect(await recorded()).toMatchObject({ outcome: null });
});

describe('an address corrected by waybill eshop update', () => {
  const corrected = async () => {
    const [row] = await sql<{ eshopId: number }[]>`
      select eshop_id from webhooks where id = ${webhookId}`;
    const change = ['--eshop', String(row?.eshopId), '--email', 'new@shop.example'];
    return await runWaybill(['eshop', 'update', ...change], { DATABASE_URL: database.url });
  };

  test('a mail that was given up is sent to the new address', async () => {
    await deactivated(72);
    // Its workflow has ended, as after giving up.
    await sql`update deliveries set dispatched_at = now() where id = ${deliveryId}`;
    server.behavior.refuseRecipient = 550;
    await expect(mailIt()).rejects.toThrow(', 550)');
    await sql`update notices set refused_at = refused_at - interval '25 hours'`;
    await mailIt();
    expect(await recorded()).toMatchObject({ outcome: 'givenUp' });
    expect(await claimed()).toEqual([]);

    delete server.behavior.refuseRecipient;
    expect(await corrected()).toMatch(/^1 mail that had been given up will be sent to new@shop\.example\.$/m);

    expect(await claimed()).toHaveLength(1);
    await mailIt();
    expect(server.mails.map(({ to }) => to)).toEqual([['new@shop.example']]);
    expect(await corrected()).not.toContain('given up');
  });

  test('the new address has a day of its own', async () => {
    await deactivated(72);
    server.behavior.refuseRecipient = 550;
    await expect(mailIt()).rejects.toThrow(', 550)');
    await sql`update notices set refused_at = refused_at - interval '25 hours'`;
    expect(await corrected()).not.toContain('given up');
    await expect(mailIt()).rejects.toThrow(', 550)');
    expect(await recorded()).toMatchObject({ outcome: null });
  });

  test('other notices that were given up within a week are sent, too', async () => {
    await deactivated(72);
    const given = async (ago: string) => {
      const [row] = await sql<{ id: string }[]>`
        insert into notices (eshop_id, kind, recipient, at, refused_at, outcome, settled_at, check_at)
        select eshop_id, 'lostSecrets', 'email', now() - ${ago}::interval, now() - ${ago}::interval, 'givenUp', now() - ${ago}::interval, 'infinity'
        from webhooks where id = ${webhookId} returning id`;
      return row?.id ?? '';
    };
    const [recent, old] = [await given('6 days'), await given('8 days')];
    expect(await corrected()).toMatch(/^1 mail that had been given up /m);
    const started = (await claimNotices(sql, 100)).map(({ id }) => id);
    expect(started).toContain(recent);
    expect(started).not.toContain(old);
  });
});

test('a mail about a webhook deleted since then is dropped', async () => {
  await deactivated(3);
  await sql`update webhooks set deleted_at = now() where id = ${webhookId}`;
  await sql`update deliveries set dispatched_at = now() where id = ${deliveryId}`;

  await mailIt();

  expect(server.mails).toEqual([]);
  expect(await recorded()).toMatchObject({ outcome: 'dropped' });
  await sql`update notices set check_at = at where webhook_id = ${webhookId}`;
  expect(await claimed()).toEqual([]);
});

test('an unavailable mail server is tried for longer than a day', async () => {
  // The overview names the error of the oldest one.
  await sql`update notices set outcome = 'dropped', settled_at = now() where outcome is null`;
  await deactivated(72);
  await server.close();

  const why = 'the mail server cannot be reached, or has a TLS certificate that is not accepted (ESOCKET)';
  await expect(mailIt()).rejects.toThrow(why);
  expect(await recorded()).toEqual({ ...nothing, error: why });
  expect((await readNotices(sql)).mails).toMatchObject({
    pending: expect.any(Number),
    lastError: why,
  });
  server = await mailServerOfTest();
});
