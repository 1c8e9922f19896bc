/** The history of a delivery (docs/interface.md, D1–D5); test/e2e/all-kinds.test.ts has the requests. */
import { afterEach, expect, test } from 'vitest';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { historyText } from '../support/temporal/history-text.ts';

const stack = await stackOfFile('first-attempt');
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

test('the history contains only identifiers and messages, and no URL path, secret or customer data', async () => {
  let count = 0;
  receiver.respond(() => ({ status: ++count < 3 ? 500 : 200, body: 'answer-of-the-receiver' }));
  const { secret } = await stack.createWebhook(`${receiver.url}/secret-path?token=hidden-token`);
  const id = await stack.fireOne('10004', { eshopOrderId: '10004', recipientName: 'Božena Němcová' });
  await stack.untilClosed(id);
  const history = historyText(await stack.workflow(id).fetchHistory());
  expect(history).toContain('HTTP 500 from 127.0.0.1');
  expect(history).toContain('10004');
  for (const hidden of [
    'secret-path',
    'hidden-token',
    secret,
    'whsec_',
    'Němcová',
    'answer-of-the-receiver',
  ]) {
    expect(history).not.toContain(hidden);
  }
});
