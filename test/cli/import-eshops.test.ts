/** `waybill import-eshops` (docs/interface.md, A8): e-shops and users are imported with their keys and passwords. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from '@node-rs/bcrypt';
import { beforeEach, expect, test } from 'vitest';
import { listEshops } from '../../src/db/accounts/eshops.ts';
import { hashApiKey } from '../../src/secrets/keys.ts';
import { folderOfFile } from '../support/ends.ts';
import { apiOfFile } from '../support/lifetimes.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';

/** Made by libxcrypt, and by Python's argon2-cffi as its manual shows. */
const BCRYPT = {
  password: 'rasmuslerdorf',
  passwordHash: '$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq',
};
const ARGON2 = {
  password: 'correct horse battery staple',
  passwordHash:
    '$argon2id$v=19$m=65536,t=3,p=4$MIIRqgvgQbgj220jfp0MPA$YfwJSVjtjSU0zzV/P3S9nnQ/USre2wvJMjfCIjrTQbg',
};

let key = 0;

const api = await apiOfFile();
const directory = await folderOfFile('waybill-eshops-');
beforeEach(() => {
  key += 1;
});

const login = (apiKey: string, username: string, password: string) =>
  api.anonymous('POST', '/v21/users/login', { username, password }, { 'x-api-key': apiKey });

async function run(content: string, ...options: string[]) {
  const file = join(directory, 'eshops');
  await writeFile(file, content);
  const { printed, error, code } = await triedWaybill(['import-eshops', file, ...options], {
    DATABASE_URL: api.database.url,
  });
  return { printed, error, code };
}
async function results(content: string, ...options: string[]) {
  const { printed, code } = await run(content, '--json', ...options);
  return { code, results: printed.split('\n').map((line) => JSON.parse(line)) };
}
const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join('\n');

test('imported keys and passwords work, and the first login replaces a bcrypt hash', async () => {
  const apiKey = `the key of the old system ${key}`;
  const shop = { name: 'Old shop', email: 'old@example.com', apiKeyHash: hashApiKey(apiKey).toString('hex') };
  const users = [
    { username: 'eva@example.com', role: 'shop', passwordHash: BCRYPT.passwordHash },
    { username: 'adam', role: 'warehouse', passwordHash: ARGON2.passwordHash },
    { username: 'new', role: 'shop' },
  ];
  const file = lines({ ...shop, users });
  const tried = await results(file, '--dry-run');
  expect(tried.results).toMatchObject([{ line: 1, outcome: 'created', eshop: null, dryRun: true }]);
  expect(await login(apiKey, 'adam', ARGON2.password)).toMatchObject({ status: 401 });

  const { code, results: made } = await results(file);
  expect({ code, made }).toMatchObject({
    code: 0,
    made: [{ outcome: 'created', eshop: expect.any(Number) }],
  });
  expect(made[0]).not.toHaveProperty('apiKey');
  const [eva, adam, other] = made[0].users;
  expect([eva, adam]).toEqual(users.slice(0, 2).map(({ username, role }) => ({ username, role })));
  for (const [username, password] of [
    ['eva@example.com', BCRYPT.password],
    ['adam', ARGON2.password],
    ['new', other.password],
  ])
    expect(await login(apiKey, username, password)).toMatchObject({ status: 200 });
  expect(await login(apiKey, 'eva@example.com', ARGON2.password)).toMatchObject({ status: 401 });

  const stored = await api.sql<{ username: string; hash: string }[]>`
    select username, password_hash as hash from users where eshop_id = ${made[0].eshop} order by id`;
  expect(stored.map(({ hash }) => hash)).toEqual([
    expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
    ARGON2.passwordHash,
    expect.stringMatching(/^\$argon2id\$/),
  ]);
  expect(await login(apiKey, 'eva@example.com', BCRYPT.password)).toMatchObject({ status: 200 });

  // Imported again with another key, or another name: it is still the same e-shop.
  for (const again of [shop, { ...shop, name: 'Renamed' }, { ...shop, apiKeyHash: null }]) {
    expect((await results(lines({ ...again, users }))).results).toMatchObject([
      { outcome: 'skipped', eshop: made[0].eshop, note: `e-shop ${made[0].eshop} exists already` },
    ]);
  }
});

test('a login with another password of the same first 72 bytes does not replace the imported one', async () => {
  const long = 'p'.repeat(100);
  const apiKey = `the key of another system ${key}`;
  const shop = {
    name: 'Long',
    email: 'long@example.com',
    apiKeyHash: hashApiKey(apiKey).toString('hex'),
    users: [{ username: 'eva', role: 'shop', passwordHash: await hash(long, 4) }],
  };
  expect(await results(lines(shop))).toMatchObject({ code: 0 });
  expect(await login(apiKey, 'eva', `${'p'.repeat(72)}other`)).toMatchObject({ status: 200 });
  expect(await login(apiKey, 'eva', long)).toMatchObject({ status: 200 });
});

test('a bad line is reported without its hash and does not affect the others', async () => {
  const hash = '$2b$10$notahash';
  const user = { username: 'u', role: 'shop' };
  const shop = (n: number, more: object = {}) => ({ name: `Shop ${n}`, email: 's@example.com', ...more });
  const bad = [
    [shop(1, { users: [{ ...user, passwordHash: hash }] }), 'users.0.passwordHash: must be a hash by bcrypt'],
    [
      shop(2, { users: [{ ...user, passwordHash: BCRYPT.passwordHash.replace('07', '31') }] }),
      'its cost must be 4 to 14',
    ],
    [
      shop(3, { users: [{ ...user, passwordHash: ARGON2.passwordHash.replace('65536', '9999999') }] }),
      'argon2id: m must be',
    ],
    [
      shop(4, { users: [{ ...user, passwordHash: ARGON2.passwordHash.replace('2id', '2i') }] }),
      'must be a hash by bcrypt',
    ],
    [shop(5, { users: [user, user] }), 'users: must not have two of the same username'],
    [shop(6, { apiKeyHash: 'wb_a key itself' }), 'apiKeyHash: must be the SHA-256'],
    [shop(7, { email: 'nowhere' }), 'email: must be an e-mail address'],
    [shop(8, { key: 'unknown' }), 'key: unknown field'],
    [shop(9, { users: [{ ...user, role: 'admin' }] }), 'users.0.role: must be shop or warehouse'],
    [{ email: 's@example.com' }, 'name: is required'],
  ] as const;
  const good = [shop(10), shop(11, { users: [user] })];
  const before = (await listEshops(api.sql)).length;
  const { code, results: reported } = await results(
    `\ufeff${lines(good[0] ?? {}, ...bad.map(([line]) => line))}\r\n{\r\n${lines(good[1] ?? {})}\r\n`,
  );
  expect(code).toBe(2);
  expect(reported.map(({ outcome }) => outcome)).toEqual([
    'created',
    ...bad.map(() => 'refused'),
    'refused',
    'created',
  ]);
  for (const [index, [, note]] of bad.entries()) expect(reported[index + 1].note).toContain(note);
  expect(JSON.stringify(reported)).not.toMatch(/notahash|BCrypt|MIIRqg|a key itself/);
  expect((await listEshops(api.sql)).length).toBe(before + 2);
  expect(await login(reported[0].apiKey, 'u', 'x')).toMatchObject({ status: 401 });
  expect(await login(reported.at(-1).apiKey, 'u', reported.at(-1).users[0].password)).toMatchObject({
    status: 200,
  });
});

test('two imports of one CSV file at once create each e-shop once', async () => {
  const csv = Array.from(
    { length: 30 },
    (_, n) =>
      `Both ${n},both@example.com,"[{""username"":""u"",""role"":""shop"",""passwordHash"":""${BCRYPT.passwordHash}""}]"`,
  );
  const content = ['name,email,users', ...csv, csv[0]].join('\n');
  const [first, second] = await Promise.all([run(content), run(content)]);
  for (const { printed } of [first, second])
    expect(printed).toMatch(/^line +result +e-shop +name +users +note/);
  const created = [first, second].map(({ printed }) => Number(/(\d+) e-shops? created/.exec(printed)?.[1]));
  expect((created[0] ?? 0) + (created[1] ?? 0)).toBe(30);
  expect((await listEshops(api.sql)).filter(({ name }) => name.startsWith('Both')).length).toBe(30);
  expect((await run(content, '--dry-run')).printed).toContain(
    '0 e-shops would be created, 31 skipped, 0 refused.',
  );
});
