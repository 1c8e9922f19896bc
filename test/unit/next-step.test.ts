import { expect, test } from 'vitest';
import type { OpenSituation as Open } from '../../src/attempt/situation.ts';
import { nextStep } from '../../workflows/next-step.ts';

const now = 1_000_000;
const open: Open = {
  open: true,
  readAt: now,
  webhook: 'active',
  generationChanged: false,
  attemptsMade: 3,
  spent: null,
  windowEndsAt: now + 10_000,
  nextAttemptAt: now + 500,
  lastError: 'HTTP 503',
  operator: null,
  operatorHeld: false,
  receiverHost: 'shop.example',
};
const holding = { stop: 'hold', by: 'anna', reason: '', at: '' } as const;
const givenUp = { ...holding, stop: 'giveUp' } as const;
const never: Partial<Open> = { attemptsMade: 0, windowEndsAt: null, nextAttemptAt: null, lastError: null };

test.each<[string, Partial<Open>, ReturnType<typeof nextStep>]>([
  ['never tried: attempt', never, { step: 'attempt', lastChance: false }],
  [
    'somebody makes the attempt: its result comes first, whatever became of the webhook',
    { ...never, underWayUntil: now + 20_000, webhook: 'deleted' },
    { step: 'waitForResult', until: now + 20_000 },
  ],
  ['between two attempts: the rest of the wait', {}, { step: 'waitForNextAttempt', until: now + 500 }],
  ['the wait is over: attempt', { nextAttemptAt: now - 1 }, { step: 'attempt', lastChance: false }],
  [
    'activated or moved to another URL: attempt at once',
    { generationChanged: true },
    { step: 'attempt', lastChance: false },
  ],
  ['inactive: hold until the window ends', { webhook: 'inactive' }, { step: 'hold', until: now + 10_000 }],
  [
    'paused: hold until the pause is over, though an attempt is due',
    { pausedUntil: now + 20_000, nextAttemptAt: now - 1 },
    { step: 'hold', until: now + 20_000 },
  ],
  [
    'paused before the first attempt: its window does not begin',
    { ...never, pausedUntil: now + 20_000 },
    { step: 'hold', until: now + 20_000 },
  ],
  [
    'paused, and held by an operator: until the window ends',
    { pausedUntil: now + 5_000, operator: holding },
    { step: 'hold', until: now + 10_000 },
  ],
  [
    'paused, and no attempt left: compensate',
    { pausedUntil: now + 1, spent: 'retriesExhausted' },
    { step: 'compensate' },
  ],
  [
    'inactive before the first attempt: the window starts with the holding',
    { ...never, webhook: 'inactive' },
    { step: 'beginHolding' },
  ],
  [
    'the window ended while held: expire, no alarm',
    { webhook: 'inactive', windowEndsAt: now },
    { step: 'expire', alarm: false },
  ],
  [
    'held by an operator: hold until the window ends',
    { operator: holding },
    { step: 'hold', until: now + 10_000 },
  ],
  [
    'held by an operator, also when activated',
    { operator: holding, generationChanged: true },
    { step: 'hold', until: now + 10_000 },
  ],
  ['held by an operator before the first attempt', { ...never, operator: holding }, { step: 'beginHolding' }],
  [
    'the window ended while an operator held it: expire, no alarm',
    { operator: holding, windowEndsAt: now },
    { step: 'expire', alarm: false },
  ],
  [
    'held by an operator while its last attempt failed: compensate',
    { operator: holding, spent: 'retriesExhausted' },
    { step: 'compensate' },
  ],
  [
    'held for most of the time it lost: expire, and no alarm, for it was no outage',
    { operatorHeld: true, spent: 'windowLost' },
    { step: 'expire', alarm: false },
  ],
  ['given up: the end', { operator: givenUp }, { step: 'giveUp' }],
  ['given up counts before spent', { operator: givenUp, spent: 'gone' }, { step: 'giveUp' }],
  ['deleted counts before given up', { operator: givenUp, webhook: 'deleted' }, { step: 'cancel' }],
  ['deleted: cancel', { webhook: 'deleted' }, { step: 'cancel' }],
  ['deleted counts before spent', { webhook: 'deleted', spent: 'gone' }, { step: 'cancel' }],
  [
    'retries exhausted: compensate',
    { spent: 'retriesExhausted', nextAttemptAt: null },
    { step: 'compensate' },
  ],
  ['410: compensate', { spent: 'gone', nextAttemptAt: null }, { step: 'compensate' }],
  [
    'spent while somebody deactivated: compensate all the same',
    { spent: 'retriesExhausted', webhook: 'inactive' },
    { step: 'compensate' },
  ],
  [
    'the window ended while we were down: one last attempt',
    { windowEndsAt: now - 1, nextAttemptAt: now - 5 },
    { step: 'attempt', lastChance: true },
  ],
  [
    'the window ends this very moment: one last attempt',
    { windowEndsAt: now, nextAttemptAt: now - 5 },
    { step: 'attempt', lastChance: true },
  ],
  [
    'the last moment of the window: an attempt like any other',
    { windowEndsAt: now + 1, nextAttemptAt: now },
    { step: 'attempt', lastChance: false },
  ],
  [
    'a failed last chance: expire with an alarm',
    { spent: 'windowLost', windowEndsAt: now - 1 },
    { step: 'expire', alarm: true },
  ],
])('%s', (_, change, expected) => {
  expect(nextStep({ ...open, ...change })).toEqual(expected);
});

test('times are compared with the time of the database when they were read', () => {
  expect(nextStep({ ...open, readAt: now + 500 })).toEqual({ step: 'attempt', lastChance: false });
});
