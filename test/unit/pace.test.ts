/** How the relay finds the bound on what it hands over. */
import { expect, test } from 'vitest';
import { createPace, type Observation } from '../../src/relay/pace.ts';

const prompt: Observation = { handOverMs: 20, bounded: true };
const late: Observation = { handOverMs: 1_500, bounded: true };

/** The bound after the same thing was observed so many times, a tenth of a second apart. */
function after(observation: Observation, times: number, pace = createPace()): number {
  for (let index = 0; index < times; index += 1) pace.observe(observation, index * 100);
  return pace.bound();
}

test('it rises while it keeps something back and what was handed over is begun at once', () => {
  expect(after(prompt, 20)).toBeGreaterThan(2 * createPace().bound());
});

test('it does not rise while nothing is kept back, nor while what was handed over takes a moment', () => {
  expect(after({ ...prompt, bounded: false }, 20)).toBe(createPace().bound());
  expect(after({ ...prompt, handOverMs: 400 }, 20)).toBe(createPace().bound());
});

test('it falls once per second while what was handed over waits', () => {
  const pace = createPace();
  after(prompt, 10, pace);
  const first = pace.bound();
  pace.observe(late, 0);
  const lowered = pace.bound();
  expect(lowered).toBeLessThan(first);
  pace.observe(late, 900);
  expect(pace.bound()).toBe(lowered);
  pace.observe(late, 1_000);
  expect(pace.bound()).toBeLessThan(lowered);
});

test('what was handed over is late while it has waited for more than a moment', () => {
  const pace = createPace();
  expect(pace.late()).toBe(false);
  pace.observe({ handOverMs: 300, bounded: false }, 0);
  expect(pace.late()).toBe(true);
  pace.observe({ handOverMs: 200, bounded: false }, 100);
  expect(pace.late()).toBe(false);
});

test('it never falls so low that the workers wait for the relay, nor rises without end', () => {
  expect(after(late, 1_000)).toBe(8);
  expect(after(prompt, 1_000)).toBe(1_000);
});

test('it rises again from where it fell to', () => {
  const pace = createPace();
  after(late, 1_000, pace);
  expect(after(prompt, 50, pace)).toBeGreaterThan(100);
});

test('what was handed over is known to have waited for a second', () => {
  const pace = createPace();
  expect(pace.waitMs(0)).toBe(0);
  pace.observe({ handOverMs: 70, bounded: false }, 100);
  expect(pace.waitMs(1_000)).toBe(70);
  expect(pace.waitMs(1_200)).toBe(0);
});

test('how much longer than the quickest a start took is known for a second; of several at once, the longest', () => {
  const pace = createPace();
  expect(pace.startMs(0)).toBe(0);
  pace.started(20, 0);
  pace.started(100, 100);
  pace.started(20, 140);
  expect(pace.startMs(200)).toBeCloseTo(80, 0);
  pace.started(30, 600);
  expect(pace.startMs(700)).toBeCloseTo(10, 0);
  expect(pace.startMs(1_600)).toBe(0);
});

test('a slow start is forgotten where one follows on the other without a pause', () => {
  const pace = createPace();
  pace.started(20, 0);
  pace.started(200, 30);
  for (let at = 40; at < 100; at += 10) pace.started(20, at);
  expect(pace.startMs(100)).toBeLessThan(1);
});

test('a server that is far away is not slow', () => {
  const pace = createPace();
  for (let at = 0; at < 1_000; at += 10) pace.started(150 + (at % 30), at);
  expect(pace.startMs(1_000)).toBeLessThan(60);
});
