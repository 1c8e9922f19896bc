/** Mails to further addresses share the e-shop's budget, and deferred ones are merged for each. */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import PostalMime from 'postal-mime';
import { beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { decideWarnings } from '../../src/db/incidents/decide.ts';
import { setChoice } from '../../src/db/notices/settings.ts';
import { warningTimes } from '../../src/domain/incident.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import type { NoticeResult } from '../../workflows/delivery-types.ts';
import { addAddress } from '../support/api/notices.ts';
import { accepted, exhaustDelivery, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile, mailServerOfTest } from '../support/lifetimes.ts';
import { failingWebhook, noticeActivities, resultOrWait } from '../support/notice-activities.ts';
import { type MailServer, mailerTo } from '../support/servers/mail-server.ts';

let server: MailServer;
let eshopId: number;
const HOUR = 3_600_000;

const { sql } = await databaseOfFile();
beforeEach(async () => {
  server = await mailServerOfTest();
  ({ eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' }));
});

const activities = (log = pino({ level: 'silent' })) =>
  noticeActivities({ sql, mailer: mailerTo(server), log });

/** @returns the outcome, or for how long it is deferred, in milliseconds */
async function tell(id: string, log?: pino.Logger): Promise<string | number> {
  const activity = (notice: string) => activities(log).deliverNotice(notice);
  const result = await resultOrWait<NoticeResult>(new MockActivityEnvironment().run(activity, id));
  return typeof result === 'number' ? result : result.outcome;
}

const pending = (kind: string) =>
  sql<{ id: string; address: string; webhookId: number }[]>`
    select n.id, a.address, n.webhook_id from notices n join notice_addresses a on a.id = n.address_id
    where n.eshop_id = ${eshopId} and n.kind = ${kind} and n.outcome is null order by n.at, n.id`;

const failing = () => failingWebhook(sql, eshopId);
const decide = () => decideWarnings(sql, warningTimes(defaultRetryPolicy));

test('an accepted but unrecorded notice counts as sent, even if its reason is over by then', async () => {
  const { deliveryId } = await failing();
  await decide();
  const [notice] = await sql<{ id: string }[]>`
    select id from notices where eshop_id = ${eshopId} and kind = 'warning' and recipient = 'email'`;
  const id = notice?.id ?? '';
  await makeAttempt(sql, deliveryId, 2, accepted);
  const again = new MockActivityEnvironment({ heartbeatDetails: [] });
  expect(await again.run((each: string) => activities().deliverNotice(each), id)).toEqual({
    outcome: 'sent',
  });
  expect(server.mails).toHaveLength(0);
  expect(await sql`select from notices where id = ${id} and outcome = 'sent'`).toHaveLength(1);
});

test('a further address that is refused for a day is given up without an alarm', async () => {
  await addAddress(sql, eshopId, 'typo@shop.example');
  await failing();
  await decide();
  const [notice] = await pending('warning');
  const id = notice?.id ?? '';
  server.behavior.refuseRecipient = 550;
  await expect(tell(id)).rejects.toThrow(', 550)');
  await sql`update notices set refused_at = now() - interval '25 hours' where id = ${id}`;
  const logged: unknown[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  expect(await tell(id, log)).toBe('refused');
  expect(logged).toEqual([expect.objectContaining({ noticeId: id, level: 40 })]);
  expect(JSON.stringify(logged)).not.toContain('alarm');
});

test('deactivations beyond the budget are deferred, then one mail to each address tells of them all', async () => {
  // Of twenty mails at once, with six minutes each, sixteen have been sent.
  await sql`update eshops set mails_until = now() + interval '96 minutes' where id = ${eshopId}`;
  for (const address of ['a@shop.example', 'b@shop.example']) await addAddress(sql, eshopId, address);
  for (let index = 0; index < 4; index += 1) {
    const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
    await exhaustDelivery(sql, await fireDelivery(sql, { eshopId, webhookId }));
  }
  const all = await pending('deactivated');
  expect(all).toHaveLength(8);
  for (const { id } of all) await tell(id);
  expect(server.mails).toHaveLength(4);
  const left = await pending('deactivated');
  expect(left).toHaveLength(4);
  await sql`update eshops set mails_until = mails_until - interval '12 minutes' where id = ${eshopId}`;
  for (const { id } of left) await tell(id);
  expect(await pending('deactivated')).toEqual([]);
  expect(server.mails).toHaveLength(6);
  const last = await Promise.all(server.mails.slice(-2).map(({ content }) => PostalMime.parse(content)));
  for (const mail of last) {
    expect(mail.subject).toMatch(/was deactivated, and 1 more$/);
    expect(mail.messageId).toMatch(/^<notice-/);
  }
  expect(
    server.mails
      .slice(-2)
      .map(({ to }) => to[0])
      .sort(),
  ).toEqual(['a@shop.example', 'b@shop.example']);
});

test('a warning that no longer applies is not sent, and neither is its end', async () => {
  await addAddress(sql, eshopId, 'a@shop.example');
  const { deliveryId } = await failing();
  await decide();
  const [warning] = await pending('warning');
  await makeAttempt(sql, deliveryId, 2, accepted);
  expect(await tell(warning?.id ?? '')).toBe('dropped');
  await decide();
  const [well] = await pending('recovered');
  expect(await tell(well?.id ?? '')).toBe('dropped');
  expect(server.mails).toEqual([]);
});

test('a recovery after a warning is one notice, with the time of the accepted delivery', async () => {
  await addAddress(sql, eshopId, 'a@shop.example');
  const { webhookId, deliveryId } = await failing();
  await decide();
  for (const { id } of await pending('warning')) expect(await tell(id)).toBe('sent');
  await decide();
  expect(await pending('recovered')).toEqual([]);
  await makeAttempt(sql, deliveryId, 2, accepted);
  await decide();
  await decide();
  const well = await pending('recovered');
  expect(well).toMatchObject([{ address: 'a@shop.example', webhookId }]);
  expect(await tell(well[0]?.id ?? '')).toBe('sent');
  const mail = await PostalMime.parse(server.mails.at(-1)?.content ?? '');
  const [row] = await sql<{ at: Date }[]>`select finished_at as at from deliveries where id = ${deliveryId}`;
  expect(mail.subject).toBe(`Webhook ${webhookId} (CREATE_ORDER) has recovered`);
  expect(mail.text).toContain(`since ${row?.at.toISOString().slice(0, 16).replace('T', ' ')} UTC`);
  expect(await sql`select from unhealthy_webhooks where webhook_id = ${webhookId}`).toHaveLength(0);
});

test('a failing delivery among accepted ones counts as recovered once it is delivered', async () => {
  await addAddress(sql, eshopId, 'a@shop.example');
  const webhookId = await insertWebhook(sql, eshopId, 'CREATE_ORDER');
  const stubborn = await fireDelivery(sql, { eshopId, webhookId });
  await makeAttempt(sql, stubborn, 1, {
    finishedAt: new Date(Date.now() - HOUR),
    nextAttemptAt: new Date(Date.now() + HOUR),
    error: 'HTTP 500 from shop.example after 9 ms',
  });
  await sql`update failures set last_call = ${stubborn} where webhook_id = ${webhookId}`;
  await decide();
  for (const { id } of await pending('warning')) expect(await tell(id)).toBe('sent');
  await makeAttempt(sql, await fireDelivery(sql, { eshopId, webhookId }), 1, accepted);
  await decide();
  expect(await pending('recovered')).toEqual([]);
  await makeAttempt(sql, stubborn, 2, accepted);
  await decide();
  expect(await pending('recovered')).toHaveLength(1);
});

test('an e-shop gets no notices of a kind that it turned off, even if it did so in between', async () => {
  await addAddress(sql, eshopId, 'a@shop.example');
  await sql`update eshops set recovered_notices = false where id = ${eshopId}`;
  const { deliveryId } = await failing();
  await decide();
  const [warning] = await pending('warning');
  await setChoice(sql, eshopId, { warning: false });
  expect(await tell(warning?.id ?? '')).toBe('dropped');
  await makeAttempt(sql, deliveryId, 2, accepted);
  await decide();
  expect(await sql`select from notices where eshop_id = ${eshopId} and kind = 'recovered'`).toHaveLength(0);
});
