/** An e-shop reads its own settings and chooses its notifications. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api?.drop());

test('warnings are on unless they are turned off, and each e-shop has its own choice', async () => {
  const other = await api.newEshop();
  const { deliveriesFrom } = api.deps;
  const record = { id: api.eshop.eshopId, name: 'Test shop', email: 'shop@example.test', deliveriesFrom };
  const read = async () => (await api.shop('GET', '/v21/eshop')).data;
  expect(await read()).toEqual({ ...record, notifications: { warning: true } });
  const off = await api.shop('PATCH', '/v21/eshop', { notifications: { warning: false } });
  expect(off).toMatchObject({ status: 200, data: { ...record, notifications: { warning: false } } });
  expect(await read()).toEqual(off.data);
  expect((await other.shop.request('GET', '/v21/eshop')).data.notifications).toEqual({ warning: true });
});

test('what is left out stays, and a record that was read can be sent back', async () => {
  const { shop } = await api.newEshop();
  const off = { notifications: { warning: false } };
  const { data } = await shop.request('PATCH', '/v21/eshop', off);
  for (const body of [{}, { notifications: {} }, data]) {
    expect(await shop.request('PATCH', '/v21/eshop', body)).toMatchObject({ status: 200, data: off });
  }
});

test('a field that only the operator changes is refused with another value, and everything wrong is named at once', async () => {
  const { shop } = await api.newEshop();
  const { data } = await shop.request('GET', '/v21/eshop');
  for (const name of ['id', 'name', 'email'] as const) {
    const notifications = { warning: false };
    expect(await shop.request('PATCH', '/v21/eshop', { [name]: data[name] })).toMatchObject({
      status: 200,
      data,
    });
    const answer = await shop.request('PATCH', '/v21/eshop', { [name]: 'other@shop.example', notifications });
    expect(answer).toMatchObject({ status: 400, body: { message: `${name}: only the operator changes it` } });
  }
  expect((await shop.request('GET', '/v21/eshop')).data).toEqual(data);
  const both = await shop.request('PATCH', '/v21/eshop', { email: null, notifications: { warning: 1 } });
  expect(both.body.message).toContain('email: only the operator changes it');
  expect(both.body.message).toContain('notifications.warning: must be true or false');
});

test('what is none is refused, and so is turning off the mail after a deactivation', async () => {
  for (const [body, message] of [
    [{ notifications: { warning: 'no' } }, 'notifications.warning: must be true or false'],
    [{ notifications: { deactivation: false } }, 'notifications.deactivation'],
    [{ notify: true }, 'notify'],
  ] as const) {
    const answer = await api.shop('PATCH', '/v21/eshop', body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  }
  expect((await api.anonymous('GET', '/v21/eshop')).status).toBe(401);
});
