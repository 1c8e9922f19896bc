/**
 * Another system's webhooks, imported into the real program (docs/interface.md, W4, W16 and W19): receivers keep the
 * secrets that they know; headers for a gateway arrive, and are in no file.
 */
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { login } from '../support/api/client.ts';
import { folderOfFile } from '../support/ends.ts';
import { installationOfFile, programOfFile, receiverOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';
import type { ReceivedRequest } from '../support/servers/receiver.ts';
import { signedBy } from '../support/signed-by.ts';
import { until } from '../support/until.ts';

let orders = 0;

const installation = await installationOfFile();
const receiver = await receiverOfFile();
const program = await programOfFile({ ...installation.env, LOG_LEVEL: 'debug' });
const shop = await login(program.url, installation.credentials);
const folder = await folderOfFile('waybill-import-');

const newKey = () => `whsec_${randomBytes(32).toString('base64')}`;
const webhook = (path: string, fields: object = {}) => ({
  url: `${receiver.url}/${path}`,
  webhookType: 'CREATE_ORDER',
  active: true,
  method: 'POST',
  ...fields,
});

/** The requests at these paths for a new order. */
async function deliveries(paths: readonly string[]): Promise<ReceivedRequest[]> {
  receiver.clear();
  orders += 1;
  expect(await shop.createOrder(`moved-${orders}`)).toMatchObject({ statusCode: 200 });
  return await Promise.all(
    paths.map((path) =>
      until(`a delivery to ${path}`, async () =>
        receiver.requests.find((request) => request.path === `/${path}`),
      ),
    ),
  );
}

/** Checks it as a receiver does that knows only the secret. */
function expectSigned(request: ReceivedRequest | undefined, secret: string): void {
  if (request === undefined) throw new Error('Nothing arrived.');
  expect(signedBy(secret, request)).toEqual(['v1', 'v2', 'v3']);
  const { headers, text } = request;
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (secret.startsWith('whsec_')) {
    const said = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': String(headers['webhook-signature']),
    };
    expect(new Webhook(secret).verify(text, said)).toMatchObject({ eshopOrderId: `moved-${orders}` });
  } else {
    const made = createHmac('sha256', secret).update(`${id}.${timestamp}.${text}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${made}`);
  }
}

async function filesOf(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const read = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
  return (await Promise.all(read)).join('\n');
}

test('chosen secrets sign, and static headers arrive, survive a mask and are in no file', async () => {
  const [encoded, plain] = [newKey(), 'a plain secret of the old system'];
  const headers = { 'X-Gateway-Key': 'the key of their gateway' };
  for (const [path, secret] of [
    ['encoded', encoded],
    ['plain', plain],
  ] as const) {
    const made = await shop.request('POST', '/webhooks', webhook(path, { secret, headers }));
    expect(made).toMatchObject({ statusCode: 200, data: { secret, headers: { 'X-Gateway-Key': '•••' } } });
    const { data: record } = await shop.request('GET', `/webhooks/${made.data.id}`);
    expect(
      await shop.request('PUT', `/webhooks/${made.data.id}`, { ...record, description: 'x' }),
    ).toMatchObject({
      statusCode: 200,
      data: { headers: { 'X-Gateway-Key': '•••' } },
    });
  }
  const [first, second] = await deliveries(['encoded', 'plain']);
  expectSigned(first, encoded);
  expectSigned(second, plain);
  for (const request of [first, second])
    expect(request?.headers['x-gateway-key']).toBe('the key of their gateway');
  const kept = `${program.output()}${await filesOf(installation.env.DATA_DIR)}`;
  for (const secret of ['the key of their gateway', plain, encoded]) expect(kept).not.toContain(secret);
  const rows = await installation.sql`select w::text as row from webhooks w`;
  expect(JSON.stringify(rows)).not.toContain('gateway"');
});

test('imported webhooks keep their secrets; a second run adds none, and bad lines harm no others', async () => {
  const eshop = installation.credentials.eshopId;
  const secrets = Array.from({ length: 5 }, newKey);
  const paths = secrets.map((_, index) => `imported-${index}`);
  const good = secrets.map((secret, index) => {
    const own = index === 0 ? { id: 700, ordering: 'latest' } : {};
    const headers = { 'X-Old': `old ${index}` };
    return JSON.stringify(webhook(`imported-${index}`, { eshop, secret, headers, ...own }));
  });
  const bad = ['{', JSON.stringify({ url: 'nowhere' }), JSON.stringify(webhook('x', { eshop: 999 }))];
  const file = join(folder, 'import.ndjson');
  await writeFile(file, [...good.slice(0, 2), ...bad, ...good.slice(2), ''].join('\n'));
  const run = async (...more: string[]) => {
    const { printed, error, code } = await triedWaybill(
      ['import-webhooks', file, '--json', ...more],
      installation.env,
    );
    const results = printed.split('\n').map((line) => JSON.parse(line));
    return { results, error, code, outcomes: results.map(({ outcome }) => outcome) };
  };
  const expected = ['created', 'created', 'refused', 'refused', 'refused', 'created', 'created', 'created'];
  const count = async () => (await installation.sql`select count(*)::int from webhooks`)[0]?.count;
  const before = await count();
  expect((await run('--dry-run')).outcomes).toEqual(expected);
  expect(await count()).toBe(before);
  const first = await run();
  expect(first).toMatchObject({ outcomes: expected, code: 2, error: '3 lines were refused.' });
  expect(first.results[0]).toMatchObject({ line: 1, eshop, id: 700, note: null });
  expect(JSON.stringify(first.results)).not.toMatch(/whsec_|old 0/);
  expect((await shop.request('GET', '/webhooks/700')).data).toMatchObject({ ordering: 'latest' });
  expect((await shop.request('GET', '/webhooks/701')).data).toMatchObject({ ordering: 'none' });
  const made = await shop.request('POST', '/webhooks', webhook('after'));
  expect(made.data.id).toBeGreaterThan(704);
  for (const [index, request] of (await deliveries(paths)).entries()) {
    expectSigned(request, secrets[index] ?? '');
    expect(request.headers['x-old']).toBe(`old ${index}`);
  }
  const second = await run();
  expect(second.outcomes).toEqual(expected.map((outcome) => (outcome === 'created' ? 'skipped' : outcome)));
  expect(second.results[0]).toMatchObject({ id: 700, note: 'webhook 700 exists already' });
  expect(await count()).toBe(before + 6);
});

test('CSV is read, secrets are generated, and used numbers are replaced', async () => {
  const csv = join(folder, 'webhooks.csv');
  await writeFile(
    csv,
    `id,url,webhookType,method,active,headers,description\r\n700,${receiver.url}/csv?a=1,CREATE_PRODUCT,GET,false,"{""X-Key"":""a,b""}","one\n""two"""\r\n`,
  );
  const eshop = String(installation.credentials.eshopId);
  const { printed } = await triedWaybill(
    ['import-webhooks', csv, '--eshop', eshop, '--json'],
    installation.env,
  );
  const made = JSON.parse(printed);
  expect(made).toMatchObject({
    outcome: 'created',
    secret: expect.stringMatching(/^whsec_/),
    note: expect.stringContaining('700'),
  });
  expect((await shop.request('GET', `/webhooks/${made.id}`)).data).toMatchObject({
    method: 'GET',
    active: false,
    description: 'one\n"two"',
    headers: { 'X-Key': '•••' },
  });
});

test('a dry run reports the same wrong lines as a run, and nothing secret of them', async () => {
  const eshop = installation.credentials.eshopId;
  const file = join(folder, 'wrong.ndjson');
  const lines = [
    [JSON.stringify(webhook('nul', { description: 'a\0b' })), 'description: must not contain NUL'],
    [JSON.stringify(webhook('half', { description: '\ud800' })), 'description: must not contain NUL'],
    [JSON.stringify(webhook('id')).replace('{', '{"id":1e400,'), /^id: must be an integer from 1 to \d+$/],
    [JSON.stringify([webhook('list')]), 'is a list: write one object per line, as jq -c'],
    [JSON.stringify(webhook('user', { url: 'https://eva:hunter2@shop.example/x' })), 'url: '],
    [JSON.stringify(webhook('other', { eshop: eshop + 1 })), /^eshop: is \d+, but with --eshop/],
  ] as const;
  await writeFile(file, lines.map(([line]) => line).join('\n'));
  for (const more of [['--dry-run'], []]) {
    const { printed, code } = await triedWaybill(
      ['import-webhooks', file, '--json', '--eshop', String(eshop), ...more],
      installation.env,
    );
    const results = printed.split('\n').map((line) => JSON.parse(line));
    expect(results.map(({ outcome }) => outcome)).toEqual(lines.map(() => 'refused'));
    for (const [index, [, note]] of lines.entries())
      expect(results[index].note).toEqual(expect.stringMatching(note));
    expect(code).toBe(2);
    expect(printed).not.toContain('hunter2');
  }
  // If the map is another file by mistake, its content is not shown.
  const wrong = ['import-webhooks', file, '--from', 'svix', '--map', file];
  expect(await triedWaybill(wrong, installation.env)).toMatchObject({
    error: `${file} is not JSON.`,
    code: 1,
  });
});

test('a reader that stops ends the import, which is no success', async () => {
  const file = join(folder, 'many.ndjson');
  await writeFile(file, `${JSON.stringify({ nothing: true })}\n`.repeat(5_000));
  const child = spawn(process.execPath, [builtCli, 'import-webhooks', file, '--json'], {
    env: { PATH: process.env.PATH ?? '', ...installation.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.once('data', () => child.stdout.destroy());
  expect(await once(child, 'close')).toEqual([141, null]);
});

test('standard input is read to its end, whatever its chunks', async () => {
  const child = spawn(process.execPath, [builtCli, 'import-webhooks', '-', '--json'], {
    env: { PATH: process.env.PATH ?? '', ...installation.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const { eshopId } = installation.credentials;
  const line = JSON.stringify({ ...webhook('piped', { active: false, description: '…' }), eshop: eshopId });
  const bytes = Buffer.from(`${line}\n`);
  // In the middle of a character.
  const middle = bytes.indexOf('…') + 1;
  child.stdin.write(bytes.subarray(0, middle), () => child.stdin.end(bytes.subarray(middle)));
  expect(await ended).toEqual([0, null]);
  expect(JSON.parse(stdout)).toMatchObject({ line: 1, outcome: 'created', note: null });
});
