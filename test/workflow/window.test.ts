/** The window, Retry-After and 410. */
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { afterEach, expect, test } from 'vitest';
import { webhookChangedSignal } from '../../workflows/delivery-types.ts';
import { endWindowIn } from '../support/database/windows.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';

// Waits of about 40 ms, 2 s, 100 s: the third fits no window.
const policy = { initialIntervalMs: 40, coefficient: 50, windowMs: 60_000, attemptTimeoutMs: 20_000 };
const stack = await stackOfFile('window', { policy });
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

test('a wait beyond the window spends the retries: failed, deactivated and mailed', async () => {
  const webhook = await stack.createWebhook(`${receiver.url}/short`);
  receiver.respond({ status: 503 });
  const id = await stack.fireOne('10020');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'failed', attemptsMade: 3 });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  const mails = await stack.mails();
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain(`/webhooks/${webhook.id}/activate`);
  expect(mails[0]).toContain('after 3 attempts');
});

test.each([429, 503])(
  'Retry-After of a %i delays the next attempt, but not beyond the window',
  async (status) => {
    await stack.createWebhook(`${receiver.url}/later${status}`);
    let count = 0;
    receiver.respond(() =>
      ++count === 1
        ? { status, headers: { 'retry-after': '1' } }
        : count === 2
          ? { status, headers: { 'retry-after': '86400' } }
          : { status: 200 },
    );
    const id = await stack.fireOne(`1003${status}`);
    await stack.until('the attempt to be held', async () => (await stack.delivery(id)).attemptsMade === 2);
    const [first, second] = await stack.attempts(id);
    const gap = (second?.startedAt.getTime() ?? 0) - (first?.finishedAt?.getTime() ?? 0);
    expect(gap).toBeGreaterThanOrEqual(995);
    // So that the attempt, however long it takes, ends within the window.
    const latest = (first?.startedAt.getTime() ?? 0) + stack.policy.windowMs - stack.policy.attemptTimeoutMs;
    const { nextAttemptAt } = await stack.delivery(id);
    expect(nextAttemptAt?.getTime()).toBeLessThanOrEqual(latest);
    expect(nextAttemptAt?.getTime()).toBeGreaterThan(latest - 1_000);
    // Temporal has the same plan, counted from its receipt of the result: within the window on a slow machine, too.
    const planned = await stack.until('the plan of the engine', async () => {
      const [activity] = (await stack.describe(id))?.raw.pendingActivities ?? [];
      return activity?.attempt === 2 && activity.scheduledTime;
    });
    expect(optionalTsToMs(planned)).toBeLessThan(latest + stack.policy.attemptTimeoutMs);
    expect(optionalTsToMs(planned)).toBeGreaterThan(latest - 2_000);
  },
);

test('a 410 from a former URL is a failure like any other', async () => {
  const webhook = await stack.createWebhook(`${receiver.url}/was-here`);
  receiver.respond(async (request) => {
    if (request.path !== '/was-here') return { status: 200 };
    await stack.changeWebhook(webhook.id, { url: `${receiver.url}/moved-on` });
    return { status: 410 };
  });
  const id = await stack.fireOne('10022');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.attempts(id)).toMatchObject([
    { outcome: 'failure', status: 410 },
    { outcome: 'success' },
  ]);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
});

test('a delivery whose webhook is inactive until the window ends expires without blame', async () => {
  const webhook = await stack.createWebhook(`${receiver.url}/held`);
  receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
  const id = await stack.fireOne('10023');
  await stack.untilState(id, 'retrying');
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  await endWindowIn(stack, id, 2_000);
  await stack.signal(id, webhookChangedSignal);
  await expectBlameless(id, webhook.id);
});

test('a retry that finds its webhook inactive until the window ends expires without blame', async () => {
  const webhook = await stack.createWebhook(`${receiver.url}/unsignaled`);
  receiver.respond(async ({ headers }) => {
    if (headers['x-service-attempt'] === '2')
      await stack.sql`update webhooks set active = false where id = ${webhook.id}`;
    return { status: 503 };
  });
  const id = await stack.fireOne('10024');
  // Temporal waits for the end of the window.
  await stack.until('the second attempt', async () =>
    (await stack.describe(id))?.raw.pendingActivities?.[0]?.lastFailure?.message?.startsWith('Held: '),
  );
  await endWindowIn(stack, id, -1);
  await stack.signal(id, webhookChangedSignal);
  await expectBlameless(id, webhook.id, 2);
});

/** The webhook's user deactivated it: no alarm is raised, and no mail is sent. */
async function expectBlameless(id: string, webhookId: number, attemptsMade = 1): Promise<void> {
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'expired', attemptsMade });
  expect(
    await stack.sql`select 1 from deactivations where reason <> 'user' and webhook_id = ${webhookId}`,
  ).toEqual([]);
  expect(stack.logged.filter((line) => line.deliveryId === id && line.alarm !== undefined)).toEqual([]);
  expect((await stack.mails()).filter((mail) => mail.includes(`/webhooks/${webhookId}/`))).toEqual([]);
}
