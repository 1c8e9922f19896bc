/** The check of words: `npm run words` finds what the list names, in prose and in identifiers, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hitsIn, isChecked } from '../../tools/words.ts';

test.each([
  ['prose', '// The e-shop was told of it.', 'told'],
  ['an identifier in camel case', 'const toldAt = 1;', 'toldAt'],
  ['a column', 'select told_at from notices', 'told_at'],
  ['a constant', 'const MAIL_PUT_OFF = 2;', 'MAIL_PUT_OFF'],
])('a planted hit is found in %s, with its line', (_, line, found) => {
  expect(hitsIn(`one\n${line}\nthree`)).toContainEqual(expect.objectContaining({ line: 2, found }));
});

test.each(['It is told to stop.', 'const stone = untoldable;', 'an order of a customer'])(
  '%j is no hit',
  (line) => {
    expect(hitsIn(line)).toEqual([]);
  },
);

test('histories and published vectors are left as they are; everything else is checked', () => {
  expect(isChecked('test/replay/histories/notice-sent.json')).toBe(false);
  for (const file of [
    'README.md',
    'src/main.ts',
    'src/db/migrations/0003-webhooks.sql',
    'test/unit/words.test.tsx',
  ]) {
    expect(isChecked(file), file).toBe(true);
  }
});

test('the glossary has at most 40 terms', () => {
  const glossary = readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8');
  const terms = [...glossary.matchAll(/^\| (\*\*[^|]+)\|/gm)].flatMap(
    ([, column = '']) => column.match(/\*\*[^*]+\*\*/g) ?? [],
  );
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
});
