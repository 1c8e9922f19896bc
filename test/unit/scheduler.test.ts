/** The decisions on how much is attempted when: starts of workflows, and precedence. */
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { createStarts, type Starts } from '../../src/concurrency/starts.ts';
import { createPool } from '../../src/db/connection/pool.ts';
import { defaultRetryPolicy } from '../../src/domain/retry-policy.ts';
import { createPrecedence } from '../../src/relay/classes.ts';
import { createSuspects } from '../../src/relay/suspects.ts';
import { workflowsOf } from '../../src/relay/workflows.ts';
import { neverAttempted } from '../support/database/deliveries.ts';

const options = schedulerDefaults;

function clock() {
  let at = 0;
  return {
    now: () => at,
    pass(ms: number) {
      at += ms;
    },
  };
}

/** A start that is under way until it is ended. */
function begin(starts: Starts) {
  let end = () => {};
  let fail = (_: Error) => {};
  const call = starts.start(
    () =>
      new Promise<void>((resolve, reject) => {
        end = resolve;
        fail = reject;
      }),
  );
  return { call, end: () => end(), fail: (error: Error) => fail(error) };
}

describe('a workflow is started at once', () => {
  test('while few starts are under way', async () => {
    const starts = createStarts(options, clock().now);
    const calls = Array.from({ length: options.startsUnderWay - 1 }, () => begin(starts));
    expect(starts.hasRoom()).toBe(true);
    const last = begin(starts);
    expect(starts.hasRoom()).toBe(false);
    last.fail(new Error('refused'));
    await expect(last.call).rejects.toThrow('refused');
    expect(starts.hasRoom()).toBe(true);
    const again = begin(starts);
    expect(starts.hasRoom()).toBe(false);
    calls[0]?.end();
    await calls[0]?.call;
    expect(starts.hasRoom()).toBe(true);
    for (const { end } of [again, ...calls]) end();
  });

  test('unless many attempts began within a second, and again after a quiet one', () => {
    const { now, pass } = clock();
    const starts = createStarts(options, now);
    const attempts = (count: number) => {
      for (let made = 0; made < count; made += 1) starts.attempted();
    };
    attempts(options.calmPerSecond);
    expect(starts.hasRoom()).toBe(true);
    attempts(1);
    expect(starts.hasRoom()).toBe(false);
    // The burst may go on: the second before counts too.
    pass(1_000);
    expect(starts.hasRoom()).toBe(false);
    pass(999);
    expect(starts.hasRoom()).toBe(false);
    pass(1);
    expect(starts.hasRoom()).toBe(true);
  });

  test('at a steady pace of few attempts a second', () => {
    const { now, pass } = clock();
    const starts = createStarts(options, now);
    for (let second = 0; second < 10; second += 1) {
      for (let made = 0; made < options.calmPerSecond; made += 1) starts.attempted();
      expect(starts.hasRoom()).toBe(true);
      pass(1_000);
    }
  });

  test('after a pause, however many attempts were made before', () => {
    const { now, pass } = clock();
    const starts = createStarts({ ...options, calmPerSecond: 0 }, now);
    starts.attempted();
    pass(1_500);
    expect(starts.hasRoom()).toBe(false);
    pass(60_000);
    expect(starts.hasRoom()).toBe(true);
  });

  test('unless a start is left unanswered by Temporal, even if others are answered', async () => {
    const { now, pass } = clock();
    const starts = createStarts(options, now);
    const silent = begin(starts);
    pass(options.silentMs);
    expect(starts.hasRoom()).toBe(true);
    pass(1);
    expect(starts.hasRoom()).toBe(false);
    starts.answered();
    expect(starts.hasRoom()).toBe(false);
    silent.end();
    await silent.call;
    expect(starts.hasRoom()).toBe(true);
  });

  test('unless the last starts failed without an answer, until Temporal answers', async () => {
    const { now, pass } = clock();
    const starts = createStarts(options, now);
    await expect(starts.start(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    expect(starts.hasRoom()).toBe(true);
    pass(options.silentMs + 1);
    expect(starts.hasRoom()).toBe(false);
    starts.answered();
    expect(starts.hasRoom()).toBe(true);
  });
});

describe('precedence', () => {
  const precedenceAt = () => {
    const time = clock();
    return { ...time, precedence: createPrecedence(options.patienceMs, time.now) };
  };

  test('fresh, retry and undelivered wait for no other class', () => {
    const { precedence } = precedenceAt();
    for (const name of ['fresh', 'retry', 'bulk', 'recovered'] as const) precedence.claimed(name, true);
    for (const name of ['fresh', 'retry', 'undelivered'] as const)
      expect(precedence.mayClaim(name)).toBe(true);
  });

  test('bulk and recovered wait while others are left, but not for ever', () => {
    const { pass, precedence } = precedenceAt();
    // No claim has been made yet.
    expect(precedence.mayClaim('bulk')).toBe(false);
    precedence.claimed('fresh', false);
    expect(precedence.mayClaim('bulk')).toBe(true);
    precedence.claimed('bulk', true);
    expect(precedence.mayClaim('recovered')).toBe(false);
    precedence.claimed('fresh', true);
    expect([precedence.mayClaim('fresh'), precedence.mayClaim('bulk')]).toEqual([true, false]);
    pass(options.patienceMs);
    expect(precedence.mayClaim('bulk')).toBe(false);
    pass(1);
    expect([precedence.mayClaim('bulk'), precedence.mayClaim('recovered')]).toEqual([true, true]);
    precedence.claimed('bulk', true);
    expect(precedence.mayClaim('bulk')).toBe(false);
  });

  test('a class that has waited long enough keeps its turn if there is no room', () => {
    const { pass, precedence } = precedenceAt();
    precedence.claimed('fresh', true);
    expect(precedence.mayClaim('bulk')).toBe(false);
    pass(options.patienceMs + 1);
    precedence.full('bulk');
    expect(precedence.mayClaim('bulk')).toBe(true);
  });

  test('delivered waits for every attempt of fresh, retry and bulk, however long', () => {
    const { pass, precedence } = precedenceAt();
    for (const name of ['fresh', 'retry', 'bulk'] as const) precedence.claimed(name, false);
    expect(precedence.mayClaim('delivered')).toBe(true);
    for (const name of ['fresh', 'retry', 'bulk'] as const) {
      precedence.claimed(name, true);
      pass(10 * options.patienceMs);
      expect(precedence.mayClaim('delivered')).toBe(false);
      precedence.claimed(name, false);
    }
    precedence.claimed('recovered', true);
    expect(precedence.mayClaim('delivered')).toBe(true);
  });

  test('a class is empty once a claim has left nothing, until more may be left', () => {
    const { precedence } = precedenceAt();
    expect(precedence.isEmpty('fresh')).toBe(false);
    precedence.claimed('fresh', false);
    expect([precedence.isEmpty('fresh'), precedence.isEmpty('bulk')]).toEqual([true, false]);
    for (const left of ['waiting', 'full'] as const) {
      precedence.claimed('fresh', false);
      precedence[left]('fresh');
      expect(precedence.isEmpty('fresh')).toBe(false);
    }
  });

  test('claimingMs() is the time for which a class has been claimed without a break', () => {
    const { pass, precedence } = precedenceAt();
    expect(precedence.claimingMs('retry')).toBe(0);
    precedence.claimed('retry', false);
    for (let second = 0; second < 10; second += 1) {
      pass(5_000);
      // Without room it would have been claimed.
      if (second % 2 === 0) precedence.full('retry');
      else precedence.claimed('retry', false);
    }
    expect(precedence.claimingMs('retry')).toBe(50_000);
    expect(precedence.claimingMs('fresh')).toBe(0);
    // The database was unavailable.
    pass(5_001);
    precedence.claimed('retry', false);
    expect(precedence.claimingMs('retry')).toBe(0);
    pass(300);
    expect(precedence.claimingMs('retry')).toBe(300);
  });
});

test('the loop of delivered pauses longer in a burst, the longer its starts take', async () => {
  const START_MS = 20;
  const precedence = createPrecedence(options.patienceMs);
  for (const name of ['fresh', 'retry', 'bulk', 'delivered'] as const) precedence.claimed(name, false);
  // Never connected to: every delivery is started.
  const sql = createPool('postgres://nobody@127.0.0.1:1/none', 1, { session: false });
  const delivery = {
    ...neverAttempted,
    id: 'one',
    eshopId: 1,
    webhookId: 1,
    entityId: '1',
    receiverHost: null,
  };
  const step = (burst: boolean) => {
    precedence.claimed('delivered', false);
    return workflowsOf(
      {
        sql,
        claim: async () => ({ deliveries: [{ ...delivery, eventType: 'CREATE_ORDER' }], more: true }),
        options: { ...options, tickMs: 1 },
        starts: { ...createStarts(options), isBurst: () => burst },
        stopping: new AbortController().signal,
        precedence,
        startWorkflow: () => sleep(START_MS),
        onAnswered() {},
        suspects: createSuspects(),
        policy: defaultRetryPolicy,
        log: pino({ level: 'silent' }),
      },
      'delivered',
    )();
  };
  expect(await step(false)).toBe(1);
  // A timer may be early by a millisecond.
  expect(await step(true)).toBeGreaterThan(2.5 * START_MS);
});
