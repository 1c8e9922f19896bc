/**
 * Login, tokens, keys and limits.
 */
import { Writable } from 'node:stream';
import { SignJWT } from 'jose';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { signToken } from '../../src/api/token.ts';
import { createTestApi, type TestApi, type TestEshop } from '../support/api/api.ts';
import { apiOfFile } from '../support/lifetimes.ts';

const api = await apiOfFile({ trustProxy: true });

let addresses = 0;
/** Logs in from an unused address, or the one given. */
function login(
  eshop: TestEshop,
  fields: object = {},
  from = `192.0.2.${++addresses}`,
  apiKey = eshop.apiKey,
) {
  const { username, password } = eshop.shop;
  const headers = { 'x-api-key': apiKey, 'x-forwarded-for': `10.9.9.9, ${from}` };
  return api.anonymous('POST', '/v21/users/login', { username, password, ...fields }, headers);
}

const refused = { statusCode: 401, error: 'Unauthorized', message: expect.any(String) };

test('a login returns a working token', async () => {
  const { eshop } = api;
  const answer = await login(eshop);
  expect(answer.body).toEqual({
    statusCode: 200,
    message: 'Logged in.',
    data: {
      token: expect.any(String),
      tokenType: 'Bearer',
      expiresIn: 3600,
      expiresAt: expect.stringMatching(/Z$/),
      user: { id: expect.any(Number), username: eshop.shop.username, role: 'shop' },
    },
  });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const left = Date.parse(answer.data.expiresAt) - Date.now();
  expect(left).toBeGreaterThan(3_500_000);
  expect(left).toBeLessThanOrEqual(3_600_000);

  const { token } = answer.data;
  for (const authorization of [`Bearer ${token}`, `bearer ${token}`, `BEARER  ${token}`, token]) {
    const headers = { 'x-api-key': eshop.apiKey, authorization };
    expect((await api.anonymous('GET', '/v21/webhooks', undefined, headers)).status, authorization).toBe(200);
  }
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({ iss: 'waybill', aud: 'waybill-api', eshop: eshop.eshopId, role: 'shop' });
  expect(claims.exp - claims.iat).toBe(3600);
});

test('the warehouse user logs in with its role', async () => {
  const { username, password } = api.eshop.warehouse;
  expect((await login(api.eshop, { username, password })).data.user.role).toBe('warehouse');
});

test('wrong key, name and password give the same 401', async () => {
  const other = await api.newEshop();
  const answers = [
    await login(api.eshop, { password: 'wrong' }),
    await login(api.eshop, { username: 'nobody' }),
    await login(api.eshop, {}, undefined, 'wb_nothing'),
    await login(api.eshop, {}, undefined, ''),
    // A user of another e-shop.
    await login(api.eshop, {}, undefined, other.apiKey),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual(refused);
    expect(answer.text).toBe(answers[0]?.text);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
});

test('ten failures lock the account for that address, even with the right password; others go on', async () => {
  const eshop = await api.newEshop();
  const from = '198.51.100.1';
  for (let i = 0; i < 10; i++) expect((await login(eshop, { password: 'wrong' }, from)).status).toBe(401);
  const blocked = await login(eshop, {}, from);
  expect(blocked.body).toMatchObject({ statusCode: 429, error: 'Too Many Requests' });
  const wait = Number(blocked.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(800);
  expect(wait).toBeLessThanOrEqual(900);

  expect((await login(eshop, {}, '198.51.100.2')).status).toBe(200);
  expect((await login(await api.newEshop(), {}, from)).status).toBe(200);
  const { username, password } = eshop.warehouse;
  expect((await login(eshop, { username, password }, from)).status).toBe(200);
});

test('a successful login resets the count of failures', async () => {
  const eshop = await api.newEshop();
  const from = '198.51.100.10';
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 9; i++) expect((await login(eshop, { password: 'wrong' }, from)).status).toBe(401);
    expect((await login(eshop, {}, from)).status).toBe(200);
  }
});

test('simultaneous guesses do not slip through', async () => {
  const eshop = await api.newEshop();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => login(eshop, { password: 'wrong' }, '198.51.100.20')),
  );
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
});

test('an address has a looser limit of its own; forwarded addresses count only if configured', async () => {
  const strict = await createTestApi({ loginLimits: { perAddress: 5 } });
  onTestFinished(() => strict.drop());
  const attempt = (username: string, from: string) =>
    strict.anonymous(
      'POST',
      '/v21/users/login',
      { username, password: 'wrong' },
      { 'x-api-key': strict.eshop.apiKey, 'x-forwarded-for': from },
    );
  for (let i = 0; i < 5; i++) expect((await attempt(`name ${i}`, `203.0.113.${i}`)).status).toBe(401);
  expect((await attempt('name 5', '203.0.113.5')).status).toBe(429);
});

test('a forwarded address may have a port: locking out one client locks out no other', async () => {
  const written = [
    (last: number) => `[2001:db8:0:${last}::1]:4711`,
    (last: number) => `198.51.100.${last}:4711`,
    (last: number) => `"[2001:db8:1:${last}::1]"`,
  ];
  for (const from of written) {
    const eshop = await api.newEshop();
    const wrong = () => login(eshop, { password: 'wrong' }, from(1));
    for (let failure = 0; failure < 10; failure += 1) expect((await wrong()).status).toBe(401);
    expect([from(1), (await wrong()).status]).toEqual([from(1), 429]);
    expect([from(2), (await login(eshop, {}, from(2))).status]).toEqual([from(2), 200]);
  }
});

test('a flood of simultaneous logins from one address is throttled, and nobody else is', async () => {
  const { eshop } = api;
  const from = `192.0.2.${++addresses}`;
  const flood = Array.from({ length: 300 }, (_, index) =>
    login(eshop, { username: `nobody ${index}` }, from),
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await login(eshop)).status).toBe(200);
  const answers = await Promise.all(flood);
  const throttled = answers.filter(({ body }) => body.message === 'Too many logins at once. Try again.');
  expect(throttled.length).toBeGreaterThan(0);
  for (const { status, headers } of throttled) {
    expect(status).toBe(429);
    expect(headers.get('retry-after')).toBe('1');
  }
});

describe('the limit of an address', () => {
  let strict: TestApi;
  const log: string[] = [];
  beforeAll(async () => {
    const stream = new Writable({
      write(chunk, _encoding, done) {
        log.push(String(chunk));
        done();
      },
    });
    strict = await createTestApi({ loginLimits: { perAddress: 5 }, log: pino({ level: 'warn' }, stream) });
  });
  afterAll(() => strict.drop());

  const from = (eshop: TestEshop, fields: object = {}, apiKey = eshop.apiKey) => {
    const { username, password } = eshop.shop;
    const headers = { 'x-api-key': apiKey, 'x-forwarded-for': '203.0.113.1' };
    return strict.anonymous('POST', '/v21/users/login', { username, password, ...fields }, headers);
  };
  const wrongOnce = (eshop: TestEshop, name: number) =>
    from(eshop, { username: `name ${name}`, password: 'x' });

  test('successes do not count', async () => {
    const eshop = await strict.newEshop();
    for (let i = 0; i < 12; i++) expect((await from(eshop)).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await wrongOnce(eshop, i)).status).toBe(401);
    expect((await wrongOnce(eshop, 5)).status).toBe(429);
  });

  test('attempts on a locked account do not count', async () => {
    const eshop = await strict.newEshop();
    const loose = await createTestApi({ loginLimits: { perAddress: 15 }, trustProxy: true });
    const { username, password } = loose.eshop.shop;
    const attempt = (name: string, word: string) =>
      loose.anonymous(
        'POST',
        '/v21/users/login',
        { username: name, password: word },
        { 'x-api-key': loose.eshop.apiKey },
      );
    for (let i = 0; i < 10; i++) expect((await attempt('stuck', 'x')).status).toBe(401);
    for (let i = 0; i < 20; i++) expect((await attempt('stuck', 'x')).status).toBe(429);
    expect((await attempt(username, password)).status).toBe(200);
    await loose.drop();
    expect((await from(eshop)).status).toBe(200);
  });

  test('guesses with unknown keys do not lock out a right key', async () => {
    const eshop = await strict.newEshop();
    const guess = () => from(eshop, { password: 'x' }, 'wb_guessed');
    for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    expect((await from(eshop)).status).toBe(200);
  });

  test('guesses at one e-shop lock out that e-shop alone', async () => {
    const [guessed, other] = [await strict.newEshop(), await strict.newEshop()];
    for (let i = 0; i < 5; i++) expect((await wrongOnce(guessed, i)).status).toBe(401);
    expect((await wrongOnce(guessed, 5)).status).toBe(429);
    expect((await from(guessed)).status).toBe(429);
    expect((await from(other)).status).toBe(200);
  });

  test('the shared limit of an unconfigured proxy is warned of once', async () => {
    expect(log.filter((line) => line.includes('TRUST_PROXY'))).toHaveLength(1);
    expect(JSON.parse(log[0] ?? '')).toMatchObject({ level: pino.levels.values.warn });
  });
});

test.each([
  [{ username: undefined }, 'username: is required'],
  [{ password: '' }, 'password: '],
  [{ password: 5 }, 'password: '],
  [{ name: 'x' }, 'name: unknown field'],
])('a login with %j is a 400', async (fields, message) => {
  expect((await login(api.eshop, fields)).body).toMatchObject({
    statusCode: 400,
    error: 'Bad Request',
    message: expect.stringContaining(message),
  });
});

test('every endpoint needs key and token of the same e-shop', async () => {
  const { eshop, keys } = api;
  const other = await api.newEshop();
  const session = { eshopId: eshop.eshopId, userId: 1, username: 'x', role: 'shop' } as const;
  const { token } = eshop.shop;
  const hourAgo = new Date(Date.now() - 3_601_000);
  const custom = (claims: object, header = { alg: 'HS256' }) =>
    new SignJWT({ eshop: eshop.eshopId, name: 'x', role: 'shop', pv: 1, ...claims })
      .setProtectedHeader(header)
      .setSubject('1')
      .setIssuer('waybill')
      .setAudience('waybill-api')
      .setExpirationTime('1h');
  const wrong: Record<string, Record<string, string>> = {
    nothing: {},
    'key only': { 'x-api-key': eshop.apiKey },
    'token only': { authorization: token },
    'wrong key': { 'x-api-key': 'wb_x', authorization: token },
    "another e-shop's key": { 'x-api-key': other.apiKey, authorization: token },
    'token over': {
      'x-api-key': eshop.apiKey,
      authorization: await signToken(keys.tokenKey, { session, passwordVersion: 1 }, hourAgo),
    },
    'token of another key': {
      'x-api-key': eshop.apiKey,
      authorization: await signToken(new Uint8Array(32), { session, passwordVersion: 1 }, new Date()),
    },
    'changed token': { 'x-api-key': eshop.apiKey, authorization: `${token.slice(0, -8)}AAAAAAAA` },
    'no token at all': { 'x-api-key': eshop.apiKey, authorization: 'Basic abc' },
    'unsigned token': {
      'x-api-key': eshop.apiKey,
      authorization: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token.split('.')[1]}.`,
    },
    'other issuer': {
      'x-api-key': eshop.apiKey,
      authorization: await custom({}).setIssuer('other').sign(keys.tokenKey),
    },
    'other audience': {
      'x-api-key': eshop.apiKey,
      authorization: await custom({}).setAudience('other').sign(keys.tokenKey),
    },
    'other algorithm': {
      'x-api-key': eshop.apiKey,
      authorization: await custom({}, { alg: 'HS512' }).sign(
        new Uint8Array([...keys.tokenKey, ...keys.tokenKey]),
      ),
    },
    'unknown role': {
      'x-api-key': eshop.apiKey,
      authorization: await custom({ role: 'root' }).sign(keys.tokenKey),
    },
  };
  const right = await custom({}).sign(keys.tokenKey);
  const headers = { 'x-api-key': eshop.apiKey, authorization: right };
  expect((await api.anonymous('GET', '/v21/webhooks', undefined, headers)).status).toBe(200);
  for (const [name, headers] of Object.entries(wrong)) {
    for (const [method, path] of [
      ['GET', '/v21/webhooks'],
      ['POST', '/v21/webhooks'],
      ['DELETE', '/v21/webhooks/1'],
      ['GET', '/v21/deliveries/x'],
    ] as const) {
      const answer = await api.anonymous(method, path, undefined, headers);
      expect(answer.body, `${name}: ${method} ${path}`).toEqual(refused);
    }
  }
});
