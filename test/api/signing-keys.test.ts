/** Signatures with the key of the e-shop (docs/interface.md, D19), over HTTP to a real receiver. */
import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { receiver as kit, memoryOrder, memoryStore, type PublicKeys } from '../../receiver/src/index.ts';
import { nodeListener } from '../../receiver/src/node.ts';
import { createPrepare } from '../../src/attempt/prepare.ts';
import { loadForAttempt } from '../../src/db/deliveries/attempts.ts';
import { transaction } from '../../src/db/transaction.ts';
import { createWebhook } from '../support/api/webhooks.ts';
import { recordEvent } from '../support/database/record-event.ts';
import { apiOfFile, eshopOfEachTest, receiverOfFile } from '../support/lifetimes.ts';
import { listenLocally } from '../support/servers/ports.ts';

const api = await apiOfFile();
const receiver = await receiverOfFile();
const { eshop, request } = eshopOfEachTest(api);
afterEach(() => receiver.clear());

const PATH = '/v21/eshop/signing-keys';
const keysOf = async (ask = request) => (await ask('GET', PATH)).data;
const create = (fields: object = {}) =>
  createWebhook(request, { url: `${receiver.url}/hook/`, webhookType: 'CREATE_ORDER', ...fields });

/** The v1a signatures of a test of the webhook, and what each of the keys says of each. */
async function verified(id: number, keys: readonly { readonly jwk: JsonWebKey }[]): Promise<boolean[][]> {
  await request('POST', `/v21/webhooks/${id}/test`);
  const received = receiver.requests.at(-1);
  if (received === undefined) throw new Error('Nothing was received.');
  const { headers, text } = received;
  const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`);
  const given = String(headers['webhook-signature'])
    .split(' ')
    .filter((one) => one.startsWith('v1a,'))
    .map((one) => Buffer.from(one.slice(4), 'base64'));
  return given.map((signature) =>
    keys.map(({ jwk }) => verify(null, content, createPublicKey({ key: jwk, format: 'jwk' }), signature)),
  );
}

test('only an asymmetric webhook signs with v1a, which a PUT can change', async () => {
  const { id, asymmetric } = await create();
  expect(asymmetric).toBe(false);
  const keys = await keysOf();
  expect(await verified(id, keys)).toEqual([]);
  const { data: record } = await request('GET', `/v21/webhooks/${id}`);
  const changed = await request('PUT', `/v21/webhooks/${id}`, { ...record, asymmetric: true });
  expect(changed.data.asymmetric).toBe(true);
  // A client that does not know the field leaves it as it is.
  const { asymmetric: _, ...without } = record;
  expect((await request('PUT', `/v21/webhooks/${id}`, without)).data.asymmetric).toBe(true);
  expect(await verified(id, keys)).toEqual([[true]]);
});

test.each(['POST', 'GET'])(
  'an asymmetric webhook signs with v1a from its creation on: %s',
  async (method) => {
    const { id } = await create({ asymmetric: true, method });
    // Asked for afterwards: the key was made for the webhook.
    expect(await verified(id, await keysOf())).toEqual([[true]]);
    expect(receiver.requests.at(-1)?.method).toBe(method);
  },
);

test('a public key is shown as whpk_ and as JWK, named by its thumbprint, and differs by e-shop', async () => {
  const [key, ...more] = await keysOf();
  expect(more).toEqual([]);
  const x = Buffer.from(key.publicKey.replace(/^whpk_/, ''), 'base64').toString('base64url');
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  expect(key).toEqual({
    kid,
    publicKey: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
    jwk: { kty: 'OKP', crv: 'Ed25519', x, use: 'sig', alg: 'EdDSA', kid },
    createdAt: expect.stringMatching(/Z$/),
    signsUntil: null,
  });
  expect(await keysOf()).toEqual([key]);
  const [other] = await keysOf((await api.newEshop()).shop.request);
  expect(other.kid).not.toBe(kid);
});

test('the next key signs at once, beside the previous one for a day; until then there is no third', async () => {
  const { id } = await create({ asymmetric: true });
  const [first] = await keysOf();
  const { status, data } = await request('POST', PATH);
  expect(status).toBe(200);
  expect(data).toEqual(await keysOf());
  const [second, before] = data;
  expect(before).toEqual({ ...first, signsUntil: expect.any(String) });
  const hours = (Date.parse(before.signsUntil) - Date.parse(second.createdAt)) / 3_600_000;
  expect(hours).toBe(24);
  expect(await verified(id, data)).toEqual([
    [true, false],
    [false, true],
  ]);
  const third = await request('POST', PATH);
  expect(third.status).toBe(409);
  expect(third.body.message).toContain(before.signsUntil);
  expect(await keysOf()).toEqual(data);
  // The day is over.
  await api.sql`update signing_keys set previous_until = now() where eshop_id = ${eshop.eshopId}`;
  expect(await keysOf()).toEqual([second]);
  expect(await verified(id, [second, first])).toEqual([[true, false]]);
  expect((await request('POST', PATH)).data[1]?.kid).toBe(second.kid);
});

test('overlap=0 ends all older keys at once', async () => {
  const { id } = await create({ asymmetric: true });
  const [first] = await keysOf();
  await request('POST', PATH);
  const { data } = await request('POST', `${PATH}?overlap=0`);
  expect(data).toHaveLength(1);
  expect(await verified(id, [data[0], first])).toEqual([[true, false]]);
  expect((await request('POST', `${PATH}?overlap=1`)).status).toBe(400);
});

test('an attempt reads signing keys only for an asymmetric webhook', async () => {
  const plain = await create();
  const { id } = await create({ asymmetric: true });
  await request('POST', PATH);
  await transaction(api.sql, (tx) =>
    recordEvent(tx, { eshopId: eshop.eshopId, type: 'CREATE_ORDER', entityId: '1', record: {} }),
  );
  const rows = await api.sql<{ id: string; webhookId: number }[]>`
    select id, webhook_id from deliveries where eshop_id = ${eshop.eshopId}`;
  const signersFor = async (webhookId: number) => {
    const delivery = await loadForAttempt(api.sql, rows.find((row) => row.webhookId === webhookId)?.id ?? '');
    if (delivery === undefined) throw new Error('There is no delivery.');
    return createPrepare(api.keys)(delivery, 1).signingKeys?.length ?? 0;
  };
  expect(await signersFor(plain.id)).toBe(0);
  expect(await signersFor(id)).toBe(2);
});

/** What an examination finds wrong with a receiver that the kit makes of these keys, with public keys alone. */
async function examined(publicKeys: PublicKeys) {
  const hooks = kit({ publicKeys, store: memoryStore(), order: memoryOrder(), onProblem: () => {} });
  const server = createServer(nodeListener(hooks.otherwise(() => {})));
  const port = await listenLocally(server);
  try {
    const { id } = await create({ asymmetric: true, url: `http://127.0.0.1:${port}/hooks` });
    const { data } = await request('POST', `/v21/webhooks/${id}/examine`);
    const rows: { name: string; verdict: string }[] = data.rows;
    return Object.fromEntries(
      rows.flatMap(({ name, verdict }) => (verdict === 'ok' ? [] : [[name, verdict]])),
    );
  } finally {
    server.close().closeAllConnections();
  }
}

test('a receiver with public keys alone passes an examination, except for what v1a does not cover', async () => {
  const [key] = await keysOf();
  // The sequence, which v1a does not cover.
  const known = { 'only v1 matches': 'warning' };
  expect(await examined(key.publicKey)).toEqual(known);
  await request('POST', PATH);
  expect(await examined(key.jwk)).toEqual(known);
  const [other] = await keysOf((await api.newEshop()).shop.request);
  expect(await examined(other.publicKey)).toMatchObject({ 'valid request': 'fail' });
});

test('the private key is sealed for its e-shop alone', async () => {
  await keysOf();
  const [row] = await api.sql`select private_key from signing_keys where eshop_id = ${eshop.eshopId}`;
  const owner = { eshopId: eshop.eshopId, of: 'signing key' } as const;
  const opened = api.keys.decryptSecret(row?.privateKey, owner);
  // PKCS #8 of Ed25519 (RFC 8410): its beginning is always this.
  expect(opened).toMatch(/^MC4CAQAwBQYDK2VwBCIEI/);
  expect(row?.privateKey.includes(Buffer.from(opened, 'base64').subarray(-32))).toBe(false);
  expect(() => api.keys.decryptSecret(row?.privateKey, { ...owner, eshopId: eshop.eshopId + 1 })).toThrow();
  expect(() => api.keys.decryptSecret(row?.privateKey, { eshopId: eshop.eshopId, webhookId: 1 })).toThrow();
});
