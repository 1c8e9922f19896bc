import { expect, test } from 'vitest';
import { latenessMs } from '../../../src/attempt/lateness.ts';
import { at } from './delivery.ts';

test.each<[string, (Date | null)[], number | null]>([
  ['past its time', [at(-3_000)], 3_000],
  ['before its time: negative', [at(2_000)], -2_000],
  ['the latest of several times counts', [at(-9_000), at(-3_000), at(-5_000)], 3_000],
  ['times that it need not wait for are ignored', [null, at(-3_000), null], 3_000],
  ['nothing to wait for: never late', [null, null], null],
])('lateness: %s', (_, waitedFor, expected) => {
  expect(latenessMs(waitedFor, at(0))).toBe(expected);
});
