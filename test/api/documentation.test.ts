/**
 * The OpenAPI document and the documentation page.
 */
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyServiceSignature, verifyStandardSignature } from '../../site/receiver-code.ts';
import { createApp } from '../../src/api/app.ts';
import type { DocumentedMedia, DocumentedSchema, OpenApiDocument } from '../../src/api/openapi/document.ts';
import { buildRequest } from '../../src/delivery/request.ts';
import { standardSignature } from '../../src/delivery/signature.ts';
import { entryOf } from '../../src/domain/catalogue.ts';
import { eventTypeNames, movementOf } from '../../src/domain/event-types.ts';
import { shippedMarketplaces } from '../../src/domain/order/marketplaces.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { newWebhookSecret } from '../../src/secrets/keys.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { wireEvent } from '../support/wire-event.ts';

const api = await apiOfFile({ marketplaces: [...shippedMarketplaces, 'corner-shop'] });
const answer = await api.anonymous('GET', '/openapi.json');
expect(answer.headers.get('content-type')).toContain('application/json');
const text: string = answer.text;
const document: OpenApiDocument = JSON.parse(text);

function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

test('every route is documented in OpenAPI 3.1, with a summary and a group', () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  const documented = new Set(operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`));
  const routes = api.app.routes
    .filter(({ path, method }) => method !== 'ALL' && /^\/v2/.test(path))
    .map(({ path, method }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
  expect([...documented].sort()).toEqual([...new Set(routes)].sort());
  for (const { path, method, operation } of operations()) {
    expect(operation.summary, `${method} ${path}`).toBeTruthy();
    expect(operation.tags, `${method} ${path}`).toHaveLength(1);
  }
});

test('every event of a record is named by the operations that fire it', () => {
  const changes = eventTypeNames.filter((type) => movementOf(type) === null);
  for (const type of changes) {
    const { path } = entryOf(type);
    const documented = operations().filter(
      (each) => each.path.includes(path) && new RegExp(`${type}\\b`).test(each.operation.description ?? ''),
    );
    expect(documented, type).not.toEqual([]);
  }
});

test('the documented retry policy is the configured one', async () => {
  const policy = { ...defaultRetryPolicy, maxRetries: 29, windowMs: 90 * 60_000, attemptTimeoutMs: 20_000 };
  const configured = await createApp({ ...api.deps, policy }).request('/openapi.json');
  const said = await configured.text();
  for (const words of [
    'Respond within 20 s',
    'retried up to 29 times within 1.5 hours',
    '(1–30)',
    '"maximum":30',
  ])
    expect(said).toContain(words);
});

/** A schema as TypeScript would write it, on one line unless `between`, before each field of an object, breaks it. */
function outlineOf(schema: DocumentedSchema | undefined, between = ' '): string {
  if (schema === undefined) return 'unknown';
  const { $ref, type, enum: values, const: only, format, items, properties, required = [] } = schema;
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? '';
  if (only !== undefined) return JSON.stringify(only);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (schema.allOf !== undefined) return schema.allOf.map((each) => outlineOf(each)).join(' & ');
  if (either !== undefined) return either.map((each) => outlineOf(each)).join(' | ');
  if (items !== undefined) return `(${outlineOf(items)})[]`;
  if (properties === undefined) return [type ?? 'any', format].flat().filter(Boolean).join(' ');
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${outlineOf(field)}`,
  );
  return `{${between}${fields.join(`;${between}`)}${between.replace('  ', '')}}`;
}

/** An operation with its parameters, body and responses. */
function outlineOfOperation({ path, method, operation }: ReturnType<typeof operations>[number]): string {
  const { parameters = [], requestBody, responses = {} } = operation;
  const names = parameters.map(({ name, in: where, required }) => `${where} ${name}${required ? '' : '?'}`);
  const contents = (title: string, content: Readonly<Record<string, DocumentedMedia>> = {}) =>
    Object.entries(content).map(([type, { schema }]) => `  ${title} ${type}: ${outlineOf(schema)}`);
  const statuses = Object.entries(responses);
  return [
    `${operation.operationId}: ${method.toUpperCase()} ${path} (${names.join(', ')})`,
    ...contents('takes', requestBody?.content),
    ...statuses
      .filter(([status]) => Number(status) < 400)
      .flatMap(([status, { content }]) => contents(status, content)),
    `  refused with ${statuses.map(([status]) => status).filter((status) => Number(status) >= 400)}`,
  ].join('\n');
}

test('the API matches openapi.txt, so that every change to it shows in review', async () => {
  const schemas = Object.entries(document.components.schemas);
  const lines = [
    ...operations().map(outlineOfOperation),
    ...schemas.map(([name, schema]) => `${name} = ${outlineOf(schema, '\n  ')}`),
  ];
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('openapi.txt');
});

test('every operation documents the common statuses', () => {
  for (const { path, method, operation } of operations()) {
    const statuses = Object.keys(operation.responses ?? {});
    const expected = ['200', '401', '500', '503'];
    if (operation.requestBody !== undefined) expected.push('400', '415');
    // The import is streamed and has no limit.
    if (operation.requestBody?.content['application/json'] !== undefined) expected.push('413');
    if (path.includes('{')) expected.push('400', '404');
    if (path.startsWith('/v21/warehouse/')) expected.push('403');
    expect(statuses, `${method} ${path}`).toEqual(expect.arrayContaining(expected));
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      const schema = response.content?.['application/json']?.schema;
      if (Number(status) >= 400) expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
    }
  }
  expect(document.paths['/v21/users/login']?.post?.responses).toMatchObject({ 411: {}, 429: {} });
});

test('the document avoids constructs that client generators cannot handle', () => {
  const found = [...text.matchAll(/\{[^{}]*"const":[^{}]*\}/g)].map(([each]) => each);
  expect(found.filter((each) => !each.includes('"type":') && !each.includes('"const":0'))).toEqual([]);
  expect(text).not.toMatch(/"anyOf":\[\{"anyOf"/);
  const bodies = operations().flatMap(
    ({ operation }) => operation.requestBody?.content['application/json'] ?? [],
  );
  expect(bodies.map(({ schema }) => schema?.$ref)).not.toContain(undefined);
  const { OrderInput, OrderPatch, Decimal } = document.components.schemas;
  expect(OrderInput?.properties).toHaveProperty('orderType.default', 'b2c');
  expect(JSON.stringify(OrderPatch)).not.toContain('"default"');
  expect(Decimal?.anyOf).toMatchObject([{ type: 'number' }, { type: 'string' }]);
});

test('operation ids are unique, and read as names', () => {
  const documented = Object.values(document.webhooks).flatMap((methods) => Object.values(methods));
  const ids = [...operations().map(({ operation }) => operation), ...documented].map(
    ({ operationId = '' }) => operationId,
  );
  expect(new Set(ids).size).toBe(ids.length);
  // A route without an operation id would be named after its method and path.
  for (const id of ids)
    expect(id).toMatch(/^(?!(?:get|put|post|patch|delete)V2)[a-z]+(?:[A-Z][a-z]*)*(?:V2)?$/);
  expect(ids).toEqual(
    expect.arrayContaining(['createWebhook', 'listDeliveries', 'pauseRecovery', 'getOrder', 'getOrderV2']),
  );
});

test('every operation requires key and token; the login requires the key alone', () => {
  const { components, security } = JSON.parse(text);
  expect(security).toEqual([{ apiKey: [], token: [] }]);
  expect(components.securitySchemes).toMatchObject({
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    token: { type: 'apiKey', in: 'header', name: 'authorization' },
  });
  expect(document.paths['/v21/users/login']?.post?.security).toEqual([{ apiKey: [] }]);
});

/** Runs an ES module given as text. */
async function importText(code: string): Promise<{ verify: (...args: unknown[]) => boolean }> {
  return await import(`data:text/javascript,${encodeURIComponent(code)}`);
}

test('the receiver code for X-Service-Signature accepts our signatures, and nothing else', async () => {
  const { verify } = await importText(verifyServiceSignature);
  const [secret, old] = [newWebhookSecret(), newWebhookSecret()];
  const content = '{"eshopOrderId":"ž 1/2"}';
  for (const [method, test] of [
    ['POST', false],
    ['POST', true],
    ['GET', false],
  ] as const) {
    const made = (at: Date, secrets: readonly string[]) => {
      const sent = {
        ...wireEvent,
        eshopId: 1,
        url: 'https://shop.example/hooks?order=',
        method,
        secrets,
        test,
      };
      const event = {
        deliveryId: 'd',
        eventType: 'CREATE_ORDER',
        entityId: 'ž 1/2',
        number: 1,
        body: content,
      };
      const { headers, path: url, body } = buildRequest({ ...sent, ...event, at }, '1');
      return { request: { method, url, headers }, body: body ?? '' };
    };
    const { request, body } = made(new Date(), [secret, old]);
    expect(verify(secret, request, body)).toBe(true);
    expect(verify(old, request, Buffer.from(body))).toBe(true);
    expect(verify(newWebhookSecret(), request, body)).toBe(false);
    expect(verify(secret, request, `${body} `)).toBe(false);
    expect(verify(secret, { ...request, url: `${request.url}2` }, body)).toBe(false);
    const { headers } = request;
    const header = headers['x-service-signature'] ?? '';
    for (const changed of [
      ...[
        '',
        't=1',
        header.replace(/v3=.*/, 'v3='),
        header.replace(/v3=.*/, ''),
        header.replace('t=', 'x='),
      ].map((signature) => ({ 'x-service-signature': signature })),
      { 'x-service-sequence': '4' },
      { 'x-service-webhook': '8' },
      { 'x-service-origin': 'shop' },
      { 'x-service-changed': 'note' },
      { 'x-service-event-id': 'another' },
      { 'x-service-delivery': 'another' },
      { 'x-service-event': 'UPDATE_ORDER' },
      { 'x-service-test': test ? '' : 'true' },
    ])
      expect(verify(secret, { ...request, headers: { ...headers, ...changed } }, body)).toBe(false);
    const late = made(new Date(Date.now() - 301_000), [secret]);
    expect(verify(secret, late.request, late.body)).toBe(false);
  }
});

test('the receiver code for webhook-signature agrees with the published library', async () => {
  const { verify } = await importText(verifyStandardSignature);
  const [secret, old] = [newWebhookSecret(), newWebhookSecret()];
  const timestamp = Math.floor(Date.now() / 1000);
  const [id, body] = [randomUUID(), '{"eshopOrderId":"ž"}'];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature({ secrets: [secret, old], timestamp, deliveryId: id, body }),
  };
  for (const right of [secret, old]) {
    expect(verify(right, headers, body)).toBe(true);
    expect(new Webhook(right).verify(body, headers)).toEqual(JSON.parse(body));
  }
  expect(verify(newWebhookSecret(), headers, body)).toBe(false);
  expect(verify(secret, headers, `${body} `)).toBe(false);
  expect(verify(secret, { ...headers, 'webhook-id': 'other' }, body)).toBe(false);
  expect(verify(secret, { ...headers, 'webhook-timestamp': String(timestamp - 301) }, body)).toBe(false);
});
