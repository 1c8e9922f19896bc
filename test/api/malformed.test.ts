/**
 * Malformed bodies: always 400 with the error body, never 500, and nothing is written.
 */
import { expect, test } from 'vitest';
import { apiOfFile } from '../support/lifetimes.ts';

const good = { url: 'https://shop.example', webhookType: 'CREATE_ORDER', active: true, method: 'POST' };

const api = await apiOfFile();
const id: number = (await api.shop('POST', '/v21/webhooks', good)).data.id;

const text = JSON.stringify(good);
const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

const malformed = [
  // Not JSON.
  ...['', ' ', '{', '{"a":1,}', "{'a':1}", '{"a":NaN}', '{"a":"\t"}', 'url=https://shop.example'],
  ...[`${text}${text}`, `\ufeff\ufeff${text}`, `/*c*/${text}`, '{"a":1}\u0000'],
  deep('[', '', 10_000),
  // JSON, but not such a body.
  ...['null', 'false', '1e400', '"x"', `[${text}]`, '{"":1}', '{"__proto__":{}}', '{"constructor":1}'],
  ...['{"a":"\\u0000"}', '{"\\u0000":1}', '{"a":"\\ud800"}'],
  deep('[', ']', 5_000),
  deep('{"a":', '}', 2_500).replace('}', '1}'),
  // The right shape with wrong values; more: error-messages.test.ts.
  ...[
    { ...good, url: 'https://shop.example/\u0000' },
    { ...good, webhookType: '__proto__' },
    { ...good, extra: true },
  ].map((value) => JSON.stringify(value)),
];

test('malformed bodies are refused with 400, and nothing is written', async () => {
  const [before] = await api.sql`select count(*), max(generation) from webhooks`;
  const first = ['POST', '/v21/webhooks'] as const;
  const others = [
    ['PUT', `/v21/webhooks/${id}`],
    ['POST', '/v21/users/login'],
    ['POST', '/v21/orders'],
    ['POST', '/v21/products'],
  ] as const;
  for (const [index, body] of malformed.entries()) {
    for (const [method, path] of index % 6 === 0 ? [first, ...others] : [first]) {
      const answer = await api.shop(method, path, body);
      expect(answer.body, `${method} ${path} ${body.slice(0, 80)}`).toEqual({
        statusCode: 400,
        error: 'Bad Request',
        message: expect.stringMatching(/./),
      });
      expect(answer.status).toBe(400);
    }
  }
  expect((await api.sql`select count(*), max(generation) from webhooks`)[0]).toEqual(before);
});

test('bytes that are not UTF-8 are refused', async () => {
  const body = new Uint8Array([
    ...new TextEncoder().encode('{"url":"'),
    0xff,
    0xfe,
    ...new TextEncoder().encode('"}'),
  ]);
  const response = await api.app.request('/v21/webhooks', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': api.eshop.apiKey,
      authorization: api.eshop.shop.token,
    },
    body,
  });
  expect(response.status).toBe(400);
});

test('endpoints without a body ignore one', async () => {
  for (const body of ['{', 'x', '{"active":false}']) {
    const answer = await api.shop('PUT', `/v21/webhooks/${id}/activate`, body, {
      'content-type': 'text/plain',
    });
    expect(answer.data).toMatchObject({ active: true });
  }
});

test.each(['%00', '%E0%A4%A', '%ED%A0%80', 'x'.repeat(65), '%'])(
  'an invalid identifier in the path is a 400 or 404: %s',
  async (id) => {
    for (const path of [`/v21/orders/${id}`, `/v2/products/${id}`]) {
      expect([400, 404]).toContain((await api.shop('GET', path)).status);
    }
  },
);
