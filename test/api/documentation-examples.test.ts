/** The documentation's examples: valid in their languages and by their schemas, accepted by the API; some are run. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Script } from 'node:vm';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, test } from 'vitest';
import { snippetsOf } from '../../site/snippets.ts';
import type { DocumentedMedia, OpenApiDocument } from '../../src/api/openapi/document.ts';
import { exampleBody, exampleParameter, operationsWithBody } from '../../src/api/openapi/example-requests.ts';
import { listen } from '../../src/http/http-server.ts';
import { stockedProduct } from '../support/api/orders.ts';
import { folderOfFile } from '../support/ends.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const run = promisify(execFile);
const ajv = new Ajv2020({ strict: false, validateFormats: false });

const api = await apiOfFile();
const server = await listen(api.app, '127.0.0.1', 0);
const document: OpenApiDocument = JSON.parse((await api.anonymous('GET', '/openapi.json')).text);
ajv.addSchema(document, 'openapi.json');
const folder = await folderOfFile('waybill-examples-');
afterAll(() => server.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

/** The examples of all operations in one language. */
const inLanguage = (label: string) =>
  operations().map(({ path, method, operation }) => ({
    name: `${method} ${path}`,
    text: snippetsOf(method, path, operation).find((each) => each.label === label)?.text ?? '',
  }));

const hasProgram = (program: string, args: string[]) =>
  run(program, args).then(
    () => true,
    () => false,
  );

test('the examples for a shell are valid', async () => {
  const all = inLanguage('curl');
  expect(all.length).toBeGreaterThan(70);
  const file = join(folder, 'all.sh');
  await writeFile(file, all.map(({ text }) => text).join('\n\n'));
  await run('bash', ['-n', file]);
});

test('the examples for Node.js are valid', () => {
  for (const { name, text } of inLanguage('Node.js')) {
    expect(() => new Script(`(async () => {\n${text}\n})`), name).not.toThrow();
  }
});

test('the examples for Python are valid', async () => {
  const files = await Promise.all(
    inLanguage('Python').map(async ({ text }, index) => {
      const file = join(folder, `example_${index}.py`);
      await writeFile(file, text);
      return file;
    }),
  );
  await run('python3', ['-m', 'py_compile', ...files]);
});

test('the examples for PHP are valid, if PHP is installed', async (context) => {
  if (!(await hasProgram('php', ['-v']))) return context.skip();
  for (const [index, { text }] of inLanguage('PHP').entries()) {
    const file = join(folder, `example-${index}.php`);
    await writeFile(file, text);
    await run('php', ['-l', file]);
  }
});

/** References in the schema are resolved in the document. */
function problems({ schema, example }: DocumentedMedia): unknown {
  const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'));
  const check = ajv.compile(rooted);
  return check(example) ? null : check.errors;
}

test('every request body has an example that matches its schema', () => {
  const withBody = operations().filter(({ operation }) => operation.requestBody !== undefined);
  const keys = withBody.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
  expect([...operationsWithBody].sort()).toEqual(keys.sort());
  for (const { path, method, operation } of withBody) {
    for (const media of Object.values(operation.requestBody?.content ?? {})) {
      expect(media.example, `${method} ${path}`).toBeTypeOf('object');
      expect(problems(media), `${method} ${path}`).toBeNull();
    }
  }
});

test('every response body has an example that matches its schema', () => {
  for (const { path, method, operation } of operations()) {
    for (const [status, { content = {} }] of Object.entries(operation.responses ?? {})) {
      for (const media of Object.values(content)) {
        expect(media.example, `${method} ${path} ${status}`).toBeTypeOf('object');
        expect(problems(media), `${method} ${path} ${status}`).toBeNull();
      }
    }
  }
});

test('every path parameter has an example', () => {
  for (const { path, operation } of operations()) {
    for (const { in: where, name, example } of operation.parameters ?? []) {
      if (where === 'path') expect(example, `${path} ${name}`).toBeDefined();
    }
  }
});

test('the API accepts the body of every example', async () => {
  const eshop = await api.newEshop();
  let webhook = 0;
  const send = async (key: string, body: unknown = exampleBody(key)) => {
    const [method = '', path = ''] = key.split(' ');
    const ofWebhook = path.startsWith('/v21/webhooks/');
    const id = ofWebhook ? webhook : exampleParameter(method, path, { name: 'id', in: 'path' });
    const user = path.startsWith('/v21/warehouse/') ? eshop.warehouse : eshop.shop;
    const ndjson = path.endsWith('/import');
    const answer = await user.request(
      method,
      path.replace('{id}', encodeURIComponent(String(id))),
      ndjson ? `${JSON.stringify(body)}\n` : body,
      ndjson ? { 'content-type': 'application/x-ndjson' } : {},
    );
    expect(answer.status, `${key}: ${answer.text}`).toBe(200);
    return answer;
  };
  const sent = new Set<string>(['POST /v21/users/login']);
  const story = async (...keys: string[]) => {
    for (const key of keys) {
      sent.add(key);
      await send(key);
    }
  };
  await send('PATCH /v21/eshop');
  sent.add('PATCH /v21/eshop');
  await story('POST /v21/products', 'PUT /v21/products/{id}', 'PATCH /v21/products/{id}');
  await send('POST /v21/warehouse/stock-movements', {
    type: 'stock_correction',
    sku: 'TEA-GREEN-100',
    count: 120,
  });
  await story('POST /v21/warehouse/stock-movements');
  webhook = (await send('POST /v21/webhooks')).data.id;
  sent.add('POST /v21/webhooks');
  await story(
    'PUT /v21/webhooks/{id}',
    'PUT /v21/webhooks/{id}/regenerate-secret',
    'POST /v21/webhooks/{id}/recover',
  );
  // Its time is one of the past.
  sent.add('PUT /v21/webhooks/{id}/pause');
  await story('POST /v21/orders', 'PUT /v21/orders/{id}', 'PATCH /v21/orders/{id}');
  const status = (to: string) => send('PUT /v21/warehouse/orders/{id}/status', { status: to });
  await status('received');
  const imported = await send('POST /v21/warehouse/events/import');
  expect(imported.text).toContain('"statusCode":200');
  sent.add('POST /v21/warehouse/events/import');
  await status('suspended');
  await status('received');
  await story('PUT /v21/warehouse/orders/{id}/status', 'PUT /v21/warehouse/orders/{id}/packing-lists');
  for (const [path, lines] of [
    ['receivings', 'lines'],
    ['returns', 'lines'],
  ] as const) {
    await story(`POST /v21/${path}`, `PUT /v21/${path}/{id}`, `PATCH /v21/${path}/{id}`);
    await story(`PUT /v21/warehouse/${path}/{id}/status`, `PUT /v21/warehouse/${path}/{id}/${lines}`);
  }
  expect([...sent].sort()).toEqual([...operationsWithBody].sort());
});

/** In an order that works. */
const truly = [
  'get /v21/eshop',
  'post /v21/webhooks',
  'post /v21/orders',
  'get /v21/orders/{id}',
  'get /v21/orders',
];

describe.each([
  ['curl', 'bash', (text: string) => ['-c', text.replace('curl ', 'curl -sS ')]],
  ['Node.js', process.execPath, (text: string) => ['--input-type=module', '-e', text]],
] as const)('%s', (label, program, args) => {
  test('the examples work against a running API', async () => {
    const eshop = await api.newEshop();
    await stockedProduct(eshop, 'TEA-GREEN-100', '0');
    const env = { ...process.env, WAYBILL_URL: server.url, API_KEY: eshop.apiKey, TOKEN: eshop.shop.token };
    const examples = new Map(inLanguage(label).map(({ name, text }) => [name, text]));
    for (const name of truly) {
      const { stdout } = await run(program, args(examples.get(name) ?? ''), { env });
      expect(stdout, name).toMatch(/"?statusCode"?: ?200/);
    }
  });
});
