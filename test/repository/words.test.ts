/** `npm run words` finds what the list names, in prose and in identifiers, too wide comments, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hitsIn, wideCommentsIn } from '../../tools/words.ts';

test.each([
  ['prose', '// The e-shop was told of it.', 'told'],
  ['an identifier in camel case', 'const toldAt = 1;', 'toldAt'],
  ['a column', 'select told_at from notices', 'told_at'],
  ['a constant', 'const MAIL_PUT_OFF = 2;', 'MAIL_PUT_OFF'],
])('a planted hit is found in %s, with its line', (_, line, found) => {
  expect(hitsIn(`one\n${line}\nthree`)).toContainEqual(expect.objectContaining({ line: 2, found }));
});

test.each(['// ', '/** ', '/* ', ' * '])(
  'a line of comment that begins with %j has 118 columns at most',
  (start) => {
    const line = start.padEnd(118, 'x');
    expect(wideCommentsIn('src/a.ts', `${line}\n${line}x`)).toEqual([
      { line: 2, found: 'a comment of 119 columns', instead: 'shorten it, or wrap it at 118' },
    ]);
  },
);

test('the glossary has at most 40 terms', () => {
  const glossary = readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8');
  const terms = [...glossary.matchAll(/^\| (\*\*[^|]+)\|/gm)].flatMap(
    ([, column = '']) => column.match(/\*\*[^*]+\*\*/g) ?? [],
  );
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
});
