/** Several signals combined into one. */
import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { eitherSignal } from '../../src/lib/either-signal.ts';

test.each([0, 1])('eitherSignal() aborts with the first signal, for its reason: %i', (which) => {
  const controllers = [new AbortController(), new AbortController()];
  const { signal } = eitherSignal(controllers.map((each) => each.signal));
  expect(signal.aborted).toBe(false);
  controllers[which]?.abort('first');
  controllers[1 - which]?.abort('second');
  expect([signal.aborted, signal.reason]).toEqual([true, 'first']);
});

test('eitherSignal() is aborted from the start if one of the signals is', () => {
  const { signal } = eitherSignal([new AbortController().signal, AbortSignal.abort('before')]);
  expect([signal.aborted, signal.reason]).toEqual([true, 'before']);
});

test('release() removes its listeners', () => {
  const long = new AbortController();
  const either = eitherSignal([long.signal, new AbortController().signal]);
  expect(getEventListeners(long.signal, 'abort')).toHaveLength(1);
  either.release();
  expect(getEventListeners(long.signal, 'abort')).toEqual([]);
  long.abort();
  expect(either.signal.aborted).toBe(false);
});

test('many signals may follow the same one without a warning of a leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { signal } = new AbortController();
  const followed = Array.from({ length: 20 }, () => eitherSignal([signal]));
  await new Promise(setImmediate);
  for (const { release } of followed) release();
  expect(warnings).toEqual([]);
});
