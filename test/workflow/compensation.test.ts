/** The compensation: one transaction, then the mail (docs/interface.md, D7 and D8). */
import { afterEach, expect, test } from 'vitest';
import type { Mailer } from '../../src/mail/mail.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { until } from '../support/until.ts';

const sent: { to: string; subject: string; text: string; messageId: string }[] = [];
let refusals = 0;
/** A mail server that is unavailable at first. The mailer's own conversation is tested with the mailer. */
const mailer: Mailer = {
  async send(mail) {
    if (refusals > 0) {
      refusals -= 1;
      throw new Error('connect ECONNREFUSED');
    }
    sent.push(mail);
  },
};
const stack = await stackOfFile('compensation', {
  mailer,
  policy: { maxRetries: 2, attemptTimeoutMs: 60_000 },
});
const receiver = await receiverOfFile({ status: 500 });
afterEach(() => stack.retireWebhooks());

test('while the mail server is unavailable the webhook is deactivated; the mail follows', async () => {
  sent.length = 0;
  refusals = 2;
  const webhook = await stack.createWebhook(`${receiver.url}/mail-later`);
  const id = await stack.fireOne('10030');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.text).toContain(`${receiver.url}/mail-later`);
  expect(sent[0]?.text).toContain('HTTP 500');
  expect(sent[0]?.text).toContain(`/webhooks/${webhook.id}/activate`);
});

test('a workflow canceled while the mail server is unavailable still mails', async () => {
  sent.length = 0;
  refusals = Number.POSITIVE_INFINITY;
  await stack.createWebhook(`${receiver.url}/canceled-mail`);
  const id = await stack.fireOne('10035');
  await stack.untilState(id, 'failed');
  await stack.workflow(id).cancel();
  refusals = 0;
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(sent).toHaveLength(1);
  expect(await stack.delivery(id)).toMatchObject({ state: 'failed', canceledBy: null });
});

test('a mail whose result cannot be recorded at once is recorded later, and not sent again', async () => {
  sent.length = 0;
  const webhook = await stack.createWebhook(`${receiver.url}/mailed-once`);
  await stack.sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no room on the disk'; end $$`;
  await stack.sql`
    create trigger refuse before update on notices for each row when (new.outcome = 'sent') execute function refuse()`;
  const id = await stack.fireOne('10036');
  await until('the mail', async () => sent.length === 1);
  await until('it is tried again', async () => {
    const activities = (await stack.describe(id))?.raw.pendingActivities ?? [];
    return activities.some(({ attempt }) => (attempt ?? 0) > 2);
  });
  await stack.sql`drop function refuse() cascade`;
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(sent).toHaveLength(1);
  const [row] = await stack.sql`select outcome from notices where webhook_id = ${webhook.id}`;
  expect(row?.outcome).toBe('sent');
});
