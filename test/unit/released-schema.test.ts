/** The schema's files of a release are frozen: its databases are upgraded by new files only. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { readMigrations } from '../../src/db/applied-migrations.ts';
import { MIGRATIONS, readReleased, schemaProblems } from '../support/released-schema.ts';

const files = await readMigrations(MIGRATIONS);
const released = await readReleased();
const frozen = Object.keys(released);

test(`frozen: ${frozen.length === 0 ? 'no file, before the first release' : frozen.join(', ')}`, () => {
  expect(schemaProblems(files, released)).toEqual([]);
});

test('a release freezes all of them', async () => {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const [, date] = /^## \[[^\]]+\](?: - (\S+))?$/m.exec(changelog) ?? [];
  // A dated section on top is a release: `npm run release-schema` belongs to it (CONTRIBUTING.md).
  if (/^\d{4}-/.test(date ?? '')) expect(frozen).toEqual(files.map(({ name }) => name));
});

describe('of two released files', () => {
  const one = { name: '0001-one.sql', hash: '1' };
  const three = { name: '0003-three.sql', hash: '3' };
  const both = { '0001-one.sql': '1', '0003-three.sql': '3' };

  test.each([
    ['a later one may follow', [one, three, { name: '0004-four.sql', hash: '4' }], []],
    [
      'none may change',
      [{ ...one, hash: '2' }, three],
      ['0001-one.sql is released and frozen, but was changed.'],
    ],
    ['none may go', [one], ['0003-three.sql is released and frozen, but was removed.']],
    [
      'none may come between them',
      [one, { name: '0002-two.sql', hash: '2' }, three],
      ['0002-two.sql is new, but sorts before 0003-three.sql, which is released.'],
    ],
  ])('%s', (_what, present, problems) => {
    expect(schemaProblems(present, both)).toEqual(problems);
  });
});
