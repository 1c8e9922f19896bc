/** `waybill-receiver listen`: a real service, a real receiver, and nothing but the e-shop's credentials. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryStore, receiver } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { testPrivateKey, testPublicKey } from '../../receiver/src/testing.ts';
import { lowWaterMark } from '../../src/db/maintenance/low-water-mark.ts';
import type { TestEshop } from '../support/api/api.ts';
import { minimalOrder, stockedProducts } from '../support/api/orders.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { nightly } from '../support/runner/nightly.ts';
import { freePort } from '../support/servers/ports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let eshop: TestEshop;
let server: ReturnType<typeof serve> | undefined;
const requests: string[] = [];
const children: ChildProcess[] = [];
const receivers: Server[] = [];

function openService(): void {
  const fetch = (request: Request, ...more: [object]) => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    return api.app.fetch(request, ...more);
  };
  server = serve({ fetch, port, hostname: '127.0.0.1' });
}

async function closeService(): Promise<void> {
  const closed = server;
  server = undefined;
  if (closed === undefined) return;
  await new Promise((resolve) => {
    closed.close(resolve);
    if ('closeAllConnections' in closed) closed.closeAllConnections();
  });
}

const api = await apiOfFile();
const port: number = await freePort();
beforeEach(async () => {
  eshop = await api.newEshop();
  await stockedProducts(eshop);
  openService();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const each of receivers.splice(0)) each.close();
  await closeService();
});

const order = (id: string) => eshop.shop.request('POST', '/v21/orders', minimalOrder(id));

/** The command, with what it has printed: lines of JSON. */
function startListening(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const child = spawn(
    process.execPath,
    ['--import', './bin/sources.js', 'receiver/src/cli.ts', 'listen', '--json', ...args],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        WAYBILL_URL: `http://127.0.0.1:${port}`,
        API_KEY: eshop.apiKey,
        WAYBILL_USER: eshop.shop.username,
        WAYBILL_PASSWORD: eshop.shop.password,
        ...variables,
      },
    },
  );
  children.push(child);
  let output = '';
  let errors = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at what was printed
  const lines = (): any[] =>
    output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const ended = once(child, 'exit').then(([code]) => ({ code, errors }));
  return {
    lines,
    states: () => lines().flatMap(({ state }) => state ?? []),
    answered: () => lines().filter(({ eventId }) => eventId !== undefined),
    ended,
    async ready() {
      await expect.poll(() => lines().length).toBeGreaterThan(0);
      const secret: string = lines()[0].secret;
      return secret;
    },
    async interrupt() {
      child.kill('SIGINT');
      return await ended;
    },
  };
}

/** A receiver made with the kit, and the bodies that it has verified and handled. */
function openReceiver(at: number, known: { readonly secrets: string } | { readonly publicKeys: string }) {
  const handled: object[] = [];
  const bodies: string[] = [];
  const hooks = receiver({
    ...known,
    store: memoryStore(),
    read: async ({ entityId }) => ({ eshopOrderId: entityId }),
  }).otherwise((record, { kind, entityId, webhookId, origin, changed }) => {
    handled.push({ kind, entityId, webhookId, origin, changed });
    bodies.push(JSON.stringify(record));
  });
  const listener = nodeListener(hooks);
  const opened = createServer((incoming, outgoing) => void listener(incoming, outgoing)).listen(
    at,
    '127.0.0.1',
  );
  receivers.push(opened);
  return { handled, bodies };
}

async function countsOf(tables: readonly string[]) {
  const counts = await Promise.all(
    tables.map(
      async (table) => (await api.sql`select from ${api.sql(table)} where eshop_id = ${eshop.eshopId}`).count,
    ),
  );
  return Object.fromEntries(tables.map((table, index) => [table, counts[index]]));
}

test('`listen` passes on what a webhook would get, across restarts, and only reads', async () => {
  const at = await freePort();
  await order('before');
  // Its first cursor is a second old: on a fast machine it would begin with what was before.
  await expect
    .poll(async () => {
      const [newest] = await api.sql<{ id: string }[]>`select id from events order by id desc limit 1`;
      return (await lowWaterMark(api.sql)) > (newest?.id ?? '');
    })
    .toBe(true);
  const listening = startListening(['--forward-to', `http://127.0.0.1:${at}/hooks?shop=1`, '--webhook', '7']);
  const secret = await listening.ready();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

  // Nobody listens yet: nothing is lost.
  await createWebhook(eshop.shop.request, { payloadVersion: 'v2' });
  requests.length = 0;
  await order('first');
  await expect
    .poll(listening.states)
    .toEqual([`Nothing is listening at 127.0.0.1:${at}: waiting, so that nothing is lost.`]);
  const receiving = openReceiver(at, { secrets: secret });
  await expect.poll(() => receiving.handled).toHaveLength(1);
  expect(receiving.handled).toEqual([
    { kind: 'CREATE_ORDER', entityId: 'first', webhookId: 7, origin: 'shop', changed: null },
  ]);
  const [delivery] = (await eshop.shop.request('GET', '/v21/deliveries')).data;
  const { text } = await eshop.shop.request('GET', `/v21/deliveries/${delivery.id}/payload`);
  expect(text).toContain(`"data":${receiving.bodies[0]}`);

  // The service restarts.
  await closeService();
  await eshop.shop.request('PATCH', '/v21/orders/first', { note: 'ring twice' });
  await expect
    .poll(() => listening.states().at(-1))
    .toMatch(/^The service does not answer \(.+\): waiting\.$/);
  openService();
  await expect.poll(() => receiving.handled).toHaveLength(2);
  expect(receiving.handled[1]).toMatchObject({ kind: 'UPDATE_ORDER', entityId: 'first', changed: ['note'] });
  expect(listening.states().at(-1)).toBe('The service answers again.');

  // The token ends.
  const logins = () => requests.filter((line) => line === 'POST /v21/users/login').length;
  const before = logins();
  await api.sql`update users set password_version = password_version + 1 where eshop_id = ${eshop.eshopId} and role = 'shop'`;
  await expect.poll(logins).toBe(before + 1);
  await eshop.warehouse.request('POST', '/v21/orders', minimalOrder('third'));
  await expect.poll(() => receiving.handled).toHaveLength(3);
  await expect.poll(() => listening.answered()).toHaveLength(3);
  expect((await listening.interrupt()).code).toBe(0);

  expect(listening.answered().map(({ entityId, status }) => [entityId, status])).toEqual([
    ['first', 200],
    ['first', 200],
    ['third', 200],
  ]);
  // It has asked for nothing but reads, and of the deliveries there are those of the webhook alone, none attempted.
  expect(
    requests
      .filter((line) => !line.startsWith('GET /v21/events') && !line.startsWith('GET /v2/events'))
      .sort(),
  ).toEqual(Array.from({ length: logins() }, () => 'POST /v21/users/login'));
  const attempted =
    await api.sql`select from deliveries where eshop_id = ${eshop.eshopId} and attempts_made > 0`;
  expect([await countsOf(['webhooks', 'deliveries', 'recoveries']), attempted.count]).toEqual([
    { webhooks: 1, deliveries: 2, recoveries: 0 },
    0,
  ]);
});

test('`listen` can filter by type and time, use GET and a given secret, and show responses', async () => {
  const at = await freePort();
  const since = new Date(Date.now() - 60_000).toISOString();
  const secret = 'a secret of the e-shop itself';
  const { handled } = openReceiver(at, { secrets: secret });
  await order('10001');
  const args = [
    '--forward-to',
    `http://127.0.0.1:${at}/hooks/`,
    '--method',
    'GET',
    '--types',
    'CREATE_ORDER',
    '--since',
    since,
  ];
  const listening = startListening(args, { WEBHOOK_SECRET: secret });
  await expect.poll(() => handled.length).toBe(1);
  expect(handled).toEqual([
    { kind: 'CREATE_ORDER', entityId: '10001', webhookId: 1, origin: 'shop', changed: null },
  ]);
  await listening.interrupt();

  const refusing = startListening([
    '--forward-to',
    `http://127.0.0.1:${at}/hooks`,
    '--since',
    since,
    '--types',
    'CREATE_PRODUCT',
    '--body',
  ]);
  await expect.poll(() => refusing.answered().length).toBe(2);
  expect(refusing.answered()[0]).toMatchObject({
    webhookType: 'CREATE_PRODUCT',
    entityId: 'TEA',
    status: 401,
    body: expect.stringContaining('"sku":"TEA"'),
    response: expect.stringMatching(/^X-Service-Signature does not match/),
  });
});

test('`listen` can sign for a receiver that knows public keys alone', async () => {
  const at = await freePort();
  const args = ['--forward-to', `http://127.0.0.1:${at}/hooks`, '--types', 'CREATE_ORDER'];
  const listening = startListening([...args, '--asymmetric']);
  await listening.ready();
  const [{ publicKey, privateKey }] = listening.lines();
  const { handled } = openReceiver(at, { publicKeys: publicKey });
  await order('made');
  await expect.poll(() => handled.length).toBe(1);
  // `v1a` does not cover who made the change.
  expect(handled[0]).toMatchObject({ kind: 'CREATE_ORDER', entityId: 'made', origin: null });
  await listening.interrupt();

  // The same key the next time, without the option.
  const again = startListening(args, { WEBHOOK_PRIVATE_KEY: privateKey });
  await again.ready();
  expect(again.lines()[0]).toMatchObject({ publicKey });
  expect(again.lines()[0]).not.toHaveProperty('privateKey');
  await order('again');
  await expect.poll(() => handled.length).toBe(2);
});

test('`examine` can sign for a receiver that knows public keys alone', async () => {
  const at = await freePort();
  openReceiver(at, { publicKeys: testPublicKey });
  const examined = async (variables: Readonly<Record<string, string>>) => {
    const args = ['./bin/sources.js', 'receiver/src/cli.ts', 'examine', `http://127.0.0.1:${at}/hooks`];
    const child = spawn(process.execPath, ['--import', ...args, '--json', '--asymmetric'], {
      cwd: root,
      env: { PATH: process.env.PATH, ...variables },
    });
    children.push(child);
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { output, errors, code };
  };
  const { output, code } = await examined({ WEBHOOK_PRIVATE_KEY: testPrivateKey });
  const { rows }: { rows: { name: string; verdict: string }[] } = JSON.parse(output);
  expect(rows.filter(({ verdict }) => verdict !== 'ok').map(({ name }) => name)).toEqual(['only v1 matches']);
  expect(code).toBe(0);
  const none = await examined({});
  expect(none.errors).toMatch(
    /^Set WEBHOOK_PRIVATE_KEY\. A new one, .+\n {2}whpk_[\w+/]{43}=\nis\n {2}whsk_[\w+/]{86}==\n$/,
  );
  expect(none.code).toBe(1);
});

const refusals: [string, readonly string[], Readonly<Record<string, string>>, string][] = [
  [
    'no credentials',
    [],
    { WAYBILL_PASSWORD: '', API_KEY: '' },
    'Set API_KEY, WAYBILL_PASSWORD: the credentials of the e-shop.',
  ],
  [
    'wrong credentials',
    [],
    { WAYBILL_PASSWORD: 'wrong' },
    'The service refuses: POST /v21/users/login: 401 ',
  ],
  ['unknown types', ['--types', 'ORDERS'], {}, '--types must be some of CREATE_ORDER, '],
  ['an invalid time', ['--since', 'yesterday'], {}, '--since must be a time'],
  ['an invalid secret', ['--secret', 'short'], {}, 'The secret neither begins with whsec_'],
  ['half a private key', [], { WEBHOOK_PRIVATE_KEY: 'whsk_half' }, 'WEBHOOK_PRIVATE_KEY is not whsk_'],
  [
    'a public key for a private one',
    [],
    { WEBHOOK_PRIVATE_KEY: testPublicKey },
    'is a public key: it belongs in the receiver',
  ],
  ['an invalid address', ['--url', 'warehouse'], {}, 'Give the URL of the API'],
];
test.each(nightly ? refusals : refusals.slice(0, 2))(
  '`listen` says so and ends, given %s',
  async (_, args, variables, message) => {
    const { code, errors } = await startListening(['--forward-to', 'http://127.0.0.1:9/', ...args], variables)
      .ended;
    expect(errors).toContain(message);
    expect(code).toBe(1);
  },
);
