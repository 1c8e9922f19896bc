/** The tests that SECURITY.md names exist: a row is red once the test of its defense is gone. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { testTitlesIn } from '../support/repository/test-titles.ts';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('SECURITY.md', root), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| (?!threat)[^-]/.test(line))
  .map((line) => line.split(' | '));

it('the table has rows of three cells', () => {
  expect(rows.length).toBeGreaterThan(30);
  expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([3]));
});

describe.each(rows)('%s', (_threat, _defense, tests = '') => {
  const named = [...tests.matchAll(/`(test\/[\w./-]+\.test\.ts)` ((?:“[^”]+”(?:, )?)+)/g)].map(
    ([, path = '', titles = '']) => ({
      path,
      titles: [...titles.matchAll(/“([^”]+)”/g)].map(([, title]) => title),
    }),
  );

  it('names tests by file and title', () => {
    expect(named).not.toHaveLength(0);
    expect(named.map(({ path }) => path)).toEqual(
      [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path),
    );
  });

  it.each(named)('$path has these tests', ({ path, titles }) => {
    expect(testTitlesIn(fileURLToPath(new URL(path, root)))).toEqual(expect.arrayContaining(titles));
  });
});
