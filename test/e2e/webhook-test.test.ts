/** An API without a worker tests webhooks, and refuses those that can never work (docs/interface.md, W13, D14). */
import { expect, test } from 'vitest';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfFile, receiverOfFile } from '../support/lifetimes.ts';

const installation = await installationOfFile();
const receiver = await receiverOfFile();
const program = await programOfFile({ ...installation.env, ROLE: 'api', DELIVERY_TIMEOUT: '2s' });
const shop = await login(program.url, installation.credentials);

const webhook = (url: string) => ({ url, webhookType: 'CREATE_ORDER', active: false, method: 'POST' });

test('an inactive webhook can be tested, within the limits of destinations and time', async () => {
  const { data: created } = await shop.request('POST', '/webhooks', webhook(receiver.url));
  expect(await shop.request('POST', `/webhooks/${created.id}/test`)).toMatchObject({
    statusCode: 200,
    data: { outcome: 'success', response: { status: 200 }, error: null },
  });
  expect(receiver.requests).toHaveLength(1);
  receiver.respond({ hang: 'headers' });
  expect(await shop.request('POST', `/webhooks/${created.id}/test`)).toMatchObject({
    data: {
      outcome: 'failure',
      response: null,
      error: `no response from 127.0.0.1:${receiver.port} within 2 s`,
    },
  });
});

test('a URL that can never work is refused with the reason, at creation and replacement', async () => {
  const { data: created } = await shop.request('POST', '/webhooks', webhook(receiver.url));
  for (const [host, reason] of [
    ['0x0a000005', 'is in a private range'],
    [`localhost:${new URL(program.url).port}`, 'belongs to this service on that port'],
  ]) {
    const message = expect.stringMatching(`^url: must not lead to .*, which ${reason}`);
    const url = `http://${host}/hook`;
    for (const [method, path] of [
      ['POST', '/webhooks'],
      ['PUT', `/webhooks/${created.id}`],
    ] as const)
      expect(await shop.request(method, path, webhook(url))).toMatchObject({ statusCode: 400, message });
  }
});
