/**
 * A webhook's life: activation and deactivation, generations, secrets, and the changes passed on to open deliveries.
 */
import { expect, test } from 'vitest';
import { minimalWebhook, openedSecret, webhooksOfEachTest } from '../support/api/webhooks.ts';
import { exhaustDelivery, fireDelivery } from '../support/database/deliveries.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { eshop, request, create, row, takeChanges } = webhooksOfEachTest(api);

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('deactivation and activation set times and generation, and signal; repeats change nothing', async () => {
  const { id } = await create();
  const path = `/v21/webhooks/${id}`;
  const notified = api.notified();

  const deactivated = await request('PUT', `${path}/deactivate`);
  expect(deactivated.data).toMatchObject({
    active: false,
    unregisteredAt: time,
    lastDeactivation: {
      at: deactivated.data.unregisteredAt,
      reason: 'user',
      deliveryId: null,
      lastError: null,
    },
  });
  expect(await takeChanges()).toEqual([id]);
  expect(api.notified()).toBe(notified + 1);
  expect((await row(id))?.generation).toBe(1);

  const again = await request('PUT', `${path}/deactivate`);
  expect(again.status).toBe(200);
  expect(again.data).toEqual(deactivated.data);

  const activated = await request('PUT', `${path}/activate`);
  expect(activated.data).toMatchObject({
    active: true,
    unregisteredAt: null,
    lastDeactivation: { reason: 'user' },
  });
  expect(await takeChanges()).toEqual([id]);
  expect((await row(id))?.generation).toBe(2);

  expect((await request('PUT', `${path}/activate`)).data).toEqual(activated.data);
  expect(await takeChanges()).toEqual([]);
  expect((await row(id))?.generation).toBe(2);
  expect(api.notified()).toBe(notified + 2);
});

test('a PUT with another `active` activates or deactivates in the same way', async () => {
  const { id } = await create();
  const path = `/v21/webhooks/${id}`;
  expect((await request('PUT', path, { ...minimalWebhook, active: false })).data).toMatchObject({
    active: false,
    unregisteredAt: time,
    lastDeactivation: { reason: 'user' },
  });
  expect(await takeChanges()).toEqual([id]);
  expect((await request('PUT', path, minimalWebhook)).data).toMatchObject({
    active: true,
    unregisteredAt: null,
  });
  expect(await takeChanges()).toEqual([id]);
  expect((await row(id))?.generation).toBe(2);
});

test('another URL raises the generation and signals open deliveries', async () => {
  const { id } = await create();
  const answer = await request('PUT', `/v21/webhooks/${id}`, {
    ...minimalWebhook,
    url: 'https://other.example/',
  });
  expect(answer.data).toMatchObject({ url: 'https://other.example/', active: true, lastDeactivation: null });
  expect((await row(id))?.generation).toBe(2);
  expect(await takeChanges()).toEqual([id]);
});

test('unregisteredAt stays null until an active webhook is deactivated', async () => {
  const { id } = await create({ active: false });
  const path = `/v21/webhooks/${id}`;
  const still = await request('PUT', `${path}/deactivate`);
  expect(still.data).toMatchObject({ active: false, unregisteredAt: null, lastDeactivation: null });
  await request('PUT', `${path}/activate`);
  expect((await request('PUT', `${path}/deactivate`)).data).toMatchObject({ unregisteredAt: time });
});

test('a deactivation by the service shows its delivery and error', async () => {
  const { id } = await create();
  const deliveryId = await fireDelivery(api.sql, { eshopId: eshop.eshopId, webhookId: id });
  await exhaustDelivery(api.sql, deliveryId, { error: 'HTTP 503 from shop.example after 12 ms' });
  expect((await request('GET', `/v21/webhooks/${id}`)).data.lastDeactivation).toEqual({
    at: time,
    reason: 'retriesExhausted',
    deliveryId,
    lastError: 'HTTP 503 from shop.example after 12 ms',
  });
});

test('concurrent activations and deactivations end in a consistent state', async () => {
  const { id } = await create();
  const path = `/v21/webhooks/${id}`;
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      request('PUT', `${path}/${i % 2 === 0 ? 'deactivate' : 'activate'}`),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const stored = await row(id);
  const deactivations = await api.sql`select generation from deactivations where webhook_id = ${id}`;
  const changes = (await takeChanges()).length;
  // The changes to a webhook that wait to be passed on are merged into one.
  expect(changes).toBe(1);
  // Each activation raised the generation by one; each deactivation wrote a row.
  expect(deactivations.length - (Number(stored?.generation) - 1)).toBe(stored?.active === true ? 0 : 1);
});

test('a regenerated secret is used at once, beside the old one for 24 hours', async () => {
  const { id, secret } = await create();
  const path = `/v21/webhooks/${id}/regenerate-secret`;
  const first = await request('PUT', path);
  expect(first.body).toMatchObject({ message: 'Secret regenerated.', data: { active: true } });
  expect(first.data.secret).not.toBe(secret);
  const stored = await row(id);
  expect(openedSecret(api.keys, stored, 'secret')).toBe(first.data.secret);
  expect(openedSecret(api.keys, stored, 'previousSecret')).toBe(secret);
  const hours = (stored?.previousSecretUntil.getTime() - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(23.9);
  expect(hours).toBeLessThanOrEqual(24);

  const second = await request('PUT', path);
  const later = await row(id);
  expect(openedSecret(api.keys, later, 'previousSecret')).toBe(first.data.secret);

  const last = await request('PUT', `${path}?overlap=0`);
  const ended = await row(id);
  expect(ended).toMatchObject({ previousSecret: null, previousSecretUntil: null, generation: 1 });
  expect(openedSecret(api.keys, ended, 'secret')).toBe(last.data.secret);
  expect(last.data.secret).not.toBe(second.data.secret);
  expect(await takeChanges()).toEqual([]);
  expect((await request('PUT', `${path}?overlap=1`)).status).toBe(400);
});
