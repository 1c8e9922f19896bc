/** Whether a worker can use Temporal: calls and polls decide, and questions where there are no calls. */
import pino from 'pino';
import { expect, test } from 'vitest';
import { createTemporalState, logChanges } from '../../src/app/temporal-state.ts';
import { polledKinds } from '../../src/temporal/pollers.ts';

function stateAt() {
  const clock = { ms: 0 };
  const changes: (string | null)[] = [];
  const errors: unknown[] = [];
  const onChange = (why: string | null, error: unknown) => {
    changes.push(why);
    errors.push(error);
  };
  return { clock, changes, errors, temporal: createTemporalState({ onChange, now: () => clock.ms }) };
}

test('the state is unknown before the first call, and an outage does not undo hasReached()', () => {
  const { temporal } = stateAt();
  expect([temporal.get(), temporal.hasReached()]).toEqual(['unknown', false]);
  temporal.set('down');
  expect([temporal.get(), temporal.hasReached()]).toEqual(['down', false]);
  temporal.set('up');
  temporal.set('down');
  expect([temporal.get(), temporal.hasReached()]).toEqual(['down', true]);
});

test('a probe answered while calls fail does not count until half a minute after the last failure', () => {
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

test('without accepted polls the state is down: after 90 s, or at once if a worker failed', () => {
  const { clock, temporal } = stateAt();
  temporal.set('up');
  clock.ms = 90_000;
  expect(temporal.get()).toBe('up');
  clock.ms = 90_001;
  temporal.questionAnswered();
  temporal.set('up');
  expect(temporal.get()).toBe('down');
  temporal.polled(polledKinds);
  expect(temporal.get()).toBe('up');
  temporal.workerFailed();
  temporal.set('up');
  expect(temporal.get()).toBe('down');
  temporal.polled(polledKinds);
  expect(temporal.get()).toBe('up');
});

test('a single kind of work without accepted polls is enough, and is named', () => {
  const { clock, changes, temporal } = stateAt();
  temporal.set('up');
  clock.ms = 60_000;
  temporal.polled(['workflows', 'steps']);
  clock.ms = 90_001;
  temporal.questionAnswered();
  expect(changes).toEqual(['Temporal accepts no poll for attempts']);
  expect(temporal.get()).toBe('down');
  temporal.polled(['attempts']);
  expect(temporal.get()).toBe('up');
  expect(changes).toEqual(['Temporal accepts no poll for attempts', null]);
});

test('each change is reported once, by a call or the next probe, with the error', () => {
  const { clock, changes, errors, temporal } = stateAt();
  temporal.set('up');
  temporal.get();
  expect(changes).toEqual([]);
  temporal.set('down', 'refused');
  temporal.set('down', 'silent');
  temporal.get();
  temporal.set('up');
  const called = 'a call to Temporal failed, or it cannot be reached';
  expect(changes).toEqual([called, null]);
  temporal.workerFailed();
  temporal.workerFailed();
  const polls = 'Temporal accepts no poll for workflows, attempts, steps';
  expect(changes).toEqual([called, null, polls]);
  temporal.polled(polledKinds);
  // Nobody but the one who asks for the state notices that time has passed.
  clock.ms = 90_001;
  temporal.get();
  expect(changes).toEqual([called, null, polls, null, polls]);
  expect(errors).toEqual(['refused', undefined, undefined, undefined, undefined]);
});

test('a change is logged in one line with its reason, and not again within a minute', () => {
  const lines: Record<string, unknown>[] = [];
  const said = logChanges(
    pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line)) }),
  );
  said('Temporal accepts no poll for steps');
  said(null);
  said('Temporal accepts no poll for steps');
  said('a call to Temporal failed', new Error('8 RESOURCE_EXHAUSTED: busy'));
  expect(lines).toEqual([
    { level: 40, why: 'Temporal accepts no poll for steps', msg: 'Temporal cannot be used' },
    { level: 30, msg: 'Temporal can be used again' },
    {
      level: 40,
      why: 'a call to Temporal failed',
      err: expect.objectContaining({ message: '8 RESOURCE_EXHAUSTED: busy' }),
      msg: 'Temporal cannot be used',
    },
  ]);
});
