/** What a release has is frozen: its databases are upgraded by new files only, and its deliveries replay. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { freezable, frozenProblems, readFrozen } from '../../release/frozen.ts';

const present = await freezable();
const { release, files } = await readFrozen();

test(`frozen files are unchanged: ${release === null ? 'none before the first release' : `${Object.keys(files).length} files, by ${release}`}`, () => {
  expect(frozenProblems(present, files)).toEqual([]);
  expect(Object.keys(files).length > 0).toBe(release !== null);
});

test('schema and histories can be frozen', () => {
  expect(Object.keys(present)).toEqual(
    expect.arrayContaining(['src/db/migrations/0002-records.sql', 'test/replay/histories/gone.json']),
  );
});

test('a release freezes all schema files and histories', async () => {
  const changelog = await readFile(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const [, version, date = ''] = /^## \[([^\]]+)\](?: - (\S+))?$/m.exec(changelog) ?? [];
  // A dated section on top is a release: `npm run release -- prepare` writes both (CONTRIBUTING.md).
  expect({ date, release }).toEqual(
    /^\d{4}-/.test(date)
      ? { date, release: version }
      : { date, release: release === version ? 'of an undated section' : release },
  );
  if (release === version) expect(Object.keys(files)).toEqual(Object.keys(present));
});

describe('after a release', () => {
  const one = 'src/db/migrations/0001-one.sql';
  const three = 'src/db/migrations/0003-three.sql';
  const both = { [one]: '1', [three]: '3' };

  test.each([
    ['a later schema file may be added', { ...both, 'src/db/migrations/0004-four.sql': '4' }, []],
    [
      'a schema file must not change',
      { ...both, [one]: '2' },
      [`${one} is released and frozen, but was changed.`],
    ],
    [
      'a schema file must not disappear',
      { [one]: '1' },
      [`${three} is released and frozen, but was removed.`],
    ],
    ['histories may be added anywhere', { ...both, 'test/replay/histories/a-new-one.json': '2' }, []],
    [
      'a schema file must not be inserted before another',
      { ...both, 'src/db/migrations/0002-two.sql': '2' },
      [`src/db/migrations/0002-two.sql is new, but sorts before ${three}, which is released.`],
    ],
  ])('%s', (_what, files, problems) => {
    expect(frozenProblems(files, both)).toEqual(problems);
  });
});
