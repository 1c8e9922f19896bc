/** A deactivation mail is owed, whatever happened to the workflow that was to send it. */
import { afterEach, expect, test } from 'vitest';
import type { Mail, Mailer } from '../../src/mail/mail.ts';
import { startDeliveryStack } from '../support/delivery-stack.ts';
import { loseWorkflow } from '../support/lost-workflows.ts';
import { createReceiver } from '../support/receiver.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A failed delivery whose webhook is inactive and whose workflow waits for a mail server that is away. */
async function unmailed(name: string) {
  const taken: Mail[] = [];
  let tries = 0;
  let isAway = true;
  const mailer: Mailer = {
    async send(mail) {
      tries += 1;
      if (isAway) throw new Error('connect ECONNREFUSED');
      taken.push(mail);
    },
  };
  const stack = await startDeliveryStack(name, {
    mailer,
    policy: { maxRetries: 0 },
    timings: { reconcileIntervalMs: 300, reconcileGraceMs: 1_000 },
  });
  cleanups.push(() => stack.stop());
  const receiver = await createReceiver({ status: 503 });
  cleanups.push(() => receiver.close());
  await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.until('a try to mail', async () => tries > 0);
  const comesBack = () => {
    isAway = false;
  };
  return { stack, receiver, id, taken, comesBack };
}
const repaired = (reason: string) => [{ kind: 'mail', action: 'startedAgain', reason, count: 1 }];

test('terminated while the mail server was away: mailed once, and nothing sent to the receiver again', async () => {
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

test('its history lost while the mail server was away: mailed once', async () => {
  const { stack, id, taken, comesBack } = await unmailed('mail-lost');
  await stack.stopWorker();
  await loseWorkflow(stack.client, stack.workflowId(id));
  comesBack();
  await stack.startWorker();
  await stack.until('the mail', async () => taken.length > 0);
  expect(await stack.untilClosed(id)).toBe('FAILED');
  expect(stack.repaired()).toEqual(repaired('missing'));
  expect(taken).toHaveLength(1);
});
