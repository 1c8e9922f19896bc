/**
 * The behavior shared by all routes, tested on a route of the test.
 */
import { generateSpecs } from 'hono-openapi';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { describeOperation } from '../../src/api/describe.ts';
import { ok } from '../../src/api/envelope.ts';
import { pageOf, pageQuery, paginationOf } from '../../src/api/pagination.ts';
import { body, params, query } from '../../src/api/validate.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const ThingInput = v.pipe(
  v.strictObject({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(10), v.description('What it is called.')),
    parts: v.optional(v.array(v.strictObject({ sku: v.string(), count: v.number() }))),
  }),
  v.metadata({ ref: 'ThingInput' }),
);
const Thing = v.pipe(v.object({ name: v.string() }), v.metadata({ ref: 'Thing' }));

const api = await apiOfFile();
api.app.post(
  '/v21/things/:name',
  describeOperation('Things', { id: 'makeThing', summary: 'Make', data: Thing, message: 'Made.' }),
  params({ name: v.string() }),
  body(ThingInput, { responseOnly: ['id', 'createdAt'] }),
  (c) => ok(c, 'Made.', { param: c.req.valid('param').name, ...c.req.valid('json') }),
);
api.app.get(
  '/v21/things',
  describeOperation('Things', {
    id: 'listThings',
    summary: 'List',
    data: Thing,
    list: true,
    message: 'Listed.',
  }),
  query({ ...pageQuery, state: v.optional(v.picklist(['a', 'b'])) }),
  (c) => {
    const page = pageOf(c.req.valid('query'));
    return ok(c, 'Listed.', [{ count: 1.5 }], { pagination: paginationOf(page, 61) });
  },
);
api.app.get('/v21/broken', () => {
  throw new TypeError('inner detail');
});
api.app.get('/v21/away', () => {
  throw Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' });
});
api.app.get('/v21/warehouse/things', (c) => ok(c, 'SessionContext.', c.var.session.role));

test('a success has the common envelope', async () => {
  const answer = await api.shop('POST', '/v21/things/a%2Fb%20%C5%BE', { name: 'x' });
  expect(answer.body).toEqual({ statusCode: 200, message: 'Made.', data: { param: 'a/b ž', name: 'x' } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('response-only fields are ignored, unknown fields refused, and all problems named at once', async () => {
  const path = '/v21/things/1';
  expect((await api.shop('POST', path, { name: 'x', id: 3, createdAt: 'now' })).data).toEqual({
    param: '1',
    name: 'x',
  });
  const refused = await api.shop('POST', path, {
    nam: 'x',
    id: 3,
    parts: [{ sku: 'A', count: 'many', color: 'red' }],
  });
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ statusCode: 400, error: 'Bad Request' });
  for (const part of [
    'name: is required',
    'nam: unknown field',
    'parts.0.color: unknown field',
    'parts.0.count: ',
  ])
    expect(refused.body.message).toContain(part);
});

test('a list is paged', async () => {
  const answer = await api.shop('GET', '/v21/things?page=2&items=20&state=a');
  expect(answer.text).toContain('"data":[{"count":1.5}]');
  expect(answer.body.pagination).toEqual({ page: 2, items: 20, totalCount: 61, totalPages: 4 });
  expect((await api.shop('GET', '/v21/things')).body.pagination).toMatchObject({ page: 1, items: 30 });
  for (const wrong of [
    'page=0',
    'items=0',
    'items=101',
    'page=x',
    'page=1e3',
    'state=c',
    'stat=a',
    'page=1&page=2',
  ]) {
    expect((await api.shop('GET', `/v21/things?${wrong}`)).body, wrong).toMatchObject({ statusCode: 400 });
  }
});

test('text that cannot be stored is refused', async () => {
  for (const name of ['a\u0000', '\ud800']) {
    const answer = await api.shop('POST', '/v21/things/1', { name });
    expect(answer.body).toMatchObject({ statusCode: 400, message: expect.stringContaining('name: ') });
  }
  expect((await api.shop('POST', '/v21/things/%00', { name: 'x' })).status).toBe(400);
});

test('an unknown path is a 404 and a wrong method a 405, both before authentication', async () => {
  for (const request of [api.shop, api.anonymous]) {
    for (const path of ['/', '/v21', '/v21/nothing', '/v21/things/1/2', '/V21/things', '/v21/things/']) {
      const answer = await request('GET', path);
      expect(answer.body, path).toMatchObject({ statusCode: 404, error: 'Not Found' });
    }
    const answer = await request('DELETE', '/v21/things');
    expect(answer.body).toMatchObject({ statusCode: 405, error: 'Method Not Allowed' });
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  }
});

test('a body is a 413 if too large, a 415 if not JSON, and a 400 if malformed', async () => {
  const path = '/v21/things/1';
  expect((await api.shop('POST', path, { name: 'x'.repeat(1024 * 1024) })).body).toMatchObject({
    statusCode: 413,
    error: 'Content Too Large',
  });
  expect((await api.shop('POST', path, 'name=x', { 'content-type': 'text/plain' })).body).toMatchObject({
    statusCode: 415,
    error: 'Unsupported Media Type',
  });
  for (const text of ['', '{', '{"name":"x",}', 'x', '{"name":"x"}}']) {
    expect((await api.shop('POST', path, text)).body, text).toMatchObject({ statusCode: 400 });
  }
  const utf8 = { 'content-type': 'Application/JSON; charset=utf-8' };
  expect((await api.shop('POST', path, '{"name":"x"}', utf8)).status).toBe(200);
});

test('internal failures reveal nothing, and carry the request id', async () => {
  for (const [path, status] of [
    ['/v21/broken', 500],
    ['/v21/away', 503],
  ] as const) {
    const answer = await api.shop('GET', path);
    expect(answer.body.statusCode).toBe(status);
    expect(answer.text).not.toMatch(/inner detail|ECONNREFUSED|10\.1/);
    const id = answer.headers.get('x-request-id');
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.body.message).toContain(id);
  }
});

test('warehouse routes require the warehouse role', async () => {
  expect((await api.warehouse('GET', '/v21/warehouse/things')).data).toBe('warehouse');
  expect((await api.shop('GET', '/v21/warehouse/things')).body).toMatchObject({
    statusCode: 403,
    error: 'Forbidden',
  });
});

test('the OpenAPI schemas describe the operations', async () => {
  const document = await generateSpecs(api.app);
  expect(document.components.schemas?.ThingInput).toMatchObject({
    type: 'object',
    additionalProperties: false,
    properties: { name: { minLength: 1, description: 'What it is called.' }, id: { readOnly: true } },
  });
  expect(document.paths['/v21/things']?.get?.parameters).toContainEqual(
    expect.objectContaining({ name: 'page', in: 'query', description: 'Page number, from 1.' }),
  );
  expect(document.paths['/v21/things/{name}']?.post?.requestBody).toMatchObject({
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ThingInput' } } },
  });
});
