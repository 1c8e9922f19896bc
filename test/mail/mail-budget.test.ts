/** The budget of an e-shop's mails: it does not get a hundred at once, and none is lost. */
import { MockActivityEnvironment } from '@temporalio/testing';
import PostalMime from 'postal-mime';
import { beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { decideWarnings } from '../../src/db/incidents/decide.ts';
import { claimNotices } from '../../src/db/notices/pending.ts';
import { setActive } from '../../src/db/webhooks/change.ts';
import { warningTimes } from '../../src/domain/incident.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import type { Mailer } from '../../src/mail/mail.ts';
import { exhaustDelivery, fireDelivery } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { later } from '../support/later.ts';
import { databaseOfFile, mailServerOfTest } from '../support/lifetimes.ts';
import { failingWebhook, noticeActivities, resultOrWait } from '../support/notice-activities.ts';
import { type MailServer, mailerTo } from '../support/servers/mail-server.ts';

let server: MailServer;
let eshopId: number;

const { sql } = await databaseOfFile();
beforeEach(async () => {
  server = await mailServerOfTest();
  ({ eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' }));
});

const mailsUnderWay = { count: 0 };
const activities = (mailer: Mailer = mailerTo(server)) => noticeActivities({ mailsUnderWay, sql, mailer });

async function deactivated(of = eshopId): Promise<number> {
  const webhookId = await insertWebhook(sql, of, 'CREATE_ORDER');
  await exhaustDelivery(sql, await fireDelivery(sql, { eshopId: of, webhookId }));
  return webhookId;
}

/** Mails; returns for how long the mail is deferred, in milliseconds, or null. */
async function waitOf(mailing: Promise<unknown>): Promise<number | null> {
  const result = await resultOrWait(mailing);
  return typeof result === 'number' ? result : null;
}
/** Sends all mails: first as many as the budget allows, so that none of these lists one deferred later. */
async function waitsOf<T>(pending: readonly T[], mail: (each: T) => Promise<number | null>) {
  const withinBudget = await Promise.all(pending.slice(0, 20).map(mail));
  return [...withinBudget, ...(await Promise.all(pending.slice(20).map(mail)))];
}
const mailBy = (worker: MockActivityEnvironment, webhookId: number) =>
  waitOf(worker.run(activities().mailDeactivation, { webhookId, generation: 1 }));
const mailOf = (webhookId: number) => mailBy(new MockActivityEnvironment(), webhookId);
const minutesLater = (minutes: number) =>
  sql`update eshops set mails_until = mails_until - make_interval(mins => ${minutes})`;

test('25 deactivations at once send twenty mails, then one for the other five', async () => {
  const webhooks: number[] = [];
  for (let index = 0; index < 25; index += 1) webhooks.push(await deactivated());
  const waits = await waitsOf(webhooks, mailOf);
  const deferred = webhooks.filter((_, index) => waits[index] !== null);
  expect(deferred).toHaveLength(5);
  expect(server.mails).toHaveLength(20);
  for (const wait of waits) if (wait !== null) expect(wait).toBeLessThanOrEqual(360_000);

  // Another e-shop has its own budget.
  const { eshopId: other } = await createEshop(sql, { name: 'Other', email: 'other@shop.example' });
  expect(await mailOf(await deactivated(other))).toBeNull();

  const [first = 0, ...others] = deferred;
  await minutesLater(3);
  expect(await mailOf(first)).not.toBeNull();
  expect(server.mails).toHaveLength(21);
  await minutesLater(3);
  expect(await mailOf(first)).toBeNull();
  for (const webhookId of others) expect(await mailOf(webhookId)).toBeNull();
  expect(server.mails).toHaveLength(22);
  const mail = await PostalMime.parse(server.mails.at(-1)?.content ?? '');
  expect(mail.subject).toBe(`Webhook ${first} (CREATE_ORDER) was deactivated, and 4 more`);
  for (const webhookId of others) {
    expect(mail.text).toContain(`Webhook ${webhookId} (CREATE_ORDER) was deactivated:`);
    expect(mail.html).toContain(`Webhook ${webhookId} (CREATE_ORDER) was deactivated:`);
  }
  const pending = await sql`select from notices where outcome is null`;
  expect(pending).toHaveLength(0);
});

test('deferred mails that become due together are merged into one', async () => {
  await sql`update eshops set mails_until = now() + interval '2 hours' where id = ${eshopId}`;
  const webhooks: number[] = [];
  for (let index = 0; index < 10; index += 1) webhooks.push(await deactivated());
  for (const webhookId of webhooks) expect(await mailOf(webhookId)).not.toBeNull();
  await minutesLater(120);
  const waits = await Promise.all(webhooks.map(mailOf));
  expect(waits.filter((wait) => wait === null)).toHaveLength(1);
  expect(server.mails).toHaveLength(1);
  for (const webhookId of webhooks) expect(await mailOf(webhookId)).toBeNull();
  expect(server.mails).toHaveLength(1);
  const mail = await PostalMime.parse(server.mails[0]?.content ?? '');
  for (const webhookId of webhooks) expect(mail.text).toMatch(new RegExp(`Webhook: +${webhookId}: `));
});

test('a deferred mail that is being sent is not merged into another', async () => {
  await sql`update eshops set mails_until = now() + interval '2 hours' where id = ${eshopId}`;
  const first = await deactivated();
  expect(await mailOf(first)).not.toBeNull();
  await minutesLater(120);
  const [answered, answer] = later();
  const [asked, ask] = later();
  const slow = mailerTo(server);
  const mailer: Mailer = {
    async send(mail, signal) {
      ask();
      await answered;
      await slow.send(mail, signal);
    },
  };
  const { mailDeactivation } = activities(mailer);
  const worker = new MockActivityEnvironment();
  const mailing = worker.run(mailDeactivation, { webhookId: first, generation: 1 });
  await asked;
  const second = await deactivated();
  expect(await mailOf(second)).toBeNull();
  answer();
  await mailing;
  const mails = await Promise.all(server.mails.map(({ content }) => PostalMime.parse(content)));
  expect(mails.map(({ subject }) => subject)).toEqual([
    `Webhook ${second} (CREATE_ORDER) was deactivated`,
    `Webhook ${first} (CREATE_ORDER) was deactivated`,
  ]);
});

test('a mail that fails gives back those that were merged into it', async () => {
  await sql`update eshops set mails_until = now() + interval '2 hours' where id = ${eshopId}`;
  const [first, second] = [await deactivated(), await deactivated()];
  for (const webhookId of [first, second]) expect(await mailOf(webhookId)).not.toBeNull();
  await minutesLater(120);
  const mailer: Mailer = { send: () => Promise.reject(new Error('away')) };
  const { mailDeactivation } = activities(mailer);
  const worker = new MockActivityEnvironment();
  await expect(worker.run(mailDeactivation, { webhookId: first, generation: 1 })).rejects.toThrow('away');
  expect(await mailOf(second)).toBeNull();
  expect(await mailOf(first)).toBeNull();
  expect(server.mails).toHaveLength(1);
});

test('merged mails that were only partly recorded are recorded by the next try, and not sent again', async () => {
  await sql`update eshops set mails_until = now() + interval '2 hours' where id = ${eshopId}`;
  const [first, second, third] = [await deactivated(), await deactivated(), await deactivated()];
  for (const webhookId of [first, second, third]) expect(await mailOf(webhookId)).not.toBeNull();
  await minutesLater(6);
  let heartbeatDetails: unknown;
  const worker = new MockActivityEnvironment();
  worker.on('heartbeat', (details: unknown) => {
    heartbeatDetails = JSON.parse(JSON.stringify(details ?? null));
  });
  await sql.unsafe(
    `alter table notices add constraint away check (webhook_id <> ${third} or outcome is null)`,
  );
  await expect(mailBy(worker, first)).rejects.toThrow('away');
  await sql`alter table notices drop constraint away`;
  expect(JSON.stringify(heartbeatDetails)).not.toContain('example');

  expect(await mailBy(new MockActivityEnvironment({ heartbeatDetails }), first)).toBeNull();
  for (const webhookId of [second, third]) expect(await mailOf(webhookId)).toBeNull();
  expect(server.mails).toHaveLength(1);
});

test('a silent mail server holds a quarter of the places, and the other mails follow', async () => {
  const { eshopId: other } = await createEshop(sql, { name: 'Other', email: 'other@shop.example' });
  const webhooks: number[] = [];
  for (let index = 0; index < 40; index += 1)
    webhooks.push(await deactivated(index % 2 === 0 ? eshopId : other));
  const [answered, answer] = later();
  let asked = 0;
  const mailer: Mailer = {
    async send() {
      asked += 1;
      await answered;
    },
  };
  const mailOf = (webhookId: number) => {
    const { mailDeactivation } = activities(mailer);
    return waitOf(new MockActivityEnvironment().run(mailDeactivation, { webhookId, generation: 1 }));
  };
  let ended = 0;
  const mailing = webhooks.map((each) => mailOf(each).finally(() => (ended += 1)));
  await expect.poll(() => asked + ended).toBe(40);
  expect(asked).toBe(20);
  answer();
  const waits = await Promise.all(mailing);
  for (const each of webhooks.filter((_, index) => waits[index] !== null))
    expect(await mailOf(each)).toBeNull();
  expect(asked).toBe(40);
});

test('a mail is not deferred because the clock was set back by an hour', async () => {
  await sql`update eshops set mails_until = now() + interval '3 hours' where id = ${eshopId}`;
  expect(await mailOf(await deactivated())).toBeNull();
});

test('a mail that the server did not accept costs no budget', async () => {
  const webhookId = await deactivated();
  server.behavior.refuseRecipient = 451;
  for (let tries = 0; tries < 22; tries += 1) {
    await expect(mailOf(webhookId)).rejects.toThrow(', 451)');
  }
  delete server.behavior.refuseRecipient;
  expect(await mailOf(webhookId)).toBeNull();
});

test('deferred warnings are merged, except one that no longer applies', async () => {
  for (let index = 0; index < 23; index += 1) await failingWebhook(sql, eshopId);
  await decideWarnings(sql, warningTimes(defaultRetryPolicy));
  const warnings = (await claimNotices(sql, 100)).filter((each) => each.eshopId === eshopId);
  const { deliverNotice } = activities();
  const mail = (id: string) => waitOf(new MockActivityEnvironment().run(deliverNotice, id));
  const waits = await waitsOf(warnings, ({ id }) => mail(id));
  expect(server.mails).toHaveLength(20);
  const [first, second, over] = warnings.filter((_, index) => waits[index] !== null);
  await setActive(sql, eshopId, over?.webhookId ?? 0, false);
  await minutesLater(6);
  for (const { id } of warnings) expect(await mail(id)).toBeNull();
  expect(server.mails).toHaveLength(21);
  const merged = await PostalMime.parse(server.mails.at(-1)?.content ?? '');
  expect(merged.subject).toBe(`Webhook ${first?.webhookId} (CREATE_ORDER) is failing, and 1 more`);
  expect(merged.text).toContain(`Webhook ${second?.webhookId} (CREATE_ORDER) is failing:`);
});
