/** An e-shop reads its own settings and chooses its notifications. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../support/api/api.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile({
  destinationProblem: (url) => (url.includes('//10.') ? 'must not lead to it' : null),
});

test('warnings are on by default, and each e-shop chooses for itself', async () => {
  const other = await api.newEshop();
  const { deliveriesFrom } = api.deps;
  const record = { id: api.eshop.eshopId, name: 'Test shop', email: 'shop@example.test', deliveriesFrom };
  const read = async () => (await api.shop('GET', '/v21/eshop')).data;
  const unchanged = { warning: true, recovered: true, emails: [], url: null, format: 'text' };
  expect(await read()).toEqual({ ...record, notifications: unchanged });
  const off = await api.shop('PATCH', '/v21/eshop', { notifications: { warning: false } });
  expect(off).toMatchObject({
    status: 200,
    data: { ...record, notifications: { ...unchanged, warning: false } },
  });
  expect(await read()).toEqual(off.data);
  expect((await other.shop.request('GET', '/v21/eshop')).data.notifications).toEqual(unchanged);
});

test('omitted fields keep their values, and a record can be sent back as read', async () => {
  const { shop } = await api.newEshop();
  const off = { notifications: { warning: false } };
  const { data } = await shop.request('PATCH', '/v21/eshop', off);
  for (const body of [{}, { notifications: {} }, data]) {
    expect(await shop.request('PATCH', '/v21/eshop', body)).toMatchObject({ status: 200, data: off });
  }
});

test('changes to fields of the operator are refused, and all problems are named at once', async () => {
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
  // The same value in another order is the same value.
  const { addresses, userAgent } = data.deliveriesFrom;
  const turned = { deliveriesFrom: { userAgent, addresses } };
  expect((await shop.request('PATCH', '/v21/eshop', turned)).status).toBe(200);
  expect((await shop.request('GET', '/v21/eshop')).data).toEqual(data);
  const both = await shop.request('PATCH', '/v21/eshop', { email: null, notifications: { warning: 1 } });
  expect(both.body.message).toContain('email: only the operator changes it');
  expect(both.body.message).toContain('notifications.warning: must be true or false');
});

test('invalid settings are refused, and so is turning off the mail after a deactivation', async () => {
  for (const [body, message] of [
    [{ notifications: { warning: 'no' } }, 'notifications.warning: must be true or false'],
    [{ notifications: { deactivation: false } }, 'notifications.deactivation'],
    [{ notify: true }, 'notify'],
    [{ notifications: { emails: ['nobody'] } }, 'notifications.emails.0: must be an e-mail address'],
    [
      { notifications: { emails: ['a@b', 'b@b', 'c@b', 'd@b', 'e@b', 'f@b'] } },
      'notifications.emails: must have at most 5 addresses',
    ],
    [{ notifications: { emails: ['a@b'] } }, 'PUBLIC_URL'],
    [{ notifications: { url: 'ftp://a.example' } }, 'notifications.url'],
    [{ notifications: { url: 'https://10.0.0.1/' } }, 'notifications.url: must not lead to it'],
    [{ notifications: { format: 'discord' } }, 'notifications.format: must be one of text, teams'],
    [{ notifications: { secret: 'a secret of 24 characters' } }, 'notifications.secret: needs a url'],
  ] as const) {
    const answer = await api.shop('PATCH', '/v21/eshop', body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  }
  expect((await api.anonymous('GET', '/v21/eshop')).status).toBe(401);
});

test('a notification URL gets a secret, which is shown once, replaceable, and removed with the URL', async () => {
  const { shop } = await api.newEshop();
  const patch = async (notifications: object) =>
    (await shop.request('PATCH', '/v21/eshop', { notifications })).data.notifications;
  const url = 'https://hooks.slack.example/services/T0/B0/x';
  const made = await patch({ url });
  expect(made).toMatchObject({ url, format: 'text', secret: expect.stringMatching(/^whsec_/) });
  const { secret: _, ...shown } = made;
  expect((await shop.request('GET', '/v21/eshop')).data.notifications).toEqual(shown);
  // Another URL, another form, or the record as it was read: the secret stays.
  for (const change of [{ url: `${url}2` }, { format: 'teams' }, shown])
    expect(await patch(change)).not.toHaveProperty('secret');
  const renewed = await patch({ secret: null });
  expect(renewed.secret).toMatch(/^whsec_/);
  expect(renewed.secret).not.toBe(made.secret);
  expect((await patch({ secret: 'my own secret, 24 long at least' })).secret).toMatch(/^my own/);
  expect(await patch({ url: null })).toMatchObject({ url: null });
  const [row] =
    await api.sql`select notice_secret from eshops where id = ${(await shop.request('GET', '/v21/eshop')).data.id}`;
  expect(row?.noticeSecret).toBeNull();
  expect((await patch({ url })).secret).toMatch(/^whsec_/);
});

describe('further addresses', () => {
  let linked: TestApi;
  beforeAll(async () => {
    linked = await createTestApi({ publicUrl: 'https://waybill.example' });
  });
  afterAll(() => linked?.drop());
  const asked = (eshopId: number) =>
    linked.sql`select from notices where eshop_id = ${eshopId} and kind = 'confirmation'`.then(
      ({ count }) => count,
    );

  test('a new address is asked once for its confirmation, kept if sent back, and removed if omitted', async () => {
    const { shop, eshopId } = await linked.newEshop();
    const patch = (emails: unknown) => shop.request('PATCH', '/v21/eshop', { notifications: { emails } });
    const of = (...addresses: string[]) => addresses.map((address) => ({ address, confirmedAt: null }));
    const { data } = await patch(['a@b', 'c@d.example', 'A@B']);
    expect(data.notifications.emails).toEqual(of('a@b', 'c@d.example'));
    expect(await asked(eshopId)).toBe(2);
    expect((await shop.request('PATCH', '/v21/eshop', data)).data).toEqual(data);
    expect((await patch(['c@d.example'])).data.notifications.emails).toEqual(of('c@d.example'));
    expect(await asked(eshopId)).toBe(2);
    // Its link has expired.
    await linked.sql`update notice_addresses set asked_at = now() - interval '8 days'`;
    await patch(['c@d.example']);
    expect(await asked(eshopId)).toBe(3);
    for (const none of [null, []]) expect((await patch(none)).data.notifications.emails).toEqual([]);
  });

  test('an e-shop may cause ten confirmation mails a day; a refused change changes nothing', async () => {
    const { shop, eshopId } = await linked.newEshop();
    const patch = (notifications: object) => shop.request('PATCH', '/v21/eshop', { notifications });
    const some = (from: number) => [0, 1, 2, 3].map((index) => `n${from + index}@shop.example`);
    for (const from of [0, 4]) expect((await patch({ emails: some(from) })).status).toBe(200);
    const refused = await patch({ warning: false, emails: some(8) });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_000);
    const { notifications } = (await shop.request('GET', '/v21/eshop')).data;
    expect(notifications.warning).toBe(true);
    expect(notifications.emails.map(({ address }: { address: string }) => address)).toEqual(some(4));
    expect((await patch({ emails: ['x@shop.example', 'y@shop.example'] })).status).toBe(200);
    expect((await patch({ emails: ['z@shop.example'] })).status).toBe(429);
    await linked.sql`update notices set at = at - interval '25 hours' where eshop_id = ${eshopId}`;
    expect((await patch({ emails: ['z@shop.example'] })).status).toBe(200);
  });
});
