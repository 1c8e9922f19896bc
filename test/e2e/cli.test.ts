/** The `waybill` command as an operator runs it: a separate process on a real database. */
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findEshopByApiKey } from '../../src/db/accounts/eshops.ts';
import { findUser } from '../../src/db/accounts/users.ts';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { verifyPassword } from '../../src/secrets/passwords.ts';
import { folderOfFile } from '../support/ends.ts';
import { databaseOfFile } from '../support/lifetimes.ts';
import { builtCli } from '../support/programs/built.ts';
import { triedWaybill } from '../support/programs/waybill-command.ts';

const database = await databaseOfFile();
const directory = await folderOfFile('waybill-cli-');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command with only PATH and `env`. */
function waybill(args: readonly string[], env: Record<string, string> = { DATABASE_URL: database.url }) {
  return new Promise<Ended>((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env }, cwd: directory };
    execFile(process.execPath, [builtCli, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

describe('eshop', () => {
  it('create --json prints one object with the stored key and passwords', async () => {
    const { code, stdout } = await waybill([
      'eshop',
      'create',
      '--name',
      'Čajovna',
      '--email',
      'shop@example.com',
      '--json',
    ]);
    expect(code).toBe(0);
    const made = JSON.parse(stdout);
    expect(made).toEqual({
      eshopId: expect.any(Number),
      apiKey: expect.any(String),
      username: expect.any(String),
      password: expect.any(String),
      warehouse: { username: expect.any(String), password: expect.any(String) },
    });
    expect(await findEshopByApiKey(database.sql, made.apiKey)).toBe(made.eshopId);
    for (const [user, role] of [
      [made, 'shop'],
      [made.warehouse, 'warehouse'],
    ] as const) {
      const found = await findUser(database.sql, made.eshopId, user.username);
      expect(found?.role).toBe(role);
      expect(await verifyPassword(found?.passwordHash ?? '', user.password)).toBe(true);
    }
  });

  it('list finds the database of the instance in DATA_DIR', async () => {
    const dataDir = join(directory, 'instance');
    await (await openDataDir(dataDir)).writeInstance({ databaseUrl: database.url });
    const { code, stdout } = await waybill(['eshop', 'list', '--json'], { DATA_DIR: dataDir });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
  });
});

describe('user', () => {
  it('create adds a user to an e-shop, once per name', async () => {
    const { eshopId } = JSON.parse(
      (await waybill(['eshop', 'create', '--name', 'A', '--email', 'a@example.com', '--json'])).stdout,
    );
    const args = ['user', 'create', '--eshop', String(eshopId), '--role', 'warehouse', '--username', 'eva'];
    const made = JSON.parse((await waybill([...args, '--json'])).stdout);
    expect(made).toEqual({
      eshopId,
      userId: expect.any(Number),
      username: 'eva',
      role: 'warehouse',
      password: expect.any(String),
    });
    const found = await findUser(database.sql, eshopId, 'eva');
    expect(await verifyPassword(found?.passwordHash ?? '', made.password)).toBe(true);

    const again = await waybill(args);
    expect(again.code).toBe(1);
    expect(again.stderr).toBe(`E-shop ${eshopId} already has a user "eva"; choose another --username.\n`);
  });
});

describe('mistakes', () => {
  it.each([
    ['an unknown command', ['dance'], /^.*unknown command 'dance'.*\n$/],
    ['a missing option', ['eshop', 'create', '--email', 'a@example.com'], /^.*--name.*\n$/],
    ['an unknown e-shop', ['user', 'create', '--eshop', '999', '--role', 'shop'], /^E-shop 999 .+\.\n$/],
  ])('%s is reported on stderr, with code 1 and nothing on stdout', async (_, args, message) => {
    const stderr = expect.stringMatching(message);
    expect(await waybill(args)).toEqual({ code: 1, stdout: '', stderr });
  });

  it.each<[string, string[], RegExp, Record<string, string>?]>([
    [
      'an invalid address',
      ['eshop', 'create', '--name', 'A', '--email', 'here'],
      /^--email must be an e-mail address\.$/,
    ],
    [
      'an unknown role',
      ['user', 'create', '--eshop', '1', '--role', 'boss'],
      /^--role must be shop or warehouse\.$/,
    ],
    ['an invalid variable', ['policy'], /^RETRY_MAX must be .+\.$/, { RETRY_MAX: 'many' }],
    [
      'a missing instance',
      ['eshop', 'list'],
      /^No Waybill instance has run with DATA_DIR=nowhere: .+\.$/,
      { DATA_DIR: 'nowhere' },
    ],
    [
      'an unavailable database',
      ['eshop', 'list'],
      /^The database at DATABASE_URL cannot be reached\.$/,
      { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/a' },
    ],
  ])('%s is reported in one sentence', async (_, args, message, env = { DATABASE_URL: database.url }) => {
    const { error, code, printed } = await triedWaybill(args, env);
    expect(error?.trim()).toMatch(message);
    expect(error?.trim().split('\n')).toHaveLength(1);
    expect({ code, printed }).toEqual({ code: 1, printed: '' });
  });

  it('a query leaves no folder behind', async () => {
    await waybill(['eshop', 'list'], { DATA_DIR: 'nowhere' });
    expect(await readdir(directory)).not.toContain('nowhere');
  });
});

it('policy prints the table of waits with the configured values', async () => {
  const { stdout } = await waybill(['policy'], { RETRY_INITIAL_INTERVAL: '40ms', RETRY_MAX: '2' });
  expect(stdout).toContain('| 2 | 40 ms | 40 ms |\n| 3 | 60 ms | 100 ms |');
});
