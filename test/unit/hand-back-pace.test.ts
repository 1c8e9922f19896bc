/** How many workflows start of what batches handed back. */
import { expect, test } from 'vitest';
import {
  createHandBackPace,
  HAND_BACK_INTERVAL_MS,
  leastOf,
  pauseAfter,
} from '../../src/relay/hand-back-pace.ts';

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

test.each([
  [3, 1],
  [50, 2],
  [115, 3],
])(
  '%i that fall due at once are started within ten seconds, %i at a time, though others wait',
  (fallDue, atOnce) => {
    const pace = createHandBackPace(() => true);
    times(5, pace.next);
    let count = fallDue;
    const sizes: number[] = [];
    for (let lateMs = 0; count > 0; lateMs += HAND_BACK_INTERVAL_MS) {
      const size = Math.max(pace.next(), leastOf({ count, lateMs }));
      sizes.push(size);
      count -= size;
    }
    expect(sizes.length * HAND_BACK_INTERVAL_MS).toBeLessThanOrEqual(10_000);
    expect(Math.max(...sizes)).toBe(atOnce);
  },
);

test('more than can be started within ten seconds is started at twelve per second while others wait', () => {
  expect(leastOf({ count: 100_000, lateMs: 0 })).toBe(3);
  expect(leastOf({ count: 13, lateMs: 3_600_000 })).toBe(3);
  expect(leastOf({ count: 2, lateMs: 3_600_000 })).toBe(2);
});

test.each([
  [0, 250],
  [100, 150],
  [200, 50],
  [5_000, 50],
])(
  'after starts that took %i ms the next ones come %i ms later: slow ones do not make the interval longer',
  (tookMs, pauseMs) => {
    expect(pauseAfter(tookMs)).toBe(pauseMs);
  },
);
