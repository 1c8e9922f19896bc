/** The check of titles in `npm run words`. */
import { expect, test } from 'vitest';
import { titlesIn } from '../../tools/words.ts';

const PATH = 'test/unit/any.test.ts';
const lines = (text: string, file = PATH) => titlesIn(file, text).map(({ line }) => line);

const CALLS = [
  "test('%s is refused', () => {});",
  'describe("%s is refused", () => {});',
  "it.skip('%s is refused', () => {});",
  "test.each([1])('%s is refused', () => {});",
  "test.each([1])(\n  '%s is refused',\n  () => {},\n);",
];

test.each(CALLS)('a title without a subject is found: %j', (call) => {
  const text = `\n${call}`;
  const line = text.slice(0, text.indexOf('%s')).split('\n').length;
  for (const word of ['of', 'What', 'who', 'whose', 'none', 'one', 'its', 'that'])
    expect(lines(text.replace('%s', word)), word).toEqual([line]);
});

test('other titles, other calls and other files are accepted', () => {
  for (const call of CALLS)
    for (const start of ['a webhook of one e-shop', 'ones', 'another', 'theirs'])
      expect(lines(call.replace('%s', start)), start).toEqual([]);
  expect(lines("say('one');")).toEqual([]);
  for (const call of CALLS) expect(lines(call.replace('%s', 'one'), 'src/any.ts')).toEqual([]);
});
