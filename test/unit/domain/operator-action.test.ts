/** Operator actions on a delivery, case by case. */
import { describe, expect, test } from 'vitest';
import {
  type ActionName,
  type ActionTarget,
  acceptedActions,
  answerTo,
  askedBy,
  attribution,
  heldBy,
  MAX_NAME_CHARS,
  MAX_REASON_CHARS,
  type OperatorAction,
  operatorHoldOf,
} from '../../../src/domain/operator-action.ts';

const now = new Date('2026-11-20T12:00:00Z');
const later = new Date('2026-11-20T15:00:00Z');
const anna = { by: 'anna', reason: 'stock-taking', at: '2026-11-20T11:00:00.000Z' };
const held = { stop: 'hold', ...anna } as const;
const givenUp = { stop: 'giveUp', ...anna } as const;
/** One attempt made, the next one due in three hours. */
const waiting: ActionTarget = {
  state: 'retrying',
  webhookId: 7,
  webhook: 'active',
  pausedUntil: null,
  attemptsMade: 1,
  maxAttempts: 21,
  underWay: null,
  queued: false,
  blocked: false,
  behind: null,
  nextAttemptAt: later,
  goneBefore: false,
  windowEndsAt: new Date('2026-11-22T12:00:00Z'),
  hold: null,
  now,
};
const untried: Partial<ActionTarget> = { state: 'pending', attemptsMade: 0, nextAttemptAt: null };
const lastOne: Partial<ActionTarget> = { attemptsMade: 20 };
const spent: Partial<ActionTarget> = { nextAttemptAt: null };
/** It continues the count of an older delivery of its record. */
const inTurn: Partial<ActionTarget> = {
  state: 'pending',
  attemptsMade: 3,
  nextAttemptAt: null,
  queued: true,
  blocked: true,
};

type Row = [ActionName, string, Partial<ActionTarget>, string];

const heldByAnna = 'held by anna at 2026-11-20T11:00:00.000Z: stock-taking.';
const behind = '01a204dd-8a46-7707-b199-6100010924c5';
const itsOrder = `It waits for its order: delivery ${behind}, of the same record, has to end first.`;
const nextFollows =
  'Attempt 2 of 21 follows at once. It counts as one of them; if it fails, the next wait of the policy follows.';
const isHeld =
  'Held: no attempt is made until it is resumed. Its window keeps running, and ends 2026-11-22T12:00:00.000Z.';
const isGivenUp =
  'Given up: it ends as canceled. Nothing more is sent, the webhook stays as it is, and no e-mail is sent.';
const finishes =
  'Attempt 2 is under way and is allowed to finish: if it is accepted, the delivery is delivered.';

test('the length limits are those of all recorded histories, since a replay depends on them', () => {
  expect({ MAX_REASON_CHARS, MAX_NAME_CHARS }).toEqual({ MAX_REASON_CHARS: 500, MAX_NAME_CHARS: 100 });
});

describe('refuses', () => {
  test.each<Row>([
    ['tryNow', 'held', { hold: held }, `It is ${heldByAnna} Resume it first.`],
    [
      'tryNow',
      'held and inactive',
      { hold: held, webhook: 'inactive' },
      `It is ${heldByAnna} Resume it first.`,
    ],
    [
      'tryNow',
      'inactive',
      { webhook: 'inactive' },
      'Webhook 7 is inactive. Activate it, and an attempt follows within seconds.',
    ],
    [
      'tryNow',
      'behind another one of its record',
      { ...untried, queued: true, blocked: true, behind },
      itsOrder,
    ],
    ['tryNow', 'behind another one, with the count of an older one', { ...inTurn, behind }, itsOrder],
    ['tryNow', 'about to have its turn', inTurn, 'It waits for its turn in the order of its record.'],
    ['tryNow', 'spent', spent, 'No attempt is left.'],
    ['tryNow', 'all made', { attemptsMade: 21 }, 'No attempt is left.'],
    ['tryNow', 'under way', { underWay: 2 }, 'Attempt 2 is under way at this moment.'],
    [
      'tryNow',
      'in the queue',
      { ...untried, queued: true },
      'It waits in the queue for its first attempt, which is made as soon as there is room.',
    ],
    ['hold', 'held already', { hold: held }, `It is already ${heldByAnna}`],
    [
      'tryNow',
      'gone at its old URL, by the last one',
      { ...spent, goneBefore: true, attemptsMade: 21 },
      'No attempt is left.',
    ],
    ['hold', 'spent', spent, 'No attempts are left: there is nothing to hold.'],
    [
      'hold',
      'last attempt under way',
      { ...lastOne, underWay: 21 },
      'The last attempt, 21, is under way: there is nothing left to hold.',
    ],
    ['resume', 'not held', {}, 'It is not held.'],
    ['resume', 'inactive', { webhook: 'inactive' }, 'No operator holds it: webhook 7 is inactive.'],
    ...(['tryNow', 'hold', 'resume', 'giveUp'] as const).flatMap((action): Row[] => [
      [action, 'delivered', { state: 'delivered' }, 'The delivery has already ended as delivered.'],
      [action, 'failed', { state: 'failed', hold: held }, 'The delivery has already ended as failed.'],
      [action, 'deleted', { webhook: 'deleted' }, 'Its webhook was deleted: the delivery ends as canceled.'],
      [
        action,
        'given up',
        { hold: givenUp },
        'It was given up by anna at 2026-11-20T11:00:00.000Z: stock-taking.',
      ],
    ]),
  ])('%s, %s', (action, _, change, message) => {
    expect(answerTo(action, { ...waiting, ...change })).toEqual({ accepted: false, message });
  });
});

describe('accepts', () => {
  test.each<Row>([
    ['tryNow', 'waiting', {}, nextFollows],
    ['tryNow', 'gone at its old URL', { ...spent, goneBefore: true }, nextFollows],
    ['hold', 'gone at its old URL', { ...spent, goneBefore: true }, isHeld],
    ['tryNow', 'first attempt waits for room', untried, nextFollows.replace('2', '1')],
    ['tryNow', 'requeued by a batch', { queued: true }, nextFollows],
    [
      'tryNow',
      'last attempt left',
      lastOne,
      'Attempt 21 of 21 follows at once. It is the last one: if it fails, the delivery has failed.',
    ],
    ['hold', 'waiting', {}, isHeld],
    ['hold', 'in the queue', { ...untried, queued: true }, isHeld],
    [
      'hold',
      'behind another one, never tried',
      { ...untried, queued: true, blocked: true },
      'Held: no attempt is made until it is resumed. Its window begins with its first attempt.',
    ],
    ['hold', 'behind another one, with the count of an older one', inTurn, isHeld],
    ['hold', 'inactive', { webhook: 'inactive' }, isHeld],
    ['hold', 'under way', { underWay: 2 }, `${isHeld} ${finishes}`],
    ['resume', 'due later', { hold: held }, 'Resumed: attempt 2 of 21 follows at 2026-11-20T15:00:00.000Z.'],
    [
      'resume',
      'due while held',
      { hold: held, nextAttemptAt: now },
      'Resumed: attempt 2 of 21 follows at once.',
    ],
    ['resume', 'never tried', { ...untried, hold: held }, 'Resumed: attempt 1 of 21 follows at once.'],
    [
      'resume',
      'behind another one',
      { ...inTurn, hold: held },
      'Resumed. It waits for its turn in the order of its record.',
    ],
    ['resume', 'held while under way', { hold: held, underWay: 2 }, 'Resumed: attempt 2 is under way.'],
    [
      'resume',
      'inactive',
      { hold: held, webhook: 'inactive' },
      'Resumed, but still held because webhook 7 is inactive.',
    ],
    ['giveUp', 'waiting', {}, isGivenUp],
    ['giveUp', 'held', { hold: held }, isGivenUp],
    ['giveUp', 'under way', { underWay: 2 }, `${isGivenUp} ${finishes}`],
  ])('%s, %s', (action, _, change, message) => {
    expect(answerTo(action, { ...waiting, ...change })).toEqual({ accepted: true, message });
  });
});

test.each<[string, Partial<ActionTarget>, ActionName[]]>([
  ['waiting', {}, ['tryNow', 'hold', 'giveUp']],
  ['held', { hold: held }, ['resume', 'giveUp']],
  ['under way', { underWay: 2 }, ['hold', 'giveUp']],
  ['given up', { hold: givenUp }, []],
  ['ended', { state: 'delivered' }, []],
])('a page offers the accepted actions of a delivery that is %s', (_, change, names) => {
  expect(acceptedActions({ ...waiting, ...change })).toEqual(names);
});

describe('the operator hold', () => {
  const action = (name: ActionName, by: string): OperatorAction => ({ ...anna, id: by, action: name, by });
  const nobody = { by: 'an operator', reason: '', at: '' };

  test.each<[string, 'hold' | 'giveUp' | null, OperatorAction[] | null, object | null]>([
    ['nobody', null, [action('hold', 'anna')], null],
    [
      'the last one who asked',
      'hold',
      [action('hold', 'eva'), action('resume', 'eva'), action('hold', 'anna'), action('tryNow', 'jan')],
      held,
    ],
    ['the one who gave up', 'giveUp', [action('giveUp', 'anna'), action('hold', 'eva')], givenUp],
    ['unknown, as nothing of it is recorded', 'hold', [action('giveUp', 'eva')], { stop: 'hold', ...nobody }],
    ['unknown, as nothing is recorded', 'hold', null, { stop: 'hold', ...nobody }],
  ])('%s', (_, stop, actions, hold) => {
    expect(operatorHoldOf(stop, actions)).toEqual(hold);
  });

  test('only a delivery shown as held has somebody who holds it', () => {
    const delivery = {
      state: 'held',
      operatorStop: 'hold',
      operatorActions: [action('hold', 'anna')],
    } as const;
    expect(heldBy(delivery)).toEqual(anna);
    expect(heldBy({ ...delivery, state: 'canceled' })).toBeNull();
    expect(heldBy({ ...delivery, operatorStop: 'giveUp' })).toBeNull();
    expect(heldBy({ ...delivery, operatorStop: null })).toBeNull();
  });

  test.each([
    [anna, 'anna at 2026-11-20T11:00:00.000Z: stock-taking'],
    [{ ...anna, reason: '' }, 'anna at 2026-11-20T11:00:00.000Z'],
    [{ ...anna, at: '' }, 'anna: stock-taking'],
    [nobody, 'an operator'],
  ])('%j reads as: %s', (hold, words) => {
    expect(attribution(hold)).toBe(words);
  });
});

test('a user of the e-shop is marked as such, and a long name is cut', () => {
  const long = 'x'.repeat(101);
  expect(askedBy('warehouse', 'anna')).toEqual({ by: 'anna' });
  expect(askedBy('shop', 'zoe')).toEqual({ by: 'zoe (e-shop)', user: true });
  expect(askedBy('warehouse', long)).toEqual({ by: 'x'.repeat(100) });
  expect(askedBy('shop', long)).toEqual({ by: 'x'.repeat(100), user: true });
});
