/** The window, Retry-After and 410. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type DeliveryStack, startDeliveryStack } from '../support/delivery-stack.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';

let stack: DeliveryStack;
let receiver: Receiver;
beforeAll(async () => {
  stack = await startDeliveryStack('window', { policy: { windowMs: 15_000, attemptTimeoutMs: 6_000 } });
  receiver = await createReceiver();
});
afterEach(() => stack.retireWebhooks());
afterAll(async () => {
  await receiver?.close();
  await stack?.stop();
});

test('a wait that would not fit the window spends the retries: failed, deactivated and mailed', async () => {
  // Attempts at 0, 8 and 16 s, and none after that: seven seconds in which a busy machine's own lateness decides nothing.
  const policy = { initialIntervalMs: 8_000, coefficient: 1, windowMs: 23_000 };
  const short = await startDeliveryStack('short-window', { policy });
  try {
    const webhook = await short.createWebhook(`${receiver.url}/short`);
    receiver.respond({ status: 503 });
    const id = await short.fireOne('10020');
    expect(await short.untilClosed(id)).toBe('FAILED');
    expect(await short.delivery(id)).toMatchObject({ state: 'failed', attemptsMade: 3 });
    const attempts = await short.attempts(id);
    const first = attempts[0]?.startedAt.getTime() ?? 0;
    for (const attempt of attempts)
      expect(attempt.startedAt.getTime()).toBeLessThanOrEqual(first + policy.windowMs);
    expect(await short.webhook(webhook.id)).toMatchObject({ active: false });
    const mails = await short.mails();
    expect(mails).toHaveLength(1);
    expect(mails[0]).toContain(`/webhooks/${webhook.id}/activate`);
    expect(mails[0]).toContain('after 3 attempts');
  } finally {
    await short.stop();
  }
});

test.each([429, 503])(
  'Retry-After of a %i puts the next attempt off, and no longer than the window allows',
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
    expect(await stack.untilClosed(id)).toBe('COMPLETED');
    const [first, second, third] = await stack.attempts(id);
    const gap = (from?: { finishedAt: Date | null }, to?: { startedAt: Date }) =>
      (to?.startedAt.getTime() ?? 0) - (from?.finishedAt?.getTime() ?? 0);
    expect(gap(first, second)).toBeGreaterThanOrEqual(995);
    expect(gap(second, third)).toBeGreaterThan(1_500);
    const windowEnd = (first?.startedAt.getTime() ?? 0) + stack.policy.windowMs;
    expect(third?.startedAt.getTime()).toBeLessThanOrEqual(windowEnd);
  },
);

test('410 Gone: no more retries, the webhook is deactivated and its e-shop mailed', async () => {
  const before = (await stack.mails()).length;
  const webhook = await stack.createWebhook(`${receiver.url}/gone`);
  receiver.respond({ status: 410 });
  const id = await stack.fireOne('10021');
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(await stack.attempts(id)).toMatchObject([{ outcome: 'gone', status: 410 }]);
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  const [deactivation] =
    await stack.sql`select reason, delivery_id from deactivations where webhook_id = ${webhook.id}`;
  expect(deactivation).toEqual({ reason: 'gone', deliveryId: id });
  expect(await stack.mails()).toHaveLength(before + 1);
});

test('410 from an address that is not the current one any more is a failure like any other', async () => {
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

test.each(['told of it', 'not told of it'])(
  'its webhook inactive until the window ends, %s: expired, and the webhook is not blamed',
  async (told) => {
    const before = (await stack.mails()).length;
    const webhook = await stack.createWebhook(`${receiver.url}/held`);
    receiver.respond({ status: 503, headers: { 'retry-after': '600' } });
    const id = await stack.fireOne('10023');
    await stack.untilState(id, 'retrying');
    if (told === 'told of it') await stack.changeWebhook(webhook.id, { active: false });
    else await stack.sql`update webhooks set active = false where id = ${webhook.id}`;
    expect(await stack.untilClosed(id)).toBe('FAILED');
    expect(await stack.delivery(id)).toMatchObject({ state: 'expired', attemptsMade: 1 });
    expect(
      await stack.sql`select 1 from deactivations where reason <> 'user' and webhook_id = ${webhook.id}`,
    ).toEqual([]);
    // Whoever deactivated it knows: nobody is called.
    expect(stack.logged.filter((line) => line.deliveryId === id && line.alarm !== undefined)).toEqual([]);
    expect(await stack.mails()).toHaveLength(before);
  },
);
