/** How many workflows start of what batches handed back. */
import { expect, test } from 'vitest';
import { createHandBackPace } from '../../src/relay/hand-back-pace.ts';

const times = <T>(count: number, each: () => T): T[] => Array.from({ length: count }, each);

test('a few more each time while nobody waits, up to a bound', () => {
  const pace = createHandBackPace(() => false);
  expect(times(10, pace.next)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 12, 12]);
});

test('half as many each time while others wait, and one at least', () => {
  let felt = false;
  const pace = createHandBackPace(() => felt);
  times(10, pace.next);
  felt = true;
  expect(times(5, pace.next)).toEqual([6, 3, 1, 1, 1]);
  felt = false;
  expect(times(3, pace.next)).toEqual([2, 3, 4]);
});

test('half as many after a start that took Temporal long, and a few more again after prompt ones', () => {
  const pace = createHandBackPace(() => false);
  times(10, pace.next);
  pace.observe(20);
  pace.observe(121);
  pace.observe(20);
  expect(pace.next()).toBe(6);
  pace.observe(119);
  expect(pace.next()).toBe(7);
});
