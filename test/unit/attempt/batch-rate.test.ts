/** How fast batches are made. */
import { expect, test } from 'vitest';
import { createBatchRate } from '../../../src/attempt/batch-rate.ts';

/** So many attempts end one after the other within so many milliseconds. */
function rated() {
  let at = 0;
  const rate = createBatchRate(() => at);
  return {
    perSecond: rate.perSecond,
    end(count: number, ms: number, idle = false) {
      for (let index = 0; index < count; index += 1) {
        at += ms / count;
        rate.ended(idle);
      }
    },
    pause(ms: number) {
      at += ms;
    },
  };
}

test('as long as nothing is known it has no bound', () => {
  const { perSecond, end } = rated();
  end(10, 200);
  expect(perSecond()).toBe(Number.POSITIVE_INFINITY);
});

test('follows what is made while something waits', () => {
  const { perSecond, end } = rated();
  end(500, 250);
  expect(perSecond()).toBeCloseTo(2_000);
  for (let index = 0; index < 6; index += 1) end(50, 250);
  expect(perSecond()).toBeGreaterThan(200);
  expect(perSecond()).toBeLessThan(240);
});

test('a calm says nothing of what is possible, unless more is made than before', () => {
  const { perSecond, end } = rated();
  end(500, 250);
  end(5, 250, true);
  expect(perSecond()).toBeCloseTo(2_000);
  end(1_000, 250, true);
  expect(perSecond()).toBeCloseTo(3_000);
});

test('nor does a pause', () => {
  const { perSecond, end, pause } = rated();
  end(500, 250);
  pause(60_000);
  end(1, 1);
  expect(perSecond()).toBeCloseTo(2_000);
});
