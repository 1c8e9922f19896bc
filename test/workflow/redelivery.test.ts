/** A redelivery is a delivery like any other (docs/interface.md, L6). */
import { expect, test } from 'vitest';
import { redeliver } from '../../src/db/outbox/redeliver.ts';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';

const stack = await stackOfFile('redelivery', { policy: { maxRetries: 1 } });
const receiver = await receiverOfFile();

async function redelivered(id: string): Promise<string> {
  const made = await redeliver(stack.sql, stack.eshopId, id);
  if (made.kind !== 'created') throw new Error(`not created: ${made.kind}`);
  stack.notify();
  return made.id;
}

test('a redelivery has its own id and the same body, and if it fails it deactivates the webhook', async () => {
  const webhook = await stack.createWebhook(receiver.url);
  const first = await stack.fireOne('10001');
  expect(await stack.untilClosed(first)).toBe('COMPLETED');
  const second = await redelivered(first);
  expect(await stack.untilClosed(second)).toBe('COMPLETED');
  const [one, two] = receiver.requests;
  expect(two?.text).toBe(one?.text);
  expect(
    receiver.requests.map(({ headers }) => [headers['x-service-delivery'], headers['x-service-attempt']]),
  ).toEqual([
    [first, '1'],
    [second, '1'],
  ]);

  receiver.respond({ status: 500 });
  const third = await redelivered(first);
  expect(await stack.untilClosed(third)).toBe('FAILED');
  expect(await stack.delivery(third)).toMatchObject({ state: 'failed', attemptsMade: 2 });
  expect(await stack.delivery(first)).toMatchObject({ state: 'delivered', attemptsMade: 1 });
  expect(await stack.webhook(webhook.id)).toMatchObject({ active: false });
  expect(await stack.mails()).toHaveLength(1);
  expect(await redeliver(stack.sql, stack.eshopId, first)).toMatchObject({ kind: 'inactive' });
});
