/** What the reconciler does about what it finds, case by case; and how it says so. */
import { expect, test } from 'vitest';
import { createCounts, sentence } from '../../src/reconciler/counts.ts';
import { type Found, type Kind, verdictOn } from '../../src/reconciler/verdict.ts';

const awake: Found = { as: 'running', asleep: false, failing: false };
const asleep: Found = { as: 'running', asleep: true, failing: false };
const failing: Found = { as: 'running', asleep: false, failing: true };
const operator = { by: 'eva', words: '' };

test.each<[Kind, Found, boolean, string | null]>([
  ['delivery', awake, false, null],
  ['delivery', awake, true, null],
  ['delivery', asleep, false, null],
  ['delivery', asleep, true, 'woken'],
  ['delivery', failing, false, null],
  ['delivery', failing, true, 'startedAgain'],
  ['delivery', { as: 'missing' }, false, 'startedAgain'],
  ['delivery', { as: 'ended' }, false, 'startedAgain'],
  ['delivery', { as: 'terminated', ...operator }, false, 'closed'],
  ['delivery', { as: 'canceled', ...operator }, true, 'closed'],
  ['mail', awake, false, null],
  ['mail', { as: 'missing' }, false, 'startedAgain'],
  ['mail', { as: 'ended' }, false, 'startedAgain'],
  ['mail', { as: 'terminated', ...operator }, false, 'startedAgain'],
  ['mail', { as: 'canceled', ...operator }, false, 'startedAgain'],
  ['release', asleep, false, null],
  ['release', asleep, true, 'woken'],
  ['release', { as: 'missing' }, false, 'startedAgain'],
  ['release', { as: 'terminated', ...operator }, true, 'startedAgain'],
  ['recovery', asleep, true, 'woken'],
  ['recovery', failing, true, 'startedAgain'],
  ['recovery', { as: 'missing' }, false, 'startedAgain'],
  ['recovery', { as: 'ended' }, false, 'startedAgain'],
  ['recovery', { as: 'terminated', ...operator }, false, 'closed'],
  ['recovery', { as: 'canceled', ...operator }, true, 'closed'],
])('%s, %o, late: %s → %s', (kind, found, late, action) => {
  expect(verdictOn(kind, found, late)?.action ?? null).toBe(action);
  if (action !== null) {
    const running = action === 'woken' ? 'asleep' : 'stuck';
    expect(verdictOn(kind, found, late)?.reason).toBe(found.as === 'running' ? running : found.as);
  }
});

test('repairs are counted by kind, action and reason, and said in a sentence', () => {
  const counts = createCounts();
  expect(counts.read()).toEqual([]);
  for (let index = 0; index < 2; index += 1) {
    counts.add({ kind: 'delivery', action: 'startedAgain', reason: 'missing' });
  }
  counts.add({ kind: 'release', action: 'startedAgain', reason: 'missing' });
  counts.add({ kind: 'delivery', action: 'closed', reason: 'terminated' });
  expect(sentence(counts.read())).toBe(
    '2 deliveries started again (no longer in Temporal), 1 pre-order started again (no longer in Temporal), ' +
      '1 delivery closed as canceled by an operator (terminated in Temporal)',
  );
});
