/** The glossary stays short enough to be read. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the glossary has at most 40 terms', () => {
  const glossary = readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8');
  const terms = [...glossary.matchAll(/^\| (\*\*[^|]+)\|/gm)].flatMap(
    ([, column = '']) => column.match(/\*\*[^*]+\*\*/g) ?? [],
  );
  expect(terms.length).toBeGreaterThan(20);
  expect(terms.length).toBeLessThanOrEqual(40);
});
