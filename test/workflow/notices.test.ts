/** Notices to further recipients, from the failure to the message: once each, whatever happens in between. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { noticeWorkflowId } from '../../workflows/notice-types.ts';
import {
  addAddress,
  setNoticeUrl,
  shownByMattermost,
  shownBySlack,
  shownByTeams,
} from '../support/api/notices.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { mailbox } from '../support/mailbox.ts';
import type { StackOptions } from '../support/temporal/delivery-stack.ts';

/** A webhook whose receiver answers 410, mails in memory, and a chat. */
async function started(name: string, options: StackOptions = {}) {
  const { mailer, server, taken: mails } = mailbox();
  const stack = await stackOfTest(name, { mailer, ...options });
  const receiver = await receiverOfTest({ status: 410 });
  const chat = await receiverOfTest();
  const webhook = await stack.createWebhook(receiver.url);
  const subjects = (to: string) => mails.filter((mail) => mail.to === to).map(({ subject }) => subject);
  /** All but the mail of the deactivation to the e-shop's own address. */
  const notices = () =>
    stack.sql<
      {
        id: string;
        kind: string;
        recipient: string;
        outcome: string | null;
        tries: number;
      }[]
    >`
      select id, kind, recipient, outcome, tries
      from notices where kind <> 'deactivated' or recipient <> 'email' order by at, recipient`;
  const untilSettled = (count: number) =>
    stack.until('all notices to be settled', async () => {
      const all = await notices();
      return all.length === count && all.every(({ outcome }) => outcome !== null) && all;
    });
  return { stack, receiver, chat, webhook, mails, server, subjects, notices, untilSettled };
}

const OWN = 'shop@example.test';

test('a notice whose workflow cannot continue is started again at the next check, and sent once', async () => {
  const { stack, server, subjects, notices, untilSettled } = await started('stuck-notice');
  const { sql, eshopId, client } = stack;
  await addAddress(sql, eshopId, 'second@example.test');
  server.isAway = true;
  await stack.untilState(await stack.fireOne('10001'), 'failed');
  const [notice] = await stack.until('the notice', async () => {
    const all = await notices();
    return all.length === 1 && all;
  });
  const workflow = client.workflow.getHandle(noticeWorkflowId(notice?.id ?? ''));
  await stack.until('its workflow', async () => {
    const { type } = await workflow.describe().catch(() => ({ type: '' }));
    return type === 'notifyEshop';
  });
  await stack.stopWorker();
  // Each of its tasks fails, like those of a history that the present code cannot continue.
  const { workflowId } = workflow;
  const { taskQueue } = stack;
  await client.workflow.start('noSuchWorkflow', {
    workflowId,
    taskQueue,
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
  });
  server.isAway = false;
  await stack.startWorker();
  await stack.until('its own workflow', async () => {
    await sql`update notices set check_at = now() where outcome is null and recipient <> 'email'`;
    return (await workflow.describe()).type === 'notifyEshop';
  });
  await untilSettled(1);
  expect(subjects('second@example.test')).toHaveLength(1);
});

test('each recipient gets one notice of the deactivation and one of the recovery', async () => {
  const { stack, receiver, chat, webhook, mails, subjects, notices, untilSettled } = await started('notices');
  const { sql, eshopId } = stack;
  await addAddress(sql, eshopId, 'second@example.test');
  // Named twice, notified once.
  await addAddress(sql, eshopId, 'SHOP@example.test');
  await sql`insert into notice_addresses (eshop_id, address) values (${eshopId}, 'unconfirmed@example.test')`;
  const secret = await setNoticeUrl(stack, eshopId, `${chat.url}/services/T0/B0/key`);

  const failed = await stack.fireOne('10001');
  const deactivated = `Webhook ${webhook.id} (CREATE_ORDER) was deactivated`;
  await stack.untilState(failed, 'failed');
  await untilSettled(2);
  await stack.until('the own mail', async () => subjects(OWN).length === 1);
  expect(subjects(OWN)).toEqual([deactivated]);
  expect(subjects('second@example.test')).toEqual([deactivated]);
  const [first] = await chat.waitFor(1);
  const body = first?.text ?? '';
  for (const shown of [shownBySlack(body), shownByMattermost(body)]) {
    expect(shown).toContain(`Webhook ${webhook.id} (CREATE_ORDER) of Shop was deactivated`);
    expect(shown).toContain('Reason: the receiver responded with 410');
  }
  expect(JSON.parse(body)).toMatchObject({
    kind: 'deactivated',
    eshop: { id: eshopId, name: 'Shop' },
    webhook: { id: webhook.id, webhookType: 'CREATE_ORDER', host: new URL(receiver.url).host },
    failures: 1,
    deliveryId: failed,
    reason: 'gone',
  });
  // As any receiver of Standard Webhooks verifies it.
  const headers = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(first?.headers[name]),
    ]),
  );
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(Object.keys(first?.headers ?? {}).filter((name) => name.startsWith('x-service-'))).toEqual([]);

  // Still inactive, then active and accepted.
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: true });
  await stack.untilState(await stack.fireOne('10002'), 'delivered');
  await untilSettled(5);
  const well = `Webhook ${webhook.id} (CREATE_ORDER) has recovered`;
  expect(subjects(OWN)).toEqual([deactivated, well]);
  expect(subjects('second@example.test')).toEqual([deactivated, well]);
  expect(mails).toHaveLength(4);
  expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(4);
  expect(mails.find(({ subject }) => subject === well)?.text).toMatch(
    /has been working since \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
  );
  expect(JSON.parse(chat.requests[1]?.text ?? '')).toMatchObject({ kind: 'recovered', deliveryId: null });
  // Further successes tell nothing.
  await stack.untilState(await stack.fireOne('10003'), 'delivered');
  expect(await notices()).toHaveLength(5);
  const [one] = await notices();
  expect(await stack.client.workflow.getHandle(noticeWorkflowId(one?.id ?? '')).result()).toEqual({
    outcome: 'sent',
  });
});

test('a recipient without a notice of the failure gets none of the recovery', async () => {
  const { stack, receiver, chat, webhook, mails, server, untilSettled } = await started('notices-unsent');
  server.isAway = true;
  const failed = await stack.fireOne('10001');
  await stack.untilState(failed, 'failed');
  // Since then: they have heard of nothing.
  await addAddress(stack.sql, stack.eshopId, 'late@example.test');
  await setNoticeUrl(stack, stack.eshopId, chat.url, 'teams');
  receiver.respond({ status: 200 });
  await stack.changeWebhook(webhook.id, { active: true });
  await stack.untilState(await stack.fireOne('10002'), 'delivered');
  await stack.until('the decision', async () => {
    const rows = await stack.sql`select from notices where kind = 'recovered'`;
    return rows.length === 3;
  });
  // The e-shop's own address must first get the mail about the deactivation, which still waits.
  expect(mails).toEqual([]);
  await stack.sql`update notices set outcome = 'givenUp', settled_at = now() where kind = 'deactivated'`;
  await stack.sql`update notices set check_at = now()`;
  for (const { id } of await stack.sql<{ id: string }[]>`
    select id from notices where kind = 'recovered' and recipient = 'email'`)
    await stack.until('its workflow', async () =>
      stack.client.workflow
        .getHandle(noticeWorkflowId(id))
        .terminate()
        .then(
          () => true,
          () => false,
        ),
    );
  await stack.sql`update notices set check_at = now()`;
  expect((await untilSettled(3)).map(({ outcome }) => outcome)).toEqual(['dropped', 'dropped', 'dropped']);
  expect(chat.requests).toEqual([]);
});

test('an unavailable URL gets six signed tries, and delays no mail', async () => {
  const { stack, chat, webhook, subjects, untilSettled } = await started('notices-url-away', {
    timings: { noticeWaitsMs: [10, 10, 10, 10, 10] },
  });
  chat.respond({ status: 503 });
  await setNoticeUrl(stack, stack.eshopId, chat.url, 'teams');
  await stack.fireOne('10001');
  const [notice] = await untilSettled(1);
  expect(notice).toMatchObject({ outcome: 'givenUp', tries: 6 });
  expect(chat.requests).toHaveLength(6);
  expect(new Set(chat.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([notice?.id]));
  const shown = shownByTeams(chat.requests[0]?.text ?? '');
  expect(shown[0]).toBe(`Webhook ${webhook.id} (CREATE_ORDER) of Shop was deactivated`);
  await stack.until('the own mail', async () => subjects(OWN).length === 1);
  const [row] = await stack.sql<{ error: string }[]>`select error from notices where recipient = 'url'`;
  expect(row?.error).toContain('HTTP 503');
});

test('a URL that leads to a private address is never called', async () => {
  const { stack, untilSettled } = await started('notices-guarded', {
    timings: { noticeWaitsMs: [10, 10, 10, 10, 10] },
  });
  await setNoticeUrl(stack, stack.eshopId, 'http://169.254.169.254/latest');
  await stack.fireOne('10001');
  expect(await untilSettled(1)).toMatchObject([{ outcome: 'givenUp', tries: 6 }]);
  const [row] = await stack.sql<{ error: string }[]>`select error from notices where recipient = 'url'`;
  expect(row?.error).toMatch(/^destination 169\.254\.169\.254 is in a /);
});
