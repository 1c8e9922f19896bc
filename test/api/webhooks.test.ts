/**
 * The eight webhook endpoints, over HTTP against a real Postgres.
 */
import { expect, test } from 'vitest';
import { updateContract } from '../../src/db/accounts/eshops.ts';
import { contractOf } from '../../src/domain/contract.ts';
import { type WebhookSettings, webhookFields } from '../../src/domain/webhook.ts';
import { omissible } from '../../src/domain/webhook-fields.ts';
import { createWebhook, minimalWebhook, openedSecret, webhooksOfEachTest } from '../support/api/webhooks.ts';
import { insertWebhook } from '../support/database/events.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const { eshop, request, create, row, takeChanges } = webhooksOfEachTest(api);

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test('creation returns the record with its defaults, and the secret', async () => {
  const answer = await request('POST', '/v21/webhooks', minimalWebhook);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    statusCode: 200,
    message: 'Webhook created.',
    data: {
      ...minimalWebhook,
      id: expect.any(Number),
      parameters: null,
      payloadVersion: 'v2',
      description: null,
      headers: null,
      ordering: 'none',
      skipOwn: false,
      asymmetric: false,
      additionalTypes: [],
      pausedUntil: null,
      registeredAt: time,
      unregisteredAt: null,
      lastDeactivation: null,
      incident: null,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    },
  });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const stored = await row(answer.data.id);
  expect(openedSecret(api.keys, stored, 'secret')).toBe(answer.data.secret);
});

/** No field has its default. */
const full: WebhookSettings = {
  url: 'http://shop.example:8080/a%20b/ž?x=1&order=',
  webhookType: 'UPDATE_ORDER_STATUS',
  additionalTypes: ['CREATE_ORDER'],
  active: false,
  method: 'GET',
  parameters: { withPackingLists: true },
  payloadVersion: 'v21',
  description: 'Note with "quotes" and ž',
  ordering: 'record',
  skipOwn: true,
  asymmetric: true,
};

test('every setting of a webhook is kept', async () => {
  const created = await create(full);
  expect(created).toMatchObject({ ...full, unregisteredAt: null });
  const { secret: _, ...record } = created;
  expect((await request('GET', `/v21/webhooks/${created.id}`)).data).toEqual(record);
});

test.each(webhookFields)(
  '%s: a replacement without it keeps it or sets the default; null sets the default',
  async (field) => {
    const { [field]: first } = await create();
    const { id } = await create(full);
    expect(full[field]).not.toEqual(first);
    const put = (more: object) => request('PUT', `/v21/webhooks/${id}`, more);
    const { [field]: _, parameters: __, ...others } = full;
    if (field in minimalWebhook) {
      expect((await put(others)).body.message).toBe(`${field}: is required`);
      return;
    }
    expect((await put(others)).data[field]).toEqual(omissible.includes(field) ? full[field] : first);
    const emptied = await put({ ...others, [field]: null });
    if (field === 'payloadVersion') expect(emptied.body.message).toBe('payloadVersion: must be v2 or v21');
    else expect(emptied.data[field]).toEqual(first);
  },
);

const encoded = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

test.each(['the secret that our receiver knows', encoded])(
  'a secret chosen by the e-shop is kept: %s',
  async (secret) => {
    const { id, ...created } = await create({ secret });
    expect(created.secret).toBe(secret);
    expect(openedSecret(api.keys, await row(id), 'secret')).toBe(secret);
    const path = `/v21/webhooks/${id}`;
    const other = `${secret.length === 38 ? 'x' : 'y'}`.repeat(24);
    expect((await request('PUT', path, { ...minimalWebhook, secret: other })).status).toBe(200);
    expect(openedSecret(api.keys, await row(id), 'secret')).toBe(secret);
    const regenerated = await request('PUT', `${path}/regenerate-secret`, { secret: other });
    expect(regenerated.data.secret).toBe(other);
    const stored = await row(id);
    expect(openedSecret(api.keys, stored, 'secret')).toBe(other);
    expect(openedSecret(api.keys, stored, 'previousSecret')).toBe(secret);
  },
);

test.each([undefined, {}, { secret: null }])('a secret is generated if none is sent: %j', async (body) => {
  const { id, secret } = await create(body);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const next = await request('PUT', `/v21/webhooks/${id}/regenerate-secret`, body);
  expect(next.data.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(next.data.secret).not.toBe(secret);
});

test.each(['too short', `${encoded.slice(0, -4)}`, `${'x'.repeat(30)}\n`, 'ž'.repeat(30), 7, ''])(
  'an unusable secret is refused, not repeated, and changes nothing: %j',
  async (secret) => {
    const { id } = await create();
    const before = await row(id);
    for (const answer of [
      await request('POST', '/v21/webhooks', { ...minimalWebhook, secret }),
      await request('PUT', `/v21/webhooks/${id}/regenerate-secret`, { secret }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body.message).toMatch(/^secret: must /);
      if (typeof secret === 'string' && secret !== '') expect(answer.text).not.toContain(secret);
    }
    expect(await row(id)).toEqual(before);
  },
);

test('regeneration accepts no other field', async () => {
  const { id } = await create();
  const answer = await request('PUT', `/v21/webhooks/${id}/regenerate-secret`, { secrets: encoded });
  expect(answer.body).toMatchObject({ statusCode: 400, message: 'secrets: unknown field' });
});

test('only creation and regeneration return the secret', async () => {
  const { id } = await create();
  const path = `/v21/webhooks/${id}`;
  for (const answer of [
    await request('GET', path),
    await request('GET', '/v21/webhooks'),
    await request('PUT', path, minimalWebhook),
    await request('PUT', `${path}/deactivate`),
    await request('PUT', `${path}/activate`),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/secret|whsec/);
  }
});

test('creation and replacement name all problems at once', async () => {
  const { id } = await create();
  const wrong = {
    url: 'x',
    method: 'PUT',
    aktive: true,
    parameters: { packingLists: true, lists: 1 },
    note: 'x',
  };
  for (const [method, path] of [
    ['POST', '/v21/webhooks'],
    ['PUT', `/v21/webhooks/${id}`],
  ] as const) {
    const { status, body } = await request(method, path, wrong);
    expect([status, body.error]).toEqual([400, 'Bad Request']);
    for (const part of [
      'url: ',
      'webhookType: is required',
      'active: is required',
      'method: ',
      'parameters.packingLists: unknown field',
      'parameters.lists: unknown field',
      'aktive: unknown field',
      'note: unknown field',
    ])
      expect(body.message).toContain(part);
  }
});

test('the list is a plain array of everything, or a page', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 3; i++) ids.push((await create()).id);
  const all = await request('GET', '/v21/webhooks');
  expect(all.data.map(({ id }: { id: number }) => id)).toEqual(ids);
  expect(all.body).not.toHaveProperty('pagination');
  const page = await request('GET', '/v21/webhooks?items=2&page=2');
  expect(page.data).toHaveLength(1);
  expect(page.body.pagination).toEqual({ page: 2, items: 2, totalCount: 3, totalPages: 2 });
});

test('a record can be put back as read, which changes nothing', async () => {
  const { secret, ...record } = await create({ description: 'mine' });
  const path = `/v21/webhooks/${record.id}`;
  expect((await request('PUT', path, { ...record, secret })).data).toEqual(record);
  expect(await takeChanges()).toEqual([]);
  expect((await row(record.id))?.generation).toBe(1);
});

test('a PUT without an ordering keeps it', async () => {
  const { id } = await create({ ordering: 'latest' });
  const path = `/v21/webhooks/${id}`;
  expect((await request('PUT', path, minimalWebhook)).data).toMatchObject({ ordering: 'latest' });
  const movements = { ...minimalWebhook, webhookType: 'CREATE_STOCK_MOVEMENT_ORDER' };
  expect((await request('PUT', path, movements)).body).toMatchObject({
    statusCode: 400,
    message: 'ordering: latest is not for stock movements: each is a record of its own',
  });
  expect((await request('GET', path)).data).toMatchObject({
    ordering: 'latest',
    webhookType: 'CREATE_ORDER',
  });
  expect((await request('PUT', path, { ...movements, ordering: 'record' })).data).toMatchObject({
    ordering: 'record',
  });
  expect((await request('PUT', path, { ...minimalWebhook, ordering: 'none' })).data).toMatchObject({
    ordering: 'none',
  });
});

test('a deletion returns a string, and then every operation is a 404; the row stays', async () => {
  const { id } = await create();
  const path = `/v21/webhooks/${id}`;
  expect((await request('DELETE', path)).body).toEqual({
    statusCode: 200,
    message: 'Webhook deleted.',
    data: `Webhook ${id} deleted.`,
  });
  expect(await takeChanges()).toEqual([id]);
  for (const [method, suffix] of idOperations) {
    const answer = await request(
      method,
      path + suffix,
      method === 'PUT' && suffix === '' ? minimalWebhook : undefined,
    );
    expect(answer.body, `${method} ${suffix}`).toMatchObject({ statusCode: 404, error: 'Not Found' });
  }
  expect((await request('GET', '/v21/webhooks')).data).toEqual([]);
  expect((await row(id))?.deletedAt).toBeInstanceOf(Date);
  expect(await takeChanges()).toEqual([]);
});

const idOperations = [
  ['GET', ''],
  ['PUT', ''],
  ['PUT', '/activate'],
  ['PUT', '/deactivate'],
  ['PUT', '/regenerate-secret'],
  ['DELETE', ''],
  ['GET', '/deliveries'],
] as const;

test("another e-shop's webhook gets the same 404 as one that never existed", async () => {
  const { id } = await create();
  const other = await api.newEshop();
  const before = await row(id);
  for (const [method, suffix] of idOperations) {
    const body =
      method === 'PUT' && suffix === '' ? { ...minimalWebhook, url: 'https://evil.example' } : undefined;
    const foreign = await other.shop.request(method, `/v21/webhooks/${id}${suffix}`, body);
    const missing = await other.shop.request(method, `/v21/webhooks/999999${suffix}`, body);
    expect(foreign.body).toEqual({
      statusCode: 404,
      error: 'Not Found',
      message: missing.body.message.replace('999999', String(id)),
    });
    expect(missing.status).toBe(404);
  }
  expect((await other.shop.request('GET', '/v21/webhooks')).data).toEqual([]);
  expect(await row(id)).toEqual(before);
});

test('an unknown id is a 404; an id that is too large or not an integer is a 400', async () => {
  for (const [method, suffix] of idOperations) {
    const body = method === 'PUT' && suffix === '' ? minimalWebhook : undefined;
    for (const id of ['0', '-1', '2147483648', '9007199254740991'])
      expect((await request(method, `/v21/webhooks/${id}${suffix}`, body)).status, id).toBe(404);
    for (const id of ['abc', '1.5', '1e3', '%20', '1%00', "1'--", '9'.repeat(40)])
      expect((await request(method, `/v21/webhooks/${id}${suffix}`, body)).status, id).toBe(400);
    const large = await request(method, `/v21/webhooks/9007199254740993${suffix}`, body);
    expect([large.status, large.body.message]).toEqual([400, 'id: is too large']);
  }
});

test('the contract limits types, versions, packing lists, number and deletion', async () => {
  const { id } = await create();
  const contract = contractOf({
    webhookTypes: ['CREATE_ORDER', 'UPDATE_ORDER'],
    payloadVersions: ['v2'],
    withPackingLists: false,
    maxWebhooks: 2,
    deleteWebhooks: false,
  });
  await updateContract(api.sql, eshop.eshopId, contract);
  const forbidden = {
    ...minimalWebhook,
    webhookType: 'UPDATE_ORDER_STATUS',
    payloadVersion: 'v21',
    parameters: { withPackingLists: true },
  };
  for (const answer of [
    await request('POST', '/v21/webhooks', forbidden),
    await request('PUT', `/v21/webhooks/${id}`, forbidden),
  ]) {
    expect(answer.body).toMatchObject({ statusCode: 400, error: 'Bad Request' });
    for (const part of [
      'webhookType: the contract',
      'payloadVersion: the contract',
      'parameters.withPackingLists: the contract',
    ])
      expect(answer.body.message).toContain(part);
  }
  expect((await request('DELETE', `/v21/webhooks/${id}`)).body).toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('contract'),
  });
  expect((await request('DELETE', '/v21/webhooks/999999')).status).toBe(404);

  const answers = await Promise.all(
    Array.from({ length: 6 }, () => request('POST', '/v21/webhooks', minimalWebhook)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  expect((await request('GET', '/v21/webhooks')).data).toHaveLength(2);
});

test('a deleted webhook makes room for another', async () => {
  await updateContract(api.sql, eshop.eshopId, contractOf({ maxWebhooks: 2 }));
  const [first] = [await create(), await create()];
  const createAnother = () => request('POST', '/v21/webhooks', minimalWebhook);
  expect((await createAnother()).body).toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('at most 2'),
  });
  expect((await request('DELETE', `/v21/webhooks/${first.id}`)).status).toBe(200);
  expect((await createAnother()).status).toBe(200);
  expect((await createAnother()).status).toBe(400);
});

test('an e-shop has at most a hundred webhooks by default', async () => {
  for (let made = 0; made < 99; made += 1) await insertWebhook(api.sql, eshop.eshopId, 'CREATE_ORDER');
  await create();
  const answer = await request('POST', '/v21/webhooks', minimalWebhook);
  expect(answer.body).toMatchObject({ statusCode: 400, message: expect.stringContaining('100') });
});

test('a warehouse user can manage webhooks as a shop user does', async () => {
  const act = async (method: string, path: string, body?: object) =>
    (await eshop.warehouse.request(method, `/v21/webhooks${path}`, body)).status;
  const { id } = await createWebhook(eshop.warehouse.request);
  expect([
    await act('GET', ''),
    await act('GET', `/${id}`),
    await act('PUT', `/${id}`, minimalWebhook),
    await act('PUT', `/${id}/deactivate`),
    await act('PUT', `/${id}/activate`),
    await act('PUT', `/${id}/regenerate-secret`),
    await act('DELETE', `/${id}`),
  ]).toEqual([200, 200, 200, 200, 200, 200, 200]);
});
