/**
 * All that leaves for receivers goes through the operator's proxy, and no attempt is used up while that is
 * unavailable.
 */
import { afterAll, expect, test } from 'vitest';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfFile, receiverOfFile } from '../support/lifetimes.ts';
import { type HttpProxy, startHttpProxy } from '../support/servers/http-proxy.ts';
import { until } from '../support/until.ts';

const credentials = { user: 'waybill', password: 'very-confidential' };

const installation = await installationOfFile();
const receiver = await receiverOfFile();
let proxy: HttpProxy = await startHttpProxy({ credentials });
const program = await programOfFile({
  ...installation.env,
  ROLE: 'all',
  OUTBOUND_PROXY: `http://waybill:very-confidential@127.0.0.1:${proxy.port}`,
});
const shop = await login(program.url, installation.credentials);
afterAll(() => proxy?.close());

const webhook = (url: string) => ({ url, webhookType: 'CREATE_ORDER', active: true, method: 'POST' });
const received = (order: string) =>
  receiver.requests.filter(({ text }) => text.includes(`"eshopOrderId":"${order}"`));

test('the start names the proxy, without its credentials', () => {
  expect(program.output()).toContain(`all go through the proxy http://127.0.0.1:${proxy.port}.`);
});

test('deliveries, tests and examinations go through the proxy, which is no destination itself', async () => {
  const { id } = (await shop.request('POST', '/webhooks', webhook(receiver.url))).data;
  await shop.createOrder('one');
  await until('the delivery', async () => received('one').length > 0);
  expect((await shop.request('POST', `/webhooks/${id}/test`)).data.outcome).toBe('success');
  await shop.request('POST', `/webhooks/${id}/examine`);
  expect(proxy.heads).toHaveLength(receiver.requests.length);
  expect(new Set(proxy.heads)).toEqual(new Set([`POST ${receiver.url}/`]));
  expect(await shop.request('POST', '/webhooks', webhook(`http://127.0.0.1:${proxy.port}/`))).toMatchObject({
    statusCode: 400,
  });
});

test('an unavailable proxy uses up no attempt', async () => {
  await proxy.close();
  await shop.createOrder('two');
  await until('an attempt', async () => program.output().includes('our proxy cannot be reached'));
  proxy = await startHttpProxy({ credentials, port: proxy.port });
  await until('the delivery', async () => received('two').length > 0);
  expect(received('two')[0]?.headers['x-service-attempt']).toBe('1');
  expect(program.output()).not.toContain(credentials.password);
});
