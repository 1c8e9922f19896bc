/** The rest of a loop after a step. */
import { expect, test } from 'vitest';
import { restAfter } from '../../src/relay/loop.ts';

test.each([
  ['a short step: the least', 20, 5_000],
  ['a step of seconds: four times as long', 6_000, 24_000],
  ['a very long one: at most half a minute', 60_000, 30_000],
])('the rest after %s', (_, tookMs, rest) => {
  expect(restAfter(tookMs, 5_000)).toBe(rest);
});

test('a longer minimum rest is kept', () => {
  expect(restAfter(60_000, 3_600_000)).toBe(3_600_000);
});
