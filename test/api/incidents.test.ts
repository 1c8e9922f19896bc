/** A webhook's record says since when it has been failing, and when it will be deactivated. */
import { expect, test } from 'vitest';
import { createWebhook } from '../support/api/webhooks.ts';
import { accepted, fireDelivery, makeAttempt } from '../support/database/deliveries.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();

test('a failing webhook shows its incident until a delivery is accepted', async () => {
  const { eshopId } = api.eshop;
  const created = await createWebhook(api.shop);
  const { id: webhookId } = created;
  expect(created.incident).toBeNull();
  const read = async () => (await api.shop('GET', `/v21/webhooks/${webhookId}`)).data;
  const failedAt = new Date();
  const delivery = await fireDelivery(api.sql, { eshopId, webhookId });
  await makeAttempt(api.sql, delivery, 1, {
    finishedAt: failedAt,
    error: 'HTTP 503 from shop.example after 212 ms',
    nextAttemptAt: new Date(failedAt.getTime() + 25_000),
  });

  const failing = await read();
  expect(failing.incident).toEqual({
    since: failedAt.toISOString(),
    failures: 1,
    lastError: 'HTTP 503 from shop.example after 212 ms',
    deactivationAt: expect.stringMatching(/Z$/),
  });
  // 20 waits of the default policy, each at least nine tenths of it.
  const hours = (Date.parse(failing.incident.deactivationAt) - failedAt.getTime()) / 3_600_000;
  expect(hours).toBeGreaterThan(0.9 * 46.17);
  expect(hours).toBeLessThan(46.18);
  expect((await api.shop('GET', '/v21/webhooks')).data).toEqual([failing]);
  // A record that was read can be written back.
  expect(await api.shop('PUT', `/v21/webhooks/${webhookId}`, failing)).toMatchObject({
    status: 200,
    data: { incident: failing.incident },
  });

  await makeAttempt(api.sql, await fireDelivery(api.sql, { eshopId, webhookId }), 1, accepted);
  expect((await read()).incident).toBeNull();
});

test('an incident is hidden from other e-shops, and ends with a deactivation', async () => {
  const { eshopId } = api.eshop;
  const { id: webhookId } = await createWebhook(api.shop);
  await makeAttempt(api.sql, await fireDelivery(api.sql, { eshopId, webhookId }), 1, {
    nextAttemptAt: new Date(),
  });
  const other = await api.newEshop();
  expect((await other.shop.request('GET', `/v21/webhooks/${webhookId}`)).status).toBe(404);
  expect((await api.shop('PUT', `/v21/webhooks/${webhookId}/deactivate`)).data.incident).toBeNull();
});
