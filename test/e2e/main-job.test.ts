/** The main job as an e-shop developer does it: over HTTP, with the program as a separate process. */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import { releaseWorkflowId } from '../../workflows/release-types.ts';
import { login } from '../support/api/client.ts';
import { installationOfFile, programOfFile, receiverOfFile } from '../support/lifetimes.ts';
import { nightly } from '../support/runner/nightly.ts';
import type { ReceivedRequest } from '../support/servers/receiver.ts';
import { workflowIdOf } from '../support/temporal/workflow-ids.ts';
import { untilEnded } from '../support/temporal/workflows.ts';
import { until } from '../support/until.ts';

const installation = await installationOfFile();
const program = await programOfFile(installation.env);
const client = await login(program.url, installation.credentials);
const receiver = await receiverOfFile();
afterEach(async () => {
  for (const { id } of (await client.request('GET', '/webhooks')).data)
    await client.request('DELETE', `/webhooks/${id}`);
});

async function subscribe(path: string, change: object = {}) {
  const { data } = await client.request('POST', '/webhooks', {
    url: `${receiver.url}${path}`,
    webhookType: 'CREATE_ORDER',
    active: true,
    method: 'POST',
    ...change,
  });
  return data as {
    id: number;
    secret: string;
    url: string;
    webhookType: string;
    active: boolean;
    method: string;
  };
}
const read = async (id: number) => (await client.request('GET', `/webhooks/${id}`)).data;
const requestsTo = (path: string) => receiver.requests.filter((request) => request.path.startsWith(path));

/** The check that the documentation recommends to receivers. */
function verifies({ headers, method, path, text }: ReceivedRequest, secret: string): boolean {
  const header = String(headers['x-service-signature']);
  const t = /t=(\d+)/.exec(header)?.[1];
  const content = method === 'GET' ? path : text;
  return header.includes(`v1=${createHmac('sha256', secret).update(`${t}.${content}`).digest('hex')}`);
}

test('a POST and a GET webhook get an order with an unusual identifier, and both signatures verify', async () => {
  receiver.respond({ status: 200 });
  const post = await subscribe('/post');
  const get = await subscribe('/get/', { method: 'GET' });
  const eshopOrderId = 'objednávka 10/1 ž';
  expect((await client.createOrder(eshopOrderId)).statusCode).toBe(200);
  await receiver.waitFor(2);
  const [posted] = requestsTo('/post');
  const [got] = requestsTo('/get/');
  if (posted === undefined || got === undefined) throw new Error('not both arrived');
  expect(decodeURIComponent(got.path)).toBe(`/get/${eshopOrderId}`);
  expect(got.path).toBe('/get/objedn%C3%A1vka%2010%2F1%20%C5%BE');
  expect(verifies(posted, post.secret)).toBe(true);
  expect(verifies(got, get.secret)).toBe(true);
  const headers = Object.fromEntries(
    Object.entries(posted.headers).map(([name, value]) => [name, String(value)]),
  );
  expect(new Webhook(post.secret).verify(posted.text, headers)).toMatchObject({ eshopOrderId });

  // Byte for byte the response of the read endpoint in the payload's version.
  const { apiKey, username, password } = installation.credentials;
  const token = await fetch(`${program.url}/v21/users/login`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  }).then(async (response) => ((await response.json()) as { data: { token: string } }).data.token);
  const answer = await fetch(`${program.url}/v2/orders/${encodeURIComponent(eshopOrderId)}`, {
    headers: { 'x-api-key': apiKey, authorization: token },
  });
  expect(await answer.text()).toContain(`"data":${posted.text}`);
});

// At night, and wherever this file runs on another Postgres. Else test/workflow/exhaustion.test.ts suffices.
const onAnother = process.env.POSTGRES_PROGRAMS !== undefined;
test.runIf(nightly || onAnother)(
  'a broken receiver gets 21 attempts, an inactive webhook and one mail',
  async () => {
    receiver.clear();
    const webhook = await subscribe('/broken');
    receiver.respond({ status: 503 });
    await client.createOrder('10002');
    const inactive = await until('the deactivation', async () => {
      const record = await read(webhook.id);
      return record.active === false && record;
    });
    expect(requestsTo('/broken')).toHaveLength(21);
    expect(inactive).toMatchObject({
      unregisteredAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastDeactivation: { reason: 'retriesExhausted', lastError: expect.stringContaining('HTTP 503') },
    });
    await until('the mail', async () => (await installation.mails()).length === 1);
    const log = await client.request('GET', `/webhooks/${webhook.id}/deliveries?state=failed`);
    expect(log.data).toMatchObject([{ id: inactive.lastDeactivation.deliveryId, attemptsMade: 21 }]);
  },
);

test('a pre-order is released at its time by a durable timer, and its status change is delivered', async () => {
  receiver.clear();
  receiver.respond({ status: 200 });
  const webhook = await subscribe('/status', { webhookType: 'UPDATE_ORDER_STATUS' });
  const { data: order } = await client.createOrder('model');
  const { eshopOrderId: _, status: __, ...fields } = order;
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const create = (eshopOrderId: string, releaseAt: string) =>
    client.request('POST', '/orders', { ...fields, eshopOrderId, status: 'preOrder', releaseAt });
  await create('released', at(1_500));
  await create('moved', at(3_600_000));
  await create('canceled', at(2_000));
  expect((await client.request('POST', '/orders/canceled/cancel')).statusCode).toBe(200);
  expect((await client.request('PATCH', '/orders/moved', { releaseAt: at(1_500) })).statusCode).toBe(200);
  const seen = () =>
    requestsTo('/status')
      .map((request) => JSON.parse(request.text))
      .map((payload) => `${payload.eshopOrderId} ${payload.status}`);
  // No timer is left to release anything, and no delivery to be sent again.
  const { TEMPORAL_ADDRESS: temporal } = installation.env;
  const { eshopId } = installation.credentials;
  await untilEnded(
    temporal,
    ['released', 'moved', 'canceled'].map((id) => releaseWorkflowId(eshopId, id)),
  );
  const { data: deliveries } = await client.request('GET', `/webhooks/${webhook.id}/deliveries`);
  await untilEnded(
    temporal,
    await Promise.all(deliveries.map(({ id }: { id: string }) => workflowIdOf(installation.sql, id))),
  );
  expect(seen().sort()).toEqual(['canceled canceled', 'moved preReceived', 'released preReceived']);
});
