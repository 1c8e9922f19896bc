/** The reconciler's verdicts, case by case, and their wording. */
import { expect, test } from 'vitest';
import { countsOf, summary } from '../../src/reconciler/counts.ts';
import {
  type Due,
  repairsMade,
  type TrackedKind,
  verdictOn,
  type WorkflowFound,
} from '../../src/reconciler/verdict.ts';

const awake: WorkflowFound = { as: 'running', asleep: false, failing: false, atWork: false };
const asleep: WorkflowFound = { ...awake, asleep: true };
const failing: WorkflowFound = { ...awake, failing: true };
const atWork: WorkflowFound = { ...awake, atWork: true };
const operator = { by: 'eva', comment: '' };

test.each<[TrackedKind, WorkflowFound, Due, string | null]>([
  ['delivery', awake, 'ahead', null],
  ['delivery', awake, 'late', null],
  ['delivery', asleep, 'ahead', null],
  ['delivery', asleep, 'late', 'woken'],
  ['delivery', failing, 'ahead', null],
  ['delivery', failing, 'late', 'startedAgain'],
  ['delivery', failing, 'held', 'startedAgain'],
  ['delivery', atWork, 'ahead', null],
  ['delivery', atWork, 'late', 'startedAgain'],
  ['delivery', atWork, 'held', null],
  ['delivery', atWork, 'over', null],
  ['delivery', asleep, 'held', null],
  ['delivery', awake, 'held', null],
  ['delivery', awake, 'over', null],
  ['delivery', asleep, 'over', 'woken'],
  ['delivery', failing, 'over', 'startedAgain'],
  ['delivery', { as: 'missing' }, 'over', null],
  ['delivery', { as: 'ended' }, 'over', null],
  ['delivery', { as: 'terminated', ...operator }, 'over', null],
  ['delivery', { as: 'canceled', ...operator }, 'over', null],
  ['delivery', { as: 'missing' }, 'ahead', 'startedAgain'],
  ['delivery', { as: 'ended' }, 'ahead', 'startedAgain'],
  ['delivery', { as: 'terminated', ...operator }, 'ahead', 'closed'],
  ['delivery', { as: 'canceled', ...operator }, 'late', 'closed'],
  ['mail', awake, 'late', null],
  ['mail', asleep, 'late', 'woken'],
  ['mail', failing, 'late', 'startedAgain'],
  ['mail', { as: 'missing' }, 'late', 'startedAgain'],
  ['mail', { as: 'ended' }, 'late', 'startedAgain'],
  ['mail', { as: 'terminated', ...operator }, 'late', 'startedAgain'],
  ['mail', { as: 'canceled', ...operator }, 'late', 'startedAgain'],
  ['release', asleep, 'ahead', null],
  ['release', asleep, 'late', 'woken'],
  ['release', { as: 'missing' }, 'ahead', 'startedAgain'],
  ['release', { as: 'terminated', ...operator }, 'late', 'startedAgain'],
  ['recovery', asleep, 'late', 'woken'],
  ['recovery', failing, 'late', 'startedAgain'],
  ['recovery', { as: 'missing' }, 'ahead', 'startedAgain'],
  ['recovery', { as: 'ended' }, 'ahead', 'startedAgain'],
  ['recovery', { as: 'terminated', ...operator }, 'ahead', 'closed'],
  ['recovery', { as: 'canceled', ...operator }, 'late', 'closed'],
])('%s, %o, next step %s → %s', (kind, found, next, action) => {
  const verdict = verdictOn(kind, found, next);
  expect(verdict?.action ?? null).toBe(action);
  if (action !== null) {
    const running = found === atWork ? 'stalled' : action === 'woken' ? 'asleep' : 'stuck';
    expect(verdict?.reason).toBe(found.as === 'running' ? running : found.as);
    // Its count starts at zero.
    expect(repairsMade).toContainEqual({ kind, action, reason: verdict?.reason });
  }
});

test('repairs are counted by kind, action and reason, and summarized in a sentence', () => {
  expect(countsOf([])).toEqual([]);
  const lost = { kind: 'delivery', action: 'startedAgain', reason: 'missing' } as const;
  const ended = { kind: 'delivery', action: 'closed', reason: 'terminated' } as const;
  expect(summary(countsOf([lost, lost, { ...lost, kind: 'release' }, ended]))).toBe(
    '2 deliveries started again (no longer in Temporal), 1 pre-order started again (no longer in Temporal), ' +
      '1 delivery closed as canceled by an operator (terminated in Temporal)',
  );
});
