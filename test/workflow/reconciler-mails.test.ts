/** A deactivation mail is sent, whatever happened to the workflow that was to send it. */
import { expect, test } from 'vitest';
import { compensate } from '../../src/db/deliveries/compensation.ts';
import type { RetryPolicy } from '../../src/domain/retry-policy.ts';
import type { Mailer } from '../../src/mail/mail.ts';
import { makeAttempt } from '../support/database/deliveries.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';
import { mailbox } from '../support/mailbox.ts';

/** A delivery that fails, and a reconciler that checks often. */
async function failing(name: string, mailer: Mailer, policy: Partial<RetryPolicy>) {
  const stack = await stackOfTest(name, {
    mailer,
    policy,
    timings: { reconcileIntervalMs: 300, reconcileGraceMs: 1_000 },
  });
  const receiver = await receiverOfTest({ status: 503 });
  await stack.createWebhook(receiver.url);
  return { stack, receiver, id: await stack.fireOne('10001') };
}

/** A failed delivery whose webhook is inactive and whose workflow waits for a mail server that is unavailable. */
async function unmailed(name: string) {
  const { mailer, server, taken } = mailbox({ isAway: true });
  const { stack, receiver, id } = await failing(name, mailer, { maxRetries: 0 });
  await stack.until('a try to mail', async () => server.tries > 0);
  const comesBack = () => {
    server.isAway = false;
  };
  return { stack, receiver, id, taken, comesBack };
}
const repaired = (reason: string) => [{ kind: 'mail', action: 'startedAgain', reason, count: 1 }];

test('a workflow terminated before its mail mails once, and sends nothing to the receiver again', async () => {
  const { stack, receiver, id, taken, comesBack } = await unmailed('mail-terminated');
  await stack.workflow(id).terminate();
  comesBack();
  await stack.until('the mail', async () => taken.length > 0);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(stack.repaired()).toEqual(repaired('terminated'));
  expect(taken).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);
  expect(await stack.delivery(id)).toMatchObject({ state: 'failed' });
});

test('a mail server that is unavailable for long needs no repair', async () => {
  const { stack, id, taken, comesBack } = await unmailed('mail-waits');
  await stack.until('a look at the late mail', async () => {
    const looks = await stack.sql`select from notices where check_at > at`;
    return looks.length > 0;
  });
  comesBack();
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(taken).toHaveLength(1);
  expect(stack.repaired()).toEqual([]);
});

test('a workflow restored to before the compensation is woken, and mails', async () => {
  const { mailer, taken } = mailbox();
  const policy = { initialIntervalMs: 600_000, maxRetries: 1, windowMs: 3_600_000 };
  const { stack, receiver, id } = await failing('mail-forgotten', mailer, policy);
  await stack.untilState(id, 'retrying');
  await stack.untilBegun(id);
  await stack.until('its wait', async () => {
    const { events } = await stack.workflow(id).fetchHistory();
    // Not the timer with which it waits for a slow first attempt: that comes before anything is read.
    const read = events?.findIndex((event) => event.activityTaskCompletedEventAttributes) ?? -1;
    return read >= 0 && events?.slice(read).some((event) => event.timerStartedEventAttributes) === true;
  });
  // As the workflow did afterwards, in the part of its history that is lost.
  await makeAttempt(stack.sql, id, 2);
  await compensate(stack.sql, id);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(taken.filter(({ subject }) => subject.includes('was deactivated'))).toHaveLength(1);
  expect(stack.repaired()).toEqual([{ kind: 'mail', action: 'woken', reason: 'asleep', count: 1 }]);
  expect(receiver.requests).toHaveLength(1);
});
