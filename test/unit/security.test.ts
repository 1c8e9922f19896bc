/** The tests that SECURITY.md names exist. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('SECURITY.md', root), 'utf8');
const rows = text.split('\n').filter((line) => /^\| (?!threat)[^-]/.test(line));

it('every threat has a test, and every file it names exists', () => {
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const tests = [...row.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path);
    expect(tests, row).not.toHaveLength(0);
    for (const path of tests) expect(existsSync(new URL(path, root)), path).toBe(true);
  }
});
