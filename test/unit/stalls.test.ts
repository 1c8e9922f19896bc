/** Workflows that stand still at work: which are watched, for how long, and how many at once. */
import { expect, test } from 'vitest';
import { createStalls } from '../../src/reconciler/stalls.ts';

function stallsAt() {
  const clock = { ms: 0 };
  const completed = new Map<string, string>();
  const executions = { lastCompletedTask: async (id: string) => completed.get(id) ?? '' };
  return { clock, completed, stalls: createStalls(executions, 100, () => clock.ms) };
}

test('a workflow that finishes a task in between is not stalled', async () => {
  const { clock, completed, stalls } = stallsAt();
  expect(await stalls.isStalled('a')).toBe(false);
  clock.ms = 99;
  expect(await stalls.isStalled('a')).toBe(false);
  completed.set('a', '7');
  clock.ms = 150;
  expect(await stalls.isStalled('a')).toBe(false);
  clock.ms = 249;
  expect(await stalls.isStalled('a')).toBe(false);
  clock.ms = 250;
  expect(await stalls.isStalled('a')).toBe(true);
  expect(stalls.watched()).toEqual([]);
});

test('ten workflows are watched at once, and those no longer asked about make room', async () => {
  const { clock, stalls } = stallsAt();
  const ids = Array.from({ length: 12 }, (_, index) => `workflow ${index}`);
  for (const id of ids) await stalls.isStalled(id);
  expect(stalls.watched()).toEqual(ids.slice(0, 10));
  clock.ms = 150;
  const judged: boolean[] = [];
  for (const id of ids) judged.push(await stalls.isStalled(id));
  // Those that found no room are watched from now on.
  expect(judged.filter(Boolean)).toHaveLength(10);
  expect(stalls.watched()).toEqual(ids.slice(10));
  clock.ms = 351;
  expect(stalls.watched()).toEqual([]);
});
