/** The decisions of an attempt, case by case. */
import { describe, expect, test } from 'vitest';
import {
  type FinishedAttempt,
  heldWhilePaused,
  isJustOver,
  lostTimeMs,
  recordOf,
  skipped,
  skipReasonOf,
  verdictOf,
} from '../../../src/attempt/decisions.ts';
import type { AttemptCommand, SkipReason } from '../../../src/attempt/outcome.ts';
import type { DeliveryForAttempt } from '../../../src/db/deliveries/attempts.ts';
import { jitteredWait } from '../../../src/domain/retry-policy.ts';
import { at, begun, MINUTE, policy, refusedByReceiver, untried, waiting } from './delivery.ts';

const command: AttemptCommand = {
  deliveryId: waiting.id,
  policy,
  lastChance: false,
  expectedNumber: 2,
  queue: null,
};

test('a pause is waited for by the activity, except a last chance, whose activity nothing cancels', () => {
  const paused = { ...waiting, pausedUntil: at(MINUTE) };
  expect(heldWhilePaused(paused, command)).toMatchObject({ kind: 'deferred', reason: 'paused' });
  expect(heldWhilePaused(paused, { ...command, lastChance: true })).toBeNull();
});

describe('the reason to skip an attempt', () => {
  test.each<[string, Partial<DeliveryForAttempt>, Partial<AttemptCommand>, SkipReason | null]>([
    ['due: none', {}, {}, null],
    ['delivered', { state: 'delivered' }, {}, 'closed'],
    ['expired', { state: 'expired' }, {}, 'closed'],
    ['under way elsewhere', { underWayUntil: at(MINUTE) }, {}, 'underWay'],
    ['webhook deleted', { deletedAt: at(-1) }, {}, 'deleted'],
    ['ended counts before deleted', { state: 'canceled', deletedAt: at(-1) }, {}, 'closed'],
    ['deleted counts before inactive', { active: false, deletedAt: at(-1) }, {}, 'deleted'],
    ['held by an operator', { operatorStop: 'hold' }, {}, 'stopped'],
    ['given up, and no attempt left', { operatorStop: 'giveUp', nextAttemptAt: null }, {}, 'stopped'],
    ['all 21 made', { attemptsMade: 21 }, {}, 'spent'],
    ['the 21st is left', { attemptsMade: 20 }, { expectedNumber: 21 }, null],
    ['more made than the policy of today allows', { attemptsMade: 30 }, {}, 'spent'],
    ['no attempt planned behind the last one', { nextAttemptAt: null }, {}, 'spent'],
    [
      '410 from the address before, or of the activation before',
      { nextAttemptAt: null, lastOutcome: 'gone', generation: 3 },
      {},
      null,
    ],
    ['410 from the address of today', { nextAttemptAt: null, lastOutcome: 'gone' }, {}, 'spent'],
    ['spent counts before inactive', { nextAttemptAt: null, active: false }, {}, 'spent'],
    ['webhook inactive', { active: false }, {}, 'inactive'],
    ['inactive counts before the end of the window', { active: false, now: at(60 * MINUTE) }, {}, 'inactive'],
    ['the window over', { now: at(55 * MINUTE + 1) }, {}, 'windowOver'],
    ['the last moment of the window', { now: at(55 * MINUTE) }, {}, null],
    ['the window over, and this the last chance', { now: at(55 * MINUTE + 1) }, { lastChance: true }, null],
  ])('%s', (_, delivery, asked, expected) => {
    expect(skipReasonOf({ ...waiting, ...delivery }, { ...command, ...asked })).toBe(expected);
  });

  test("is a pause until its end by the database's clock, unless the webhook is inactive", () => {
    expect(skipReasonOf({ ...waiting, pausedUntil: at(1) }, command)).toBe('paused');
    expect(skipReasonOf({ ...waiting, pausedUntil: at(0) }, command)).toBeNull();
    expect(skipReasonOf({ ...waiting, pausedUntil: at(1), active: false }, command)).toBe('inactive');
  });

  test('is absent before the first attempt, with or without a window', () => {
    expect(skipReasonOf(untried, { ...command, expectedNumber: null })).toBeNull();
    expect(skipReasonOf({ ...untried, windowStartedAt: at(-MINUTE) }, command)).toBeNull();
  });

  describe('before the due time', () => {
    const early = { nextAttemptAt: at(1_001) };
    test.each<[string, Partial<DeliveryForAttempt>, number | null, SkipReason | null]>([
      ['ordered by an operator: at once', early, null, null],
      ['by a caller that counts as the records do: at once', early, 2, null],
      ['by a caller that is behind the records', early, 1, 'notDue'],
      ['behind the records, and early by a moment only', { nextAttemptAt: at(1_000) }, 1, null],
      ['behind the records, and due', {}, 1, null],
      ['behind the records, and the webhook changed since', { ...early, generation: 3 }, 1, null],
    ])('%s', (_, delivery, expectedNumber, expected) => {
      expect(skipReasonOf({ ...waiting, ...delivery }, { ...command, expectedNumber })).toBe(expected);
    });
  });
});

describe('a plan just missed', () => {
  test.each<[string, Date | null, number, boolean]>([
    ['late by less than a second', at(-999), -1, true],
    ['late by a second: we were down', at(-1_000), -1, false],
    ['early: nothing was missed by much', at(500), 500, true],
    ['deferred past the end of the window: its last chance is left', at(-500), -501, false],
    ['no plan at all', null, -1, false],
  ])('%s', (_, nextAttemptAt, endsAt, expected) => {
    const windowStartedAt = at(endsAt - policy.windowMs);
    expect(isJustOver({ nextAttemptAt, windowStartedAt, now: at(0) }, policy)).toBe(expected);
  });
});

describe('the verdict on a skipped attempt', () => {
  test('has the reason', () => {
    expect(skipped(waiting, 'inactive')).toEqual({ kind: 'notAttempted', reason: 'inactive' });
  });
  test('is the recorded success if the delivery was accepted already', () => {
    const delivered = { ...waiting, state: 'delivered', attemptsMade: 4, lastStatus: 202 } as const;
    expect(skipped(delivered, 'closed')).toEqual({ kind: 'delivered', number: 4, status: 202 });
    expect(skipped({ ...delivered, lastStatus: null }, 'closed')).toMatchObject({ status: 200 });
  });
});

describe('lost time', () => {
  test.each<[string, Partial<DeliveryForAttempt>, number, number]>([
    ['on time', {}, 0, 0],
    ['early', {}, -500, 0],
    ['late by less than a second: a slow moment', {}, 999, 0],
    ['late by a second: internal', {}, 1_000, 1_000],
    ['late by hours', {}, 3 * 60 * MINUTE, 3 * 60 * MINUTE],
    [
      'held until a minute ago: late by that minute',
      { generationAt: at(-MINUTE), nextAttemptAt: at(-9 * MINUTE) },
      0,
      MINUTE,
    ],
    [
      'paused until a minute ago, and its turn came within the spread: late by the rest',
      {
        pausedUntil: at(-MINUTE),
        nextAttemptAt: at(-9 * MINUTE),
        id: '019aa1b2-0000-7000-8000-000000008000',
      },
      0,
      MINUTE - 5_000,
    ],
    ['the generation never rose', { generationAt: null }, 2_000, 2_000],
    ['no plan', { nextAttemptAt: null }, 5_000, 0],
    [
      'the first attempt: since its window started',
      { ...untried, windowStartedAt: at(-MINUTE), nextAttemptAt: at(0) },
      0,
      MINUTE,
    ],
    ['the first attempt, and no window yet', untried, MINUTE, 0],
  ])('%s', (_, delivery, startedMs, expected) => {
    expect(lostTimeMs({ ...waiting, ...delivery }, at(startedMs))).toBe(expected);
  });

  test.each([
    ['all of the time: none', MINUTE, 0],
    ['since long before: none', 60 * MINUTE, 0],
    ['since half of it: the half before', 30_000, 30_000],
    ['for all but a moment: none', MINUTE - 999, 0],
    ['not yet: all', 0, MINUTE],
    ['since a fraction of a millisecond: whole ones', 1_234.567_89, MINUTE - 1_235],
  ])('after a minute in the queue of a process that has been claiming %s', (_, claimingMs, expected) => {
    expect(lostTimeMs(waiting, at(MINUTE), claimingMs)).toBe(expected);
  });

  test('is recorded for an attempt from the queue only up to the first claim of its process', () => {
    const attempt = {
      number: 2,
      owner: 'this process',
      begun: { ...begun, startedAt: at(MINUTE) },
      finishedAt: at(MINUTE + 212),
      result: refusedByReceiver,
      stillCurrent: true,
    };
    const queue = (claimingMs: number) => ({ claimId: '', claimingMs, handOver: () => 'unstarted' as const });
    const lateMs = (claimingMs: number) =>
      recordOf(waiting, { ...command, queue: queue(claimingMs) }, attempt).lateMs;
    expect([lateMs(0), lateMs(20_000), lateMs(MINUTE)]).toEqual([MINUTE, 40_000, 0]);
  });
});

describe('the record of an attempt', () => {
  const attempt = {
    number: 2,
    owner: 'this process',
    begun,
    finishedAt: at(212),
    result: refusedByReceiver,
    stillCurrent: true,
  } satisfies FinishedAttempt;
  const { result } = attempt;
  const success = {
    ...attempt,
    result: { ...result, outcome: 'success', status: 204, error: null },
  } as const;

  test('a failure has the wait of the policy', () => {
    expect(recordOf(waiting, command, attempt)).toEqual({
      deliveryId: waiting.id,
      webhookId: 7,
      number: 2,
      owner: 'this process',
      generation: 2,
      outcome: 'failure',
      finishedAt: at(212),
      durationMs: 212,
      status: 503,
      error: 'HTTP 503 from shop.example after 212 ms',
      responseExcerpt: 'busy',
      nextAttemptAt: at(212 + jitteredWait(policy, waiting.id, 2)),
      lateMs: 0,
      windowLost: false,
      lastCall: false,
      plan: null,
    });
  });

  test('an attempt from the queue has a plan for the queue, chosen by its result', () => {
    const asked: [boolean, number][] = [];
    const queue = {
      claimId: 'claim',
      claimingMs: 0,
      handOver(delivered: boolean, number: number) {
        asked.push([delivered, number]);
        return delivered ? 'none' : 'unstarted';
      },
    } as const;
    const plan = { claimId: 'claim', workflow: 'unstarted', firstWaitMs: 10_000 };
    expect(recordOf(waiting, { ...command, queue }, attempt)).toMatchObject({ plan });
    expect(recordOf(waiting, { ...command, queue }, success)).toMatchObject({
      plan: { ...plan, workflow: 'none' },
    });
    expect(asked).toEqual([
      [false, 2],
      [true, 2],
    ]);
  });

  test('a success has no error and no next attempt', () => {
    expect(recordOf(waiting, command, success)).toMatchObject({
      outcome: 'success',
      status: 204,
      error: null,
      nextAttemptAt: null,
      windowLost: false,
    });
    expect(recordOf(waiting, { ...command, lastChance: true }, success)).toMatchObject({ windowLost: false });
  });

  test("a 410 from the webhook's URL has the outcome gone, and no next attempt", () => {
    const gone = { ...attempt, result: { ...result, outcome: 'gone', status: 410 } } as const;
    expect(recordOf(waiting, command, gone)).toMatchObject({
      outcome: 'gone',
      error: result.error,
      nextAttemptAt: null,
      windowLost: false,
    });
    expect(recordOf(waiting, { ...command, lastChance: true }, gone)).toMatchObject({ windowLost: false });
  });

  test('the 21st failure has no next attempt, and the receiver is to blame', () => {
    const last = { ...attempt, number: 21 };
    expect(recordOf(waiting, command, last)).toMatchObject({ nextAttemptAt: null, windowLost: false });
  });

  const pastWindow = { ...attempt, begun: { ...begun, windowStartedAt: at(-61 * MINUTE), startedAt: at(0) } };

  test.each([
    ['lost time is the reason', MINUTE, true],
    ['the receiver’s own limit is the reason, with little lost time', MINUTE - 1, false],
  ])('a failed last chance: %s', (_, lateBeforeMs, windowLost) => {
    const record = recordOf({ ...waiting, lateBeforeMs }, { ...command, lastChance: true }, pastWindow);
    expect(record).toMatchObject({ outcome: 'failure', nextAttemptAt: null, windowLost });
  });

  test('a last chance whose window was moved by a clock step is like any other attempt', () => {
    const record = recordOf(waiting, { ...command, lastChance: true }, attempt);
    expect(record).toMatchObject({
      nextAttemptAt: at(212 + jitteredWait(policy, waiting.id, 2)),
      windowLost: false,
    });
  });

  test('a window without room because of lost time is lost by Waybill', () => {
    const late = { ...waiting, lateBeforeMs: 55 * MINUTE };
    const end = { ...begun, windowStartedAt: at(-60 * MINUTE + 2_000) };
    expect(recordOf(late, command, { ...attempt, begun: end })).toMatchObject({
      nextAttemptAt: null,
      windowLost: true,
    });
  });

  test('gives the caller the same result', () => {
    expect(verdictOf(recordOf(waiting, command, attempt))).toEqual({
      kind: 'failed',
      number: 2,
      status: 503,
      message: 'HTTP 503 from shop.example after 212 ms',
      at: at(212),
      nextAttemptAt: at(212 + jitteredWait(policy, waiting.id, 2)),
    });
    expect(verdictOf(recordOf(waiting, command, success))).toEqual({
      kind: 'delivered',
      number: 2,
      status: 204,
    });
  });
});
