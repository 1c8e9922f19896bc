/** The excerpt shown for a found page. */
import { expect, test } from 'vitest';
import { beginningOf, plainTextOf } from '../../site/search-index.ts';

test('words keep what is code in them, and lose what only marks them', () => {
  const text =
    '## Headers\n\n> **Note** the `t=<unix seconds>,v1=<hex>`: the secret (with `whsec_`), see [there](#x).\n\n- `a`\n';
  expect(plainTextOf(text)).toBe(
    'Headers Note the t=<unix seconds>,v1=<hex>: the secret (with whsec_), see there. a',
  );
});

test('a text is shortened behind a whole word', () => {
  expect(beginningOf('It verifies the signature', 18)).toBe('It verifies the…');
  expect(beginningOf('It verifies', 18)).toBe('It verifies');
});
