/** The same 401 in the same time: every login costs one verification of a password, whatever is wrong with it. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { replacePassword } from '../../src/db/accounts/users.ts';
import { hashPassword } from '../../src/secrets/passwords.ts';
import type { TestApi } from '../support/api/api.ts';

/** The hashes that were verified against, recorded around the real function. */
const verified = vi.hoisted((): string[] => []);
/** Verifications in progress, and the most there were at once. */
const running = vi.hoisted(() => ({ now: 0, most: 0 }));
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  const verify: typeof real.verify = async (hash, ...rest) => {
    verified.push(String(hash));
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    try {
      return await real.verify(hash, ...rest);
    } finally {
      running.now -= 1;
    }
  };
  return { ...real, verify };
});
vi.mock('@node-rs/bcrypt', async (original) => {
  const real = await original<typeof import('@node-rs/bcrypt')>();
  const verify: typeof real.verify = async (password, hash) => {
    verified.push(String(hash));
    return await real.verify(password, hash);
  };
  return { ...real, verify };
});

let api: TestApi;
beforeAll(async () => {
  // Files of this folder share their imports: this one must load them again with the module that counts.
  vi.resetModules();
  const { createTestApi } = await import('../support/api/api.ts');
  api = await createTestApi();
  // Hashed as by the program: the users of tests have cheap hashes.
  for (const { username, password } of [api.eshop.shop, api.eshop.warehouse])
    await replacePassword(api.sql, api.eshop.eshopId, username, await hashPassword(password));
});
afterAll(() => api.drop());

/** The verifications of each login, as costs from the hashes: "$argon2id$v=19$m=19456,t=2,p=1", "$2b$07". */
async function costsOf(tries: readonly { key: string; username: string; password: string }[]) {
  const costs: string[][] = [];
  for (const { key, ...credentials } of tries) {
    verified.length = 0;
    await api.anonymous('POST', '/v21/users/login', credentials, { 'x-api-key': key });
    costs.push(
      verified.map((hash) =>
        (/^\$(argon2id\$v=19\$[^$]+|2[aby]\$\d\d)/.exec(hash)?.[1] ?? hash).replace('2y', '2b'),
      ),
    );
  }
  return costs;
}

test('a wrong password, name or key costs one verification of each kind of hash in use', async () => {
  const { apiKey, shop, warehouse, eshopId } = api.eshop;
  const { username, password } = shop;
  const tries = [
    { key: apiKey, username, password },
    { key: apiKey, username, password: 'wrong' },
    { key: apiKey, username: 'nobody', password },
    { key: 'wb_nothing', username, password },
  ];
  const own = 'argon2id$v=19$m=19456,t=2,p=1';
  expect(await costsOf(tries)).toEqual(Array(4).fill([own]));
  await replacePassword(
    api.sql,
    eshopId,
    warehouse.username,
    '$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq',
  );
  const moved = { key: apiKey, username: warehouse.username, password: 'wrong' };
  expect(await costsOf([...tries, moved])).toEqual(Array(5).fill(['2b$07', own]));
  // This login replaces the imported hash by an argon2id hash: the others no longer cost a bcrypt.
  expect(await costsOf([{ ...moved, password: 'rasmuslerdorf' }, ...tries])).toEqual([
    ['2b$07', own],
    ...Array(4).fill([own]),
  ]);
});

test('passwords from one address are verified one at a time', async () => {
  const { apiKey, shop } = api.eshop;
  running.most = 0;
  const { username, password } = shop;
  const logins = Array.from({ length: 4 }, () =>
    api.anonymous('POST', '/v21/users/login', { username, password }, { 'x-api-key': apiKey }),
  );
  for (const { status } of await Promise.all(logins)) expect(status).toBe(200);
  expect(running.most).toBe(1);
});
