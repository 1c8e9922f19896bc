/** Whether a worker can use Temporal: calls and polls decide, and questions where there are no calls. */
import { expect, test } from 'vitest';
import { createTemporalState } from '../../src/app/temporal-state.ts';

function stateAt() {
  const clock = { ms: 0 };
  return { clock, temporal: createTemporalState(() => clock.ms) };
}

test('nothing is known before the first call, and an outage does not undo that it was reached', () => {
  const { temporal } = stateAt();
  expect([temporal.get(), temporal.hasReached()]).toEqual(['unknown', false]);
  temporal.set('down');
  expect([temporal.get(), temporal.hasReached()]).toEqual(['down', false]);
  temporal.set('up');
  temporal.set('down');
  expect([temporal.get(), temporal.hasReached()]).toEqual(['down', true]);
});

test('a question answered while calls fail says nothing; half a minute after the last failure it does', () => {
  const { clock, temporal } = stateAt();
  temporal.set('down');
  clock.ms = 29_000;
  temporal.questionAnswered();
  expect(temporal.get()).toBe('down');
  temporal.set('down');
  clock.ms = 59_000;
  temporal.questionAnswered();
  expect(temporal.get()).toBe('down');
  clock.ms = 59_001;
  temporal.questionAnswered();
  expect(temporal.get()).toBe('up');
});

test('without accepted polls it is down, whatever is answered: after 90 s, or at once if a worker has failed', () => {
  const { clock, temporal } = stateAt();
  temporal.set('up');
  clock.ms = 90_000;
  expect(temporal.get()).toBe('up');
  clock.ms = 90_001;
  temporal.questionAnswered();
  temporal.set('up');
  expect(temporal.get()).toBe('down');
  temporal.polled();
  expect(temporal.get()).toBe('up');
  temporal.workerFailed();
  temporal.set('up');
  expect(temporal.get()).toBe('down');
  temporal.polled();
  expect(temporal.get()).toBe('up');
});
