/** How many deliveries are told of a change of their webhook at a time. */
import { expect, test } from 'vitest';
import { createFanOutPace } from '../../src/relay/fan-out-pace.ts';

const ROUND_MS = 250;

/** A pace that Temporal answers promptly, on a machine where deliveries wait from `slowFrom` to `slowUntil`, in seconds. */
function paceWith(slowFrom = Infinity, slowUntil = Infinity) {
  let now = 0;
  const felt = () => now >= slowFrom * 1000 && now < slowUntil * 1000;
  const pace = createFanOutPace({ busy: felt, felt, clock: () => now });
  return {
    pace,
    /** How many are told within so many seconds. */
    toldIn(seconds: number): number {
      let told = 0;
      for (const end = now + seconds * 1000; now < end; now += ROUND_MS) {
        told += pace.quietly();
        pace.observe(5);
      }
      return told;
    },
  };
}

test('of changes that lead to no attempt few are told at first, and more each second', () => {
  const { toldIn } = paceWith();
  const first = toldIn(1);
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(15);
  expect(toldIn(10)).toBeGreaterThan(15 * first);
});

test('while others feel it, ever fewer, down to a few per second', () => {
  const { toldIn } = paceWith(20);
  const before = toldIn(20) / 20;
  toldIn(5);
  const told = toldIn(10) / 10;
  expect(told).toBeLessThan(before / 10);
  expect(told).toBeGreaterThanOrEqual(1);
});

test('they become more again once nobody feels it', () => {
  const { toldIn } = paceWith(0, 10);
  const slow = toldIn(10);
  expect(toldIn(10)).toBeGreaterThan(5 * slow);
});

test('what was not told while nothing changed is not made up for', () => {
  let now = 0;
  const pace = createFanOutPace({ busy: () => false, felt: () => false, clock: () => now });
  pace.quietly();
  now = 3_600_000;
  expect(pace.quietly()).toBeLessThan(5);
});

test('Temporal that answers slowly bounds it', () => {
  let now = 0;
  const pace = createFanOutPace({ busy: () => false, felt: () => false, clock: () => now });
  for (let round = 0; round < 400; round += 1) {
    for (let call = 0; call < 10; call += 1) pace.observe(500);
    now += ROUND_MS;
    pace.quietly();
  }
  now += ROUND_MS;
  expect(pace.quietly()).toBeLessThan(4);
});
