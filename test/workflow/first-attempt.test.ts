/** The first attempt, if it is accepted (docs/interface.md, D1–D5). */
import { afterEach, expect, test } from 'vitest';
import { receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { historyText } from '../support/temporal/history-text.ts';

const stack = await stackOfFile('first-attempt');
const receiver = await receiverOfFile();
afterEach(() => stack.retireWebhooks());

test('a POST webhook gets the entity in its payload version, a GET webhook its identifier; the workflow completes', async () => {
  receiver.respond({ status: 200 });
  await stack.createWebhook(`${receiver.url}/strings`);
  await stack.createWebhook(`${receiver.url}/numbers`, { payloadVersion: 'v21' });
  await stack.createWebhook(`${receiver.url}/read?order=`, { method: 'GET' });
  const entityId = 'č 1/2';
  const ids = await stack.fire(entityId, {
    eshopOrderId: entityId,
    orderProducts: [{ sku: 'A', quantity: '3', unitPrice: '1249.90' }],
  });
  expect(ids).toHaveLength(3);
  for (const id of ids) expect(await stack.untilClosed(id)).toBe('COMPLETED');

  const byPath = (path: string) => receiver.requests.filter((request) => request.path.startsWith(path));
  expect(JSON.parse(byPath('/strings')[0]?.text ?? '')).toEqual({
    eshopOrderId: entityId,
    orderProducts: [{ sku: 'A', quantity: '3', unitPrice: '1249.90' }],
  });
  expect(JSON.parse(byPath('/numbers')[0]?.text ?? '')).toEqual({
    eshopOrderId: entityId,
    orderProducts: [{ sku: 'A', quantity: 3, unitPrice: 1249.9 }],
  });
  const [read] = byPath('/read');
  expect(read?.path).toBe('/read?order=%C4%8D%201%2F2');
  expect(read?.text).toBe('');
  for (const id of ids) {
    expect(await stack.delivery(id)).toMatchObject({ state: 'delivered', attemptsMade: 1, lastError: null });
  }
});

test('the history holds identifiers and sentences alone: no URL path, secret or customer data', async () => {
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
