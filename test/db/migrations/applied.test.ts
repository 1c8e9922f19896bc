/** A database made by other migrations than this version's is refused, and left as it is. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { migrate } from '../../../src/db/migrate.ts';
import { UserError } from '../../../src/lib/user-error.ts';
import { folderOfTest } from '../../support/ends.ts';
import { databaseOfFile } from '../../support/lifetimes.ts';

const database = await databaseOfFile();
const { sql } = database;
let directory: string;

const file = (name: string) => join(directory, name);
const write = (name: string, text: string) => writeFile(file(name), text);
const migrated = () => migrate(database.url, { directory });

beforeEach(async () => {
  await sql`drop table if exists migrations, one, three, four`;
  directory = await folderOfTest('waybill-migrations-');
  await write('0001-one.sql', 'create table one (id int);');
  await write('0003-three.sql', 'create table three (id int);');
  expect(await migrated()).toEqual(['0001-one.sql', '0003-three.sql']);
});

/** Everything that a start could have changed. */
async function state() {
  const columns = await sql`
    select table_name, column_name from information_schema.columns where table_schema = 'public' order by 1, 2`;
  return { columns, applied: await sql`select * from migrations order by name` };
}

const others: [string, () => Promise<unknown>][] = [
  ['a file was changed', () => write('0001-one.sql', 'create table one (id bigint);')],
  ['the last file has one more comment', () => write('0003-three.sql', 'create table three (id int); --')],
  ['a file was renamed', () => rename(file('0001-one.sql'), file('0001-first.sql'))],
  ['a file is gone from among them', () => rm(file('0001-one.sql'))],
  ['a file was added among them', () => write('0002-two.sql', 'create table two (id int);')],
];

test.each(others)('refused: %s', async (_what, change) => {
  await change();
  await write('0004-four.sql', 'create table four (id int);');
  const before = await state();

  const error = await migrated().catch((thrown: unknown) => thrown);

  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toMatch(
    /The database was created by other migrations than those of this Waybill, [^.]+\.$/,
  );
  expect(await state()).toEqual(before);
});

test('later migrations are applied, with the SHA-256 of each file', async () => {
  await write('0004-four.sql', '-- outside a transaction\ncreate table four (id int);\n');

  expect(await migrated()).toEqual(['0004-four.sql']);
  expect(await migrated()).toEqual([]);

  // By `sha256sum`.
  expect(await sql`select name, hash from migrations order by name`).toEqual([
    { name: '0001-one.sql', hash: '9411214ef281f6e41950c13393e58dc90b558495c8c0068fe9b6dfa2b49b6775' },
    { name: '0003-three.sql', hash: '5ec534ee88688bca858e22859a9544dea0d814fbb104d95fd8fbe5eab9e10ec9' },
    { name: '0004-four.sql', hash: 'a6c8796bbc20c98f47bd869ff02e892424cf22e8dc816a670ccbaa3512bf6ca0' },
  ]);
});

test('an older release starts on the tables of a newer one', async () => {
  await write('0004-four.sql', 'create table four (id int);');
  await migrated();
  await rm(file('0004-four.sql'));

  expect(await migrated()).toEqual([]);
});
