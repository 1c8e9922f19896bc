/** The activity that mails a warning: what it sends and records, with a real mail server and a real database. */
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import PostalMime from 'postal-mime';
import { beforeEach, expect, test } from 'vitest';
import { createEshop } from '../../src/db/accounts/eshops.ts';
import { decideWarnings } from '../../src/db/incidents/decide.ts';
import { claimNotices } from '../../src/db/notices/pending.ts';
import { setChoice } from '../../src/db/notices/settings.ts';
import { deleteWebhook, setActive } from '../../src/db/webhooks/change.ts';
import { pauseWebhook, resumeWebhook } from '../../src/db/webhooks/pause.ts';
import { warningTimes } from '../../src/domain/incident.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { accepted, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { insertWebhook } from '../support/database/events.ts';
import { databaseOfFile, mailServerOfTest } from '../support/lifetimes.ts';
import { failingWebhook, noticeActivities } from '../support/notice-activities.ts';
import { type MailServer, mailerTo } from '../support/servers/mail-server.ts';

let server: MailServer;
let eshopId: number;
let webhookId: number;
let logged: Record<string, unknown>[];

const { sql } = await databaseOfFile();
beforeEach(async () => {
  server = await mailServerOfTest();
  logged = [];
});

/** A webhook that has failed for seven hours; returns the notice that warns of it. */
async function failing(): Promise<string> {
  ({ eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' }));
  ({ webhookId } = await failingWebhook(sql, eshopId));
  await fireDelivery(sql, { eshopId, webhookId });
  await decideWarnings(sql, warningTimes(defaultRetryPolicy));
  const notices = await claimNotices(sql, 10);
  return notices.find((notice) => notice.webhookId === webhookId)?.id ?? '';
}

async function mailIt(id: string) {
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const { deliverNotice } = noticeActivities({ sql, mailer: mailerTo(server), log });
  return await new MockActivityEnvironment().run(deliverNotice, id);
}

async function recorded(id: string) {
  const [row] = await sql<
    { outcome: string | null; settledAt: Date | null; error: string | null }[]
  >`select outcome, settled_at, error from notices where id = ${id}`;
  return row;
}

test('a warning is mailed in text and HTML, and not repeated with its activity', async () => {
  const id = await failing();
  expect(await mailIt(id)).toEqual({ outcome: 'sent' });
  expect(await mailIt(id)).toEqual({ outcome: 'endedBefore' });
  expect(server.mails).toHaveLength(1);
  const mail = await PostalMime.parse(server.mails[0]?.content ?? '');
  expect(mail).toMatchObject({
    subject: `Webhook ${webhookId} (CREATE_ORDER) is failing`,
    messageId: `<warning-${id}@waybill.local>`,
  });
  for (const expected of [
    '1 attempt',
    '2 deliveries not accepted yet',
    `POST /v21/webhooks/${webhookId}/test`,
  ]) {
    expect(mail.text).toContain(expected);
    expect(mail.html).toContain(expected);
  }
  expect(mail.text).toContain('HTTP 503 from <b>shop.example</b> after 212 ms');
  expect(mail.html).toContain('HTTP 503 from &lt;b&gt;shop.example&lt;/b&gt; after 212 ms');
  expect(await recorded(id)).toMatchObject({ outcome: 'sent' });
});

test('lost secrets are one mail that names all webhooks, even if warnings are turned off', async () => {
  await failing();
  const other = await insertWebhook(sql, eshopId, 'UPDATE_ORDER');
  const gone = await insertWebhook(sql, eshopId, 'UPDATE_ORDER');
  await setChoice(sql, eshopId, { warning: false });
  const lost = [webhookId, other, gone].map((id) => ({
    id,
    secret: true,
    headers: id === other ? ['X-Gateway-Key'] : [],
    signingKey: id === other,
  }));
  const [row] = await sql<{ id: string }[]>`
    insert into notices (eshop_id, kind, recipient, lost_secrets)
    values (${eshopId}, 'lostSecrets', 'email', ${sql.json(lost)}) returning id`;
  await deleteWebhook(sql, eshopId, gone);
  expect(await mailIt(row?.id ?? '')).toEqual({ outcome: 'sent' });
  const mail = await PostalMime.parse(server.mails[0]?.content ?? '');
  for (const expected of [
    `Webhook ${webhookId}`,
    `Webhook ${other}`,
    'X-Gateway-Key',
    `PUT /v21/webhooks/${webhookId}/regenerate-secret`,
    `PUT /v21/webhooks/${other}`,
    'GET /v21/eshop/signing-keys',
  ]) {
    expect(mail.text).toContain(expected);
    expect(mail.html).toContain(expected);
  }
  expect(mail.subject).toBe('Your webhooks need new secrets');
  expect(mail.text).not.toContain(`Webhook ${gone}`);
});

test('a mail about a lost signing key alone asks for no new secret', async () => {
  const lost = [{ id: webhookId, secret: false, headers: [], signingKey: true }];
  const [row] = await sql<{ id: string }[]>`
    insert into notices (eshop_id, kind, recipient, lost_secrets)
    values (${eshopId}, 'lostSecrets', 'email', ${sql.json(lost)}) returning id`;
  expect(await mailIt(row?.id ?? '')).toEqual({ outcome: 'sent' });
  const mail = await PostalMime.parse(server.mails[0]?.content ?? '');
  expect(mail.subject).toBe('The key of your webhooks was lost');
  for (const text of [mail.text, mail.html]) {
    expect(text).toContain(`Webhook ${webhookId}`);
    expect(text).toContain('GET /v21/eshop/signing-keys');
    expect(text).not.toContain('regenerate-secret');
  }
});

test('a mail about a lost notice secret asks for a new one, unless the URL was removed', async () => {
  ({ eshopId } = await createEshop(sql, { name: 'Shop', email: 'orders@shop.example' }));
  const lose = async () => {
    const [row] = await sql<{ id: string }[]>`
      insert into notices (eshop_id, kind, recipient, lost_secrets, lost_notice_secret)
      values (${eshopId}, 'lostSecrets', 'email', '[]', true) returning id`;
    return row?.id ?? '';
  };
  await sql`update eshops set notice_url = 'https://chat.example', notice_secret = 'new' where id = ${eshopId}`;
  expect(await mailIt(await lose())).toEqual({ outcome: 'sent' });
  const mail = await PostalMime.parse(server.mails[0]?.content ?? '');
  for (const text of [mail.text, mail.html]) {
    expect(text).toContain('notices that are posted to your URL');
    expect(text).toContain('PATCH /v21/eshop');
    expect(text).not.toContain('regenerate-secret');
  }
  await sql`update eshops set notice_url = null, notice_secret = null where id = ${eshopId}`;
  expect(await mailIt(await lose())).toEqual({ outcome: 'dropped' });
});

/** A change while the mail server answers slowly. */
async function changedMeanwhile(change: () => Promise<unknown>): Promise<void> {
  const id = await failing();
  server.behavior.refuseRecipient = 451;
  await expect(mailIt(id)).rejects.toThrow(', 451)');
  await change();
  delete server.behavior.refuseRecipient;
  expect(await mailIt(id)).toEqual({ outcome: 'dropped' });
  expect(server.mails).toEqual([]);
  expect(await recorded(id)).toMatchObject({ outcome: 'dropped' });
}

test('a warning is dropped if a delivery was accepted before the mail server was back', () =>
  changedMeanwhile(async () => {
    const good = await fireDelivery(sql, { eshopId, webhookId });
    await makeAttempt(sql, good, 1, accepted);
  }));

test('a warning about a paused webhook waits for the end of the pause', async () => {
  const id = await failing();
  await pauseWebhook(sql, eshopId, webhookId, new Date(Date.now() + 3_600_000));
  await expect(mailIt(id)).rejects.toMatchObject({ type: 'NoticeDeferred' });
  expect(server.mails).toEqual([]);
  await resumeWebhook(sql, eshopId, webhookId);
  expect(await mailIt(id)).toEqual({ outcome: 'sent' });
});

test('a warning is dropped if the webhook was deactivated before the mail server was back', () =>
  changedMeanwhile(() => setActive(sql, eshopId, webhookId, false)));

test('a warning that is refused for a day is given up, with an alarm that names no address', async () => {
  const id = await failing();
  server.behavior.refuseRecipient = 550;
  await expect(mailIt(id)).rejects.toThrow(', 550)');
  await sql`update notices set refused_at = refused_at - interval '25 hours'`;
  expect(await mailIt(id)).toEqual({ outcome: 'refused' });
  expect(await recorded(id)).toMatchObject({ outcome: 'givenUp' });
  expect(logged.filter(({ alarm }) => alarm === 'mailRefused')).toMatchObject([{ webhookId, level: 50 }]);
  expect(JSON.stringify(logged)).not.toContain('shop.example');
});
