/** The receiver's kit with public keys: what it accepts, what it refuses, what it says of a key that is none. */
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AsymmetricVector } from '../../receiver/generate/asymmetric-vectors.ts';
import {
  type Delivery,
  memoryStore,
  type PublicKeys,
  type ReceiverOptions,
  Refused,
  receiver,
} from '../../receiver/src/index.ts';
import { fakeDelivery, testPrivateKey, testPublicKey, testSecret } from '../../receiver/src/testing.ts';

const vectorsOf = (name: string): AsymmetricVector[] =>
  JSON.parse(readFileSync(new URL(`../../receiver/vectors/${name}.json`, import.meta.url), 'utf8'));
const vectors = vectorsOf('asymmetric');
const setup = vectorsOf('asymmetric-setup');

/** What becomes of a request: the delivery, or the rejection. */
async function judged(request: Request, options: ReceiverOptions): Promise<Delivery | Refused> {
  const outcomes: (Delivery | Refused)[] = [];
  const hooks = receiver({
    tests: 'handle',
    read: async () => ({}),
    onProblem: (problem) => {
      if (problem instanceof Refused) outcomes.push(problem);
    },
    ...options,
  }).otherwise((_, delivery) => outcomes.push(delivery));
  const { status } = await hooks(request);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error(`${status}: neither handled nor refused`);
  expect(status).toBe(outcome instanceof Refused ? outcome.status : 200);
  return outcome;
}
const store = memoryStore;

describe('vectors', () => {
  const verdict = async ({ publicKeys, now, target, method, headers, body }: AsymmetricVector) => {
    const request = new Request(`https://shop.example${target}`, { method, headers, body });
    const found = await judged(request, { publicKeys, store: store(), now: () => now * 1_000 });
    return found instanceof Refused ? found.status : 'accepted';
  };

  it.each(vectors)('$name is valid: $valid', async (vector) => {
    expect(await verdict(vector)).toBe(vector.valid ? 'accepted' : 401);
  });

  it.each(setup)('the kit does not start with $name', ({ publicKeys }) => {
    expect(() => receiver({ publicKeys, store: store() })).toThrow(TypeError);
  });

  it('both kinds of vectors exist, and their names are unique', () => {
    expect(vectors.filter(({ valid }) => valid)).toHaveLength(8);
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(32);
    expect(new Set(setup.map(({ name }) => name)).size).toBe(25);
  });
});

const jwkOf = (publicKey: string): { kty: string; crv: string; x: string } => {
  const x = Buffer.from(publicKey.slice(5), 'base64').toString('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x };
};
/** As the API shows it. */
const withMore = { ...jwkOf(testPublicKey), kid: 'k', use: 'sig' };
const other = (): { jwk: JsonWebKey; text: string } => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return { jwk: privateKey.export({ format: 'jwk' }), text: `whpk_${raw.toString('base64')}` };
};
const signed = (options: Parameters<typeof fakeDelivery>[1] = {}) =>
  fakeDelivery('CREATE_ORDER', { privateKeys: testPrivateKey, changed: ['note'], ...options });
const altered = (request: Request, headers: Record<string, string>, body?: string) => {
  const all = new Headers(request.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return request
    .text()
    .then((text) => new Request(request.url, { method: 'POST', headers: all, body: body ?? text }));
};

describe('public keys alone', () => {
  it.each<[string, PublicKeys]>([
    ['as text', testPublicKey],
    ['as JWK', jwkOf(testPublicKey)],
    ['in a list, beside another', [other().text, withMore]],
  ])('a delivery is verified by keys %s', async (_, publicKeys) => {
    const delivery = await judged(await signed({ id: 'd-1', sequence: 4 }), { publicKeys, store: store() });
    // Who made the change is not covered: anybody may have set it.
    expect(delivery).toMatchObject({
      id: 'd-1',
      kind: 'CREATE_ORDER',
      sequence: 4,
      origin: null,
      changed: null,
    });
  });

  it('neither a secret nor X-Service-Signature is needed', async () => {
    const request = await signed({ secrets: `whsec_${Buffer.alloc(32, 3).toString('base64')}` });
    request.headers.delete('x-service-signature');
    expect(await judged(request, { publicKeys: testPublicKey, store: store() })).not.toBeInstanceOf(Refused);
  });

  it('values that v1a does not cover are not protected', async () => {
    const request = await altered(await signed(), { 'x-service-sequence': '9', 'x-service-test': 'true' });
    const delivery = await judged(request, { publicKeys: testPublicKey, store: store() });
    expect(delivery).toMatchObject({ sequence: 9, test: true });
  });

  it('a GET is refused, since v1a covers nothing that matters', async () => {
    const request = await signed({ method: 'GET' });
    expect(await judged(request, { publicKeys: testPublicKey, store: store() })).toMatchObject({
      code: 'setup',
      status: 501,
      message: expect.stringContaining('give the receiver secrets beside publicKeys'),
    });
  });

  it.each<[string, () => Promise<Request>, string]>([
    ['no v1a', () => fakeDelivery('CREATE_ORDER', { webhookId: 7 }), 'set "asymmetric" of webhook 7 to true'],
    ['an id of its own', async () => altered(await signed(), { 'webhook-id': 'd-2' }), 'webhook-id is not'],
    ['an empty body', async () => altered(await signed(), {}, ''), 'The body is empty'],
    [
      'a body parsed and written again',
      async () => altered(await signed(), {}, JSON.stringify(await (await signed()).json(), null, 2)),
      'parsed and serialized again',
    ],
    ['another body', async () => altered(await signed(), {}, '{}'), 'does not match the public key'],
    ['a wrong clock', () => signed({ at: new Date(Date.now() - 400_000) }), 'in the past'],
  ])('a request with %s is refused with its cause', async (_, made, message) => {
    const refused = await judged(await made(), { publicKeys: testPublicKey, store: store() });
    expect(refused).toMatchObject({ status: 401, message: expect.stringContaining(message) });
  });
});

describe('public keys beside secrets', () => {
  const both = { secrets: testSecret, publicKeys: testPublicKey };

  it.each(['POST', 'GET'] as const)('both signatures have to match: %s', async (method) => {
    const delivery = await judged(await signed({ method }), { ...both, store: store() });
    expect(delivery).toMatchObject({ method, origin: 'warehouse', changed: ['note'] });
  });

  it('neither signature is enough alone', async () => {
    const another = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    const v1a = await judged(await signed({ secrets: another }), { ...both, store: store() });
    expect(v1a).toMatchObject({ status: 401, message: expect.stringContaining('X-Service-Signature') });
    const v3 = await judged(await signed(), { ...both, publicKeys: other().text, store: store() });
    expect(v3).toMatchObject({ status: 401, message: expect.stringContaining('v1a') });
    const none = await judged(await fakeDelivery('CREATE_ORDER'), { ...both, store: store() });
    expect(none).toMatchObject({ status: 401, message: expect.stringContaining('has no v1a') });
  });

  it('both signatures must have the same time', async () => {
    const request = await signed();
    const later = await signed({
      id: request.headers.get('webhook-id') ?? '',
      at: new Date(Date.now() - 60_000),
    });
    const standard = Object.fromEntries(
      ['webhook-timestamp', 'webhook-signature'].map((name) => [name, later.headers.get(name) ?? '']),
    );
    const mixed = await judged(await altered(request, standard), { ...both, store: store() });
    expect(mixed).toMatchObject({ message: expect.stringContaining('is not the t of X-Service-Signature') });
  });
});

describe('keys', () => {
  const { jwk } = other();
  it.each<[string, unknown, string]>([
    ['that is not set', undefined, 'is undefined, neither'],
    ['that is null', null, 'is null, neither'],
    ['that is empty', '', 'is empty'],
    ['with a newline', `${testPublicKey}\n`, 'whitespace'],
    ['that is private', `whsk_${Buffer.alloc(64, 7).toString('base64')}`, 'is a private key'],
    ['that is private, in PEM', '-----BEGIN PRIVATE KEY-----\nMC4CAQ', 'is a private key'],
    ['that is a private JWK', jwk, 'is a private key'],
    ['that is a secret', testSecret, 'it belongs in secrets'],
    ['without its prefix', testPublicKey.slice(5), 'does not begin with whpk_'],
    ['of 31 bytes', `whpk_${Buffer.alloc(31, 7).toString('base64')}`, 'was all of it copied?'],
    ['of 33 bytes', `whpk_${Buffer.alloc(33, 7).toString('base64')}`, 'was all of it copied?'],
    ['that was cut off', testPublicKey.slice(0, -1), 'was all of it copied?'],
    ['in base64url', `whpk_${Buffer.alloc(32, 255).toString('base64url')}=`, 'was all of it copied?'],
    ['of zeros', `whpk_${Buffer.alloc(32).toString('base64')}`, 'consists of zeros'],
    ['that is a JWK of another curve', { ...jwkOf(testPublicKey), crv: 'X25519' }, 'not a JWK of Ed25519'],
    ['that is a JWK without x', { kty: 'OKP', crv: 'Ed25519' }, 'not a JWK of Ed25519'],
    ['that is a JWK with half an x', { ...jwkOf(testPublicKey), x: 'AAAA' }, 'was all of it copied?'],
    ['that is a list in a list', [[testPublicKey]], 'not a JWK of Ed25519'],
  ])('a key %s is refused at once, and not repeated', (_, key, message) => {
    // As JavaScript would pass it.
    const started = (publicKeys: unknown) => () => {
      const options: ReceiverOptions = Object.assign(JSON.parse('{}'), { publicKeys });
      return receiver({ ...options, secrets: testSecret, store: store() });
    };
    expect(started(key)).toThrow(message);
    if (!Array.isArray(key)) expect(started([testPublicKey, key])).toThrow('publicKeys[1]');
    if (typeof key === 'string' && key !== '') expect(started(key)).not.toThrow(key.trim().slice(6));
  });

  it('a key is required without a secret', () => {
    expect(() => receiver(JSON.parse('{"store":{}}'))).toThrow(TypeError);
    expect(() => receiver({ publicKeys: [], store: store() })).toThrow('an empty list');
    const none = { ...JSON.parse('{}'), store: store() };
    expect(() => receiver(none)).toThrow('neither secrets nor publicKeys');
  });
});
