/** A warning, from the failed attempt to the mail: once, whatever happens in between. */
import { expect, test } from 'vitest';
import { noticeWorkflowId } from '../../workflows/notice-types.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { mailbox } from '../support/mailbox.ts';

const HOUR_MS = 3_600_000;
/** A single wait of an hour: the failed first attempt is the last one with time for a warning. */
const policy = { initialIntervalMs: HOUR_MS, maxRetries: 1, windowMs: 2 * HOUR_MS };

/** Deliveries to a receiver that is down, and a mail server that may be unavailable. */
async function failing(name: string, { isAway = false, deliveries = 1 } = {}) {
  const { mailer, server, taken } = mailbox({ isAway });
  const stack = await stackOfTest(name, { mailer, policy });
  const receiver = await receiverOfTest({ status: 503 });
  const webhook = await stack.createWebhook(receiver.url);
  const ids: string[] = [];
  for (let order = 0; order < deliveries; order += 1) ids.push(await stack.fireOne(`order ${order}`));
  for (const id of ids) await stack.untilState(id, 'retrying');
  const warnings = () =>
    stack.sql<
      { id: string; outcome: string | null }[]
    >`select id, outcome from notices where kind = 'warning'`;
  const warned = () =>
    stack.until('a warning', async () => {
      const [warning] = await warnings();
      return warning ?? false;
    });
  return { stack, webhook, server, taken, warnings, warned };
}

test('many failing deliveries cause one mail, which is recorded, by a workflow that says so', async () => {
  const { stack, webhook, taken, warnings, warned } = await failing('warned', { deliveries: 5 });
  const { id } = await warned();
  const handle = stack.client.workflow.getHandle(noticeWorkflowId(id));
  await stack.until('the mail', async () => taken.length > 0);
  expect(await handle.result()).toEqual({ outcome: 'sent' });
  expect(taken).toHaveLength(1);
  expect(taken[0]).toMatchObject({ to: 'shop@example.test', messageId: `<warning-${id}@waybill.local>` });
  expect(taken[0]?.text).toContain(`POST /v21/webhooks/${webhook.id}/test`);
  expect(await warnings()).toEqual([{ id, outcome: 'sent' }]);
  // Decided again, it is the same incident.
  await stack.sql`update failures set last_call = (select min(id::text)::uuid from deliveries)`;
  await stack.until('the ledger to be put together', async () => {
    const rows = await stack.sql<{ n: number }[]>`select failures as n from failures`;
    return rows.length === 1 && rows[0]?.n === 5;
  });
  expect(await warnings()).toHaveLength(1);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
});

test('a warning terminated while the mail server is unavailable is mailed once it is back', async () => {
  const { stack, server, taken, warned } = await failing('warning-terminated', { isAway: true });
  const { id } = await warned();
  await stack.until('a try to mail', async () => server.tries > 0);
  await stack.client.workflow.getHandle(noticeWorkflowId(id)).terminate();
  server.isAway = false;
  // A minute later.
  await stack.sql`update notices set check_at = now()`;
  await stack.until('the mail', async () => taken.length > 0);
  expect(await stack.client.workflow.getHandle(noticeWorkflowId(id)).result()).toEqual({ outcome: 'sent' });
  expect(taken).toHaveLength(1);
});
