/**
 * A test delivery in the real program, by an API without a worker; and webhooks that can never work are refused when they are
 * registered (docs/interface.md, W13 and D14).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiClient, login } from '../support/client.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { type Program, startProgram } from '../support/program.ts';
import { createReceiver, type Receiver } from '../support/receiver.ts';

let installation: Installation;
let program: Program;
let shop: ApiClient;
let receiver: Receiver;

beforeAll(async () => {
  installation = await createInstallation();
  receiver = await createReceiver();
  program = await startProgram({ ...installation.env, ROLE: 'api', DELIVERY_TIMEOUT: '2s' });
  shop = await login(program.url, installation.credentials);
});
afterAll(async () => {
  await program?.stop();
  await receiver?.close();
  await installation?.remove();
});

const webhook = (url: string) => ({ url, webhookType: 'CREATE_ORDER', active: false, method: 'POST' });

test('an inactive webhook is tested, by its own rules of destinations and time', async () => {
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

test('a URL that can never work is refused with the reason, when created and when replaced', async () => {
  const { data: created } = await shop.request('POST', '/webhooks', webhook(receiver.url));
  const own = new URL(program.url).port;
  for (const [host, reason] of [
    ['10.0.0.5', 'is in a private range'],
    ['0x0a000005', 'is in a private range'],
    ['169.254.169.254', 'is in a metadata range'],
    ['[::ffff:192.168.1.1]', 'is in a private range'],
    ['[fe80::1]', 'is in a link-local range'],
    ['224.0.0.1', 'is in a multicast range'],
    [`127.0.0.1:${own}`, 'belongs to this service on that port'],
    [`localhost:${own}`, 'belongs to this service on that port'],
  ]) {
    for (const [method, path] of [
      ['POST', '/webhooks'],
      ['PUT', `/webhooks/${created.id}`],
    ] as const) {
      const answer = await shop.request(method, path, webhook(`http://${host}/hook`));
      expect(answer.statusCode, `${method} ${host}`).toBe(400);
      expect(answer.message).toMatch(/^url: must not lead to /);
      expect(answer.message).toContain(`which ${reason}`);
    }
  }
});
