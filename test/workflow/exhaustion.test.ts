/** Retries, and the steps after all have failed (docs/interface.md, D6 and D7). */
import { afterEach, expect, test } from 'vitest';
import { countRecovery } from '../../src/db/recoveries/recoveries.ts';
import { usuallyRecovered } from '../../src/domain/recovery.ts';
import { jitteredWait, waits } from '../../src/domain/retry-policy.ts';
import { receiverOfFile, stackOfFile, stackOfTest } from '../support/lifetimes.ts';

const stack = await stackOfFile('exhaustion', { policy: { attemptTimeoutMs: 15_000 } });
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

test('a broken receiver gets 21 attempts, then its webhook is deactivated and one mail is sent', async () => {
  const url = `${receiver.url}/broken`;
  const webhook = await stack.createWebhook(url);
  receiver.respond(async ({ headers }) => {
    // Saved again unchanged, it gets no further attempts.
    if (headers['x-service-attempt'] === '5') await stack.changeWebhook(webhook.id, { url });
    return { status: 503, body: 'out of order' };
  });
  const id = await stack.fireOne('10001');
  expect(await stack.untilClosed(id)).toBe('FAILED');

  const requests = receiver.requests.filter((request) => request.path === '/broken');
  expect(requests.map((request) => Number(request.headers['x-service-attempt']))).toEqual(
    Array.from({ length: 21 }, (_, index) => index + 1),
  );
  expect(new Set(requests.map((request) => request.headers['x-service-delivery']))).toEqual(new Set([id]));

  const expected = waits(stack.policy).map((_, index) => jitteredWait(stack.policy, id, index + 1));
  const seen = requests.slice(1).map((request, index) => request.at - (requests[index]?.at ?? 0));
  for (const [index, wait] of expected.entries()) {
    expect(seen[index], `wait ${index + 1}`).toBeGreaterThanOrEqual(wait - 5);
  }

  expect(await stack.delivery(id)).toMatchObject({ state: 'failed', attemptsMade: 21, lastStatus: 503 });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false, unregisteredAt: expect.any(Date) });
  const attempts = await stack.attempts(id);
  expect(attempts).toHaveLength(21);
  expect(attempts.at(-1)?.nextAttemptAt).toBeNull();
  const planned = attempts
    .slice(0, -1)
    .map(({ finishedAt, nextAttemptAt }) => Number(nextAttemptAt) - Number(finishedAt));
  expect(planned).toEqual(expected);

  const mails = await stack.mails();
  expect(mails).toHaveLength(1);
  expect(mails[0]).toContain('To: shop@example.test');

  // Its event is older than the deactivation, and among those that the mail says how to recover.
  const { recoverSince } = /recover \{"since": "(?<recoverSince>[^"]+)"\}/.exec(mails[0] ?? '')?.groups ?? {};
  const search = { since: new Date(recoverSince ?? ''), until: null, include: usuallyRecovered };
  const { found } = await countRecovery(stack.sql, {
    eshopId: stack.eshopId,
    webhookId: webhook.id,
    ...search,
  });
  expect(found.count).toBe(1);
});

test('a success of the last attempt leaves the webhook active', async () => {
  const stack = await stackOfTest('exhaustion', { policy: { maxRetries: 2 } });
  const webhook = await stack.createWebhook(`${receiver.url}/late`);
  let count = 0;
  receiver.respond(() => ({ status: ++count < 3 ? 500 : 204 }));
  const id = await stack.fireOne('10002');
  expect(await stack.untilClosed(id)).toBe('COMPLETED');
  expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 3, lastStatus: 204 });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: true, unregisteredAt: null });
  expect(await stack.mails()).toEqual([]);
});
