/** An e-shop's actions on its deliveries through the API (docs/interface.md, L13), on a real worker. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, expect, inject, test } from 'vitest';
import { createApp } from '../../src/api/app.ts';
import { DeliveryWithAttempts } from '../../src/api/deliveries/record.ts';
import type { ApiDeps } from '../../src/api/deps.ts';
import { readSettings } from '../../src/config/config.ts';
import { type ApiClient, apiClient } from '../../src/console/api-client.ts';
import { databaseTime } from '../../src/db/clock.ts';
import { Problem } from '../../src/domain/problem.ts';
import { createActionRequester } from '../../src/temporal/action-requester.ts';
import { folderOfTest } from '../support/ends.ts';
import { apiOfFile, receiverOfFile, stackOfFile } from '../support/lifetimes.ts';
import { deliverInTenMinutes } from '../support/temporal/waiting-delivery.ts';

type Role = 'shop' | 'warehouse';

const stack = await stackOfFile('delivery-actions', {
  policy: { windowMs: 3_600_000, maxRetries: 3, attemptTimeoutMs: 60_000 },
});
const receiver = await receiverOfFile();
/** Its database is not used: the API gets the stack's. */
const api = await apiOfFile();
const { sql, keys, policy } = stack;
const config = { settings: readSettings({}), retryPolicy: policy };
const { requestAction, close } = createActionRequester(config, sql, inject('temporalAddress'));
afterAll(close);
afterEach(() => stack.retireWebhooks());

async function clientOf(
  role: Role,
  eshopId = stack.eshopId,
  deps: Partial<ApiDeps> = {},
): Promise<ApiClient> {
  const app = createApp({ ...api.deps, sql, healthSql: sql, keys, policy, requestAction, ...deps });
  return apiClient(app, {
    session: { eshopId, userId: 1, username: 'jana', role },
    now: await databaseTime(sql),
    stillAllowed: async () => true,
  });
}

const waitingDelivery = (path: string) => deliverInTenMinutes(stack, receiver, path);

const ask = (client: ApiClient, id: string, action: string) =>
  client.send(DeliveryWithAttempts, 'POST', `/v21/deliveries/${id}/${action}`);
const refused = async (client: ApiClient, id: string, action: string) => {
  const answer = await ask(client, id, action).catch((error: unknown) => error);
  if (!(answer instanceof Problem)) throw new Error('It was not refused.');
  return [answer.status, answer.message];
};

test('a failed connection to Temporal is tried again with the next request', async () => {
  const { id } = await waitingDelivery('/certificate');
  const key = join(await folderOfTest('waybill-key-'), 'key.pem');
  const settings = readSettings({ TEMPORAL_TLS_KEY_FILE: key });
  const own = createActionRequester({ settings, retryPolicy: policy }, sql, inject('temporalAddress'));
  const shop = await clientOf('shop', stack.eshopId, { requestAction: own.requestAction });
  expect(await refused(shop, id, 'try-now')).toEqual([503, expect.stringContaining('nothing was changed')]);
  await writeFile(key, 'without a certificate it is not used');
  expect((await ask(shop, id, 'try-now')).message).toMatch(/^Attempt 2 of 4 follows at once/);
  await own.close();
});

test('try now makes the next attempt at once; a delivered delivery refuses actions', async () => {
  const shop = await clientOf('shop');
  const { id } = await waitingDelivery('/now');
  receiver.respond({ status: 200 });
  const { message, data } = await ask(shop, id, 'try-now');
  expect(message).toMatch(/^Attempt 2 of 4 follows at once\./);
  expect(data.operatorActions).toEqual([
    { action: 'tryNow', by: 'jana (e-shop)', reason: '', at: expect.any(String) },
  ]);
  await stack.untilState(id, 'delivered');
  expect((await stack.attempts(id)).map(({ number }) => number)).toEqual([1, 2]);
  const ended = [409, 'The delivery has already ended as delivered.'];
  expect(await refused(shop, id, 'try-now')).toEqual(ended);
  expect(await refused(shop, id, 'give-up')).toEqual(ended);
});

test('give up cancels as the user or as an operator, and leaves the webhook active', async () => {
  for (const [role, canceledBy] of [
    ['shop', 'user'],
    ['warehouse', 'operator'],
  ] as const) {
    const { id, webhook } = await waitingDelivery(`/given-up-by-${role}`);
    const { message, data } = await ask(await clientOf(role), id, 'give-up');
    expect(message).toMatch(/^Given up: it ends as canceled\./);
    expect(data).toMatchObject({ id, state: 'canceled', canceledBy, nextAttemptAt: null });
    expect(await stack.webhook(webhook.id)).toMatchObject({ active: true });
    await stack.retireWebhooks();
  }
});

test('a held delivery says what holds it, webhook or operator, and can be given up', async () => {
  const shop = await clientOf('shop');
  const { id, webhook } = await waitingDelivery('/held');
  await stack.changeWebhook(webhook.id, { active: false });
  await stack.untilHeld(id);
  expect(await refused(shop, id, 'try-now')).toEqual([
    409,
    `Webhook ${webhook.id} is inactive. Activate it, and an attempt follows within seconds.`,
  ]);
  await stack.workflow(id).executeUpdate('hold', { args: [{ by: 'anna', reason: 'stock-taking' }] });
  expect(await refused(shop, id, 'try-now')).toEqual([
    409,
    expect.stringMatching(/^It is held by anna at .*: stock-taking\. Resume it first\.$/),
  ]);
  expect((await ask(shop, id, 'give-up')).data).toMatchObject({ state: 'canceled', canceledBy: 'user' });
});

test("another e-shop's delivery is not found, and an action nobody answers is a 503", async () => {
  const { id } = await waitingDelivery('/other');
  const other = await clientOf('shop', stack.eshopId + 1);
  expect(await refused(other, id, 'give-up')).toEqual([404, `Delivery ${id} does not exist.`]);
  const alone = await clientOf('shop', stack.eshopId, { requestAction: null });
  expect((await refused(alone, id, 'try-now'))[0]).toBe(503);
  const silent = await clientOf('shop', stack.eshopId, {
    requestAction: async () => ({ accepted: false, message: 'No worker answered.', unanswered: true }),
  });
  expect(await refused(silent, id, 'try-now')).toEqual([503, 'No worker answered.']);
  expect((await stack.delivery(id)).state).toBe('retrying');
});
