/** Static headers of a webhook (docs/interface.md, W16): they are sent, and never shown. */
import { beforeEach, expect, test } from 'vitest';
import { openHeaders } from '../../src/secrets/static-headers.ts';
import { createWebhook, minimalWebhook, webhookRow } from '../support/api/webhooks.ts';
import { apiOfFile, receiverOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile();
const receiver = await receiverOfFile();
beforeEach(() => receiver.clear());

const sent = { 'X-Gateway-Key': 'the key of the gateway', Authorization: 'Basic dXNlcjpwYXNz' };
const shown = { 'X-Gateway-Key': '•••', Authorization: '•••' };
const create = (fields: object = {}) =>
  createWebhook(api.shop, { url: `${receiver.url}/hook`, headers: sent, ...fields });
const put = (id: number, fields: object) =>
  api.shop('PUT', `/v21/webhooks/${id}`, { ...minimalWebhook, url: `${receiver.url}/hook`, ...fields });

async function stored(id: number) {
  const row = await webhookRow(api.sql, id);
  const owner = { eshopId: row?.eshopId, webhookId: id };
  return row?.headers === null ? null : openHeaders(api.keys, row?.headers, owner);
}

test('header values are masked in every response, and sealed in the database', async () => {
  const created = await create();
  const path = `/v21/webhooks/${created.id}`;
  expect(created.headers).toEqual(shown);
  for (const answer of [
    await api.shop('GET', path),
    await api.shop('PUT', `${path}/deactivate`),
    await api.shop('PUT', `${path}/activate`),
    await api.shop('PUT', `${path}/regenerate-secret`),
  ]) {
    expect(answer.data.headers).toEqual(shown);
    expect(answer.text).not.toMatch(/the key of the gateway|dXNlcjpwYXNz/);
  }
  expect(await stored(created.id)).toEqual(sent);
  const dump = await api.sql`select w::text from webhooks w where id = ${created.id}`;
  expect(JSON.stringify(dump)).not.toMatch(/the key|dXNlcjpwYXNz/);
  expect(JSON.stringify(dump)).not.toContain(Buffer.from('the key of the gateway').toString('hex'));
  expect((await create({ headers: null })).headers).toBeNull();
  expect((await create({ headers: {} })).headers).toBeNull();
});

test('a test sends the headers, shows their names, and masks echoed values', async () => {
  const { id } = await create();
  const [, word = ''] = sent.Authorization.split(' ');
  receiver.respond({
    status: 403,
    headers: { location: `/denied?key=${word}&of=${encodeURIComponent(sent['X-Gateway-Key'])}` },
    body: JSON.stringify({ you: sent, cut: 'x'.repeat(890) + sent['X-Gateway-Key'] }),
  });
  const { data, text } = await api.shop('POST', `/v21/webhooks/${id}/test`);
  receiver.respond({});
  expect(receiver.requests.at(-1)?.headers).toMatchObject({
    'x-gateway-key': 'the key of the gateway',
    authorization: 'Basic dXNlcjpwYXNz',
  });
  expect(data.request.headers).toMatchObject(shown);
  expect(data.response.headers.location).toBe('/denied?key=•••&of=•••');
  // "Gateway" is a word of the value too.
  expect(data.response.excerpt).toContain('{"you":{"X-•••-Key":"•••","Authorization":"•••"}');
  expect(text).not.toMatch(/the key|dXNlc/);
});

test('a refused PUT changes nothing', async () => {
  const { id } = await create();
  const before = await webhookRow(api.sql, id);
  const other = 'https://other.example/hook';
  for (const [fields, message] of [
    [{ headers: { 'X-New': '•••' } }, 'headers.X-New: no value is stored under this name: send one'],
    [{ url: other, headers: shown }, 'headers.X-Gateway-Key: the URL leads to another scheme, host or port'],
    [{ url: other }, 'headers: the URL leads to another scheme, host or port: send every value again'],
    [{ headers: { Host: 'evil.example' } }, 'headers.Host: belongs to the connection'],
  ] as const) {
    const answer = await put(id, { active: false, ...fields });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  }
  expect(await webhookRow(api.sql, id)).toEqual(before);
  const moved = await put(id, { url: other, headers: sent });
  expect(moved.data).toMatchObject({ url: other, headers: shown });
});
