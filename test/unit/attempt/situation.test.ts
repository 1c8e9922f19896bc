/** The present situation of a delivery, case by case. */
import { describe, expect, test } from 'vitest';
import { finalState, type OpenSituation as Open, situationOf } from '../../../src/attempt/situation.ts';
import type { DeliveryForAttempt } from '../../../src/db/deliveries/attempts.ts';
import type { ActionName } from '../../../src/domain/operator-action.ts';
import { at, MINUTE, NOW, policy, untried, waiting } from './delivery.ts';

test('a retrying delivery is open, with its webhook, attempts, window and plan', () => {
  expect(situationOf(waiting, policy)).toEqual({
    open: true,
    readAt: NOW,
    webhook: 'active',
    attemptsMade: 1,
    spent: null,
    windowEndsAt: NOW + 55 * MINUTE,
    generationChanged: false,
    nextAttemptAt: NOW,
    lastError: 'HTTP 503',
    operator: null,
    operatorHeld: false,
    receiverHost: 'shop.example',
  });
});

test('an operator stop is reported with who, when and why, from the latest action', () => {
  const asked = (action: 'hold' | 'resume', by: string) => ({
    id: by,
    action,
    by,
    reason: 'why',
    at: 'then',
  });
  const operatorActions = [asked('hold', 'anna'), asked('resume', 'anna'), asked('hold', 'ben')];
  expect(situationOf({ ...waiting, operatorStop: 'hold', operatorActions }, policy)).toMatchObject({
    operator: { stop: 'hold', by: 'ben', reason: 'why', at: 'then' },
  });
  expect(situationOf({ ...waiting, operatorActions }, policy)).toMatchObject({ operator: null });
});

test.each<[string, number, boolean]>([
  ['longer than half of the time that it lost', 11 * MINUTE, true],
  ['for less: an outage took the most', 12 * MINUTE, false],
])('operators held the delivery %s', (_, lateBeforeMs, operatorHeld) => {
  const did = (action: ActionName, minutes: number) => ({
    ...{ id: '', by: 'anna', reason: '' },
    action,
    at: at(minutes * MINUTE).toISOString(),
  });
  // Five minutes and one.
  const operatorActions = [did('hold', -40), did('resume', -35), did('tryNow', -20), did('hold', -1)];
  expect(situationOf({ ...waiting, lateBeforeMs, operatorActions }, policy)).toMatchObject({ operatorHeld });
});

test('a delivery never attempted has neither window nor plan', () => {
  expect(situationOf(untried, policy)).toMatchObject({
    spent: null,
    windowEndsAt: null,
    generationChanged: false,
    nextAttemptAt: null,
    lastError: null,
  });
});

test('an ended delivery is closed, and a missing one counts as canceled', () => {
  expect(situationOf({ ...waiting, state: 'failed' }, policy)).toEqual({ open: false, state: 'failed' });
  expect(situationOf(undefined, policy)).toEqual({ open: false, state: 'canceled' });
});

test.each<[Open['webhook'], Partial<DeliveryForAttempt>]>([
  ['active', {}],
  ['inactive', { active: false }],
  ['deleted', { deletedAt: at(-1) }],
  ['deleted', { deletedAt: at(-1), active: false }],
])('a webhook is %s', (webhook, delivery) => {
  expect(situationOf({ ...waiting, ...delivery }, policy)).toMatchObject({ webhook });
});

test('the ends of a pause and of another owner’s attempt are given while they last', () => {
  const read = (delivery: Partial<DeliveryForAttempt>) => situationOf({ ...waiting, ...delivery }, policy);
  const paused = read({ pausedUntil: at(MINUTE) });
  // Spread over ten seconds.
  expect(paused.open ? paused.pausedUntil : 0).toBeGreaterThanOrEqual(NOW + MINUTE);
  expect(read({ underWayUntil: at(MINUTE) })).toMatchObject({ underWayUntil: NOW + MINUTE });
  for (const pausedUntil of [null, at(-1)]) expect(read({ pausedUntil })).not.toHaveProperty('pausedUntil');
  expect(read({})).not.toHaveProperty('underWayUntil');
});

describe('the time of the next attempt', () => {
  const changed = { generation: 3, nextAttemptAt: at(MINUTE) };
  test.each<[string, Partial<DeliveryForAttempt>, Pick<Open, 'generationChanged' | 'nextAttemptAt'>]>([
    ['as planned', {}, { generationChanged: false, nextAttemptAt: NOW }],
    [
      'the webhook changed, and the last attempt is the first wait old: at once',
      { ...changed, lastAttemptAt: at(-10_000) },
      { generationChanged: true, nextAttemptAt: NOW + MINUTE },
    ],
    [
      'the webhook changed, and a limit has deferred the attempt since: as deferred',
      { ...changed, lastAttemptAt: at(-10_000), deferredGeneration: 3 },
      { generationChanged: false, nextAttemptAt: NOW + MINUTE },
    ],
    [
      'the webhook changed right after an attempt: when the first wait is over',
      { ...changed, lastAttemptAt: at(-9_999) },
      { generationChanged: false, nextAttemptAt: NOW + 1 },
    ],
    [
      'the webhook changed, and the plan comes before the end of the first wait',
      { ...changed, lastAttemptAt: at(-5_000), nextAttemptAt: at(3_000) },
      { generationChanged: false, nextAttemptAt: NOW + 3_000 },
    ],
    [
      'the webhook changed, and no attempt was planned',
      { ...changed, lastAttemptAt: at(-5_000), nextAttemptAt: null },
      { generationChanged: false, nextAttemptAt: NOW + 5_000 },
    ],
    [
      'the webhook changed long after an attempt of which no end is known',
      { ...changed, lastAttemptAt: null },
      { generationChanged: true, nextAttemptAt: NOW + MINUTE },
    ],
  ])('%s', (_, delivery, expected) => {
    expect(situationOf({ ...waiting, ...delivery }, policy)).toMatchObject(expected);
  });

  test('a change before the first attempt does not count', () => {
    const delivery = { ...untried, generation: 3, lastGeneration: 2 };
    expect(situationOf(delivery, policy)).toMatchObject({ generationChanged: false, nextAttemptAt: null });
  });
});

describe('the reason why no attempt is left', () => {
  const over = { nextAttemptAt: null, attemptsMade: 21 };
  test.each<[string, Partial<DeliveryForAttempt>, Open['spent']]>([
    ['an attempt is left: none', {}, null],
    ['never tried', { ...untried }, null],
    ['all were made', over, 'retriesExhausted'],
    ['410', { ...over, lastOutcome: 'gone' }, 'gone'],
    ['outages left no room', { ...over, windowLost: true }, 'windowLost'],
  ])('%s', (_, delivery, spent) => {
    expect(situationOf({ ...waiting, ...delivery }, policy)).toMatchObject({ spent });
  });
});

test('finalState() accepts ended states only', () => {
  for (const state of ['delivered', 'failed', 'expired', 'canceled'] as const) {
    expect(finalState(state)).toBe(state);
  }
  for (const state of ['pending', 'retrying'] as const) {
    expect(() => finalState(state)).toThrow(`A delivery in state ${state} has not ended.`);
  }
});

describe('a 410 from a former URL', () => {
  const gone = { ...waiting, nextAttemptAt: null, lastOutcome: 'gone', generation: 3 } as const;

  test('ends nothing: an attempt at the new URL is due', () => {
    expect(situationOf(gone, policy)).toMatchObject({
      spent: null,
      generationChanged: true,
    });
  });

  test('ends the delivery if it was the last attempt', () => {
    expect(situationOf({ ...gone, attemptsMade: 21 }, policy)).toMatchObject({
      spent: 'gone',
    });
  });
});
