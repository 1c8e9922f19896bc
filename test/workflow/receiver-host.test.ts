/** The receiver's host as a search attribute: known at the start, and after a change of URL. */
import { expect, test } from 'vitest';
import { receiverHostKey } from '../../workflows/search-attributes.ts';
import { receiverOfTest, stackOfTest } from '../support/lifetimes.ts';

test('the search attribute has the host at the start, and the new one after a change of URL', async () => {
  const stack = await stackOfTest('receiver-host', { policy: { windowMs: 3_600_000 } });
  const receiver = await receiverOfTest({ status: 503, headers: { 'retry-after': '600' } });
  const { id: webhookId } = await stack.createWebhook(receiver.url);
  const id = await stack.fireOne('10001');
  await stack.untilWaiting(id);
  const hostOf = async () => (await stack.describe(id))?.typedSearchAttributes.get(receiverHostKey);
  expect(await hostOf()).toBe(`127.0.0.1:${receiver.port}`);
  await stack.changeWebhook(webhookId, { url: `http://LocalHost:${receiver.port}/elsewhere` });
  await stack.until('the new host', async () => (await hostOf()) === `localhost:${receiver.port}`);
});
