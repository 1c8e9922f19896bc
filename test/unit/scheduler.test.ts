/** The decisions on how much is attempted when: load, the background budget, batch mode, precedence. */
import { describe, expect, test } from 'vitest';
import { createLoad } from '../../src/concurrency/load.ts';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { type BackgroundWork, createBudget } from '../../src/relay/budget.ts';
import { createPrecedence } from '../../src/relay/classes.ts';
import { createLastBatch } from '../../src/relay/last-batch.ts';
import { createMode } from '../../src/relay/mode.ts';

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

describe('load', () => {
  /** The load after starts that took this long, one after the other. */
  function loadAfter(...takenMs: readonly number[]) {
    const { now, pass } = clock();
    const load = createLoad(options, now);
    for (const [index, ms] of takenMs.entries()) {
      load.starting(String(index));
      pass(ms);
      load.begun(String(index));
    }
    return { load, pass };
  }

  test.each<[string, readonly number[], boolean]>([
    ['nothing was started', [], false],
    ['everything begins at once', [10, 12, 11], false],
    ['slower than the quickest, and not slow', [10, 50], false],
    ['one takes many times as long', [20, 20, 200], true],
    ['a far server is not busy for being far', [150, 160, 400], false],
    ['a far server that takes much longer than it could', [100, 100, 500], true],
  ])('%s', (_, takenMs, overloaded) => {
    expect(loadAfter(...takenMs).load.overloaded()).toBe(overloaded);
  });

  test('is that of the last second', () => {
    const { load, pass } = loadAfter(20, 200);
    expect(load.overloaded()).toBe(true);
    pass(1_001);
    expect(load.overloaded()).toBe(false);
  });

  test('counts what was started and has not begun, until it has begun elsewhere', () => {
    const { now, pass } = clock();
    const load = createLoad(options, now);
    for (const id of ['a', 'b', 'c']) load.starting(id);
    load.begun('a');
    load.failed('b');
    load.begun('of another process');
    expect(['a', 'b', 'c'].filter(load.waits)).toEqual(['c']);
    pass(2_001);
    expect(load.waits('c')).toBe(false);
  });
});

describe('the background budget', () => {
  /** The calls of each kind of work within this many seconds, asking four times a second. */
  function spent(seconds: number, works: readonly BackgroundWork[], overloaded = () => false) {
    const { now, pass } = clock();
    const budget = createBudget(overloaded, options, now);
    const calls = new Map(works.map((work) => [work, 0]));
    for (let round = 0; round < seconds * 4; round += 1) {
      for (const work of works) {
        const available = budget.available(work);
        budget.spend(work, available);
        calls.set(work, (calls.get(work) ?? 0) + available);
      }
      pass(250);
    }
    return works.map((work) => calls.get(work) ?? 0);
  }

  test('while overloaded it keeps its least', () => {
    const [calls = 0] = spent(10, ['retries'], () => true);
    expect(calls).toBeGreaterThanOrEqual(options.budgetLeast * 10 - options.budgetLeast);
    expect(calls).toBeLessThanOrEqual(options.budgetLeast * 10 + 1);
  });

  test('it grows second by second, up to its most', () => {
    const [first = 0] = spent(2, ['retries']);
    const [calls = 0] = spent(30, ['retries']);
    expect(first).toBeLessThan(options.budgetMost);
    expect(calls).toBeLessThanOrEqual(options.budgetMost * 30);
    expect(calls).toBeGreaterThan(options.budgetMost * 20);
  });

  test('is shared equally by those that use it, and none starves', () => {
    const shares = spent(20, ['retries', 'changes', 'releases'], () => true);
    const all = shares.reduce((sum, calls) => sum + calls, 0);
    expect(all).toBeLessThanOrEqual(options.budgetLeast * 21);
    for (const calls of shares) expect(calls).toBeGreaterThan(all / 4);
  });

  test('what was not used is gone', () => {
    const { now, pass } = clock();
    const budget = createBudget(() => true, options, now);
    budget.available('changes');
    pass(60_000);
    expect(budget.available('changes')).toBe(options.budgetLeast);
  });
});

describe('batch mode', () => {
  const burst = { deliveries: 16, more: true, waitedMs: options.burstAfterMs + 1 };
  const calm = { deliveries: 1, more: false, waitedMs: 0 };

  test.each<['each' | 'batch', boolean]>([
    ['each', false],
    ['batch', true],
  ])('%s is %s whatever waits', (setting, batches) => {
    const mode = createMode(setting, options);
    for (const found of [burst, calm]) {
      mode.claimed(found);
      expect(mode.batches()).toBe(batches);
    }
  });

  test.each([
    ['a few that were taken are no burst', { ...burst, more: false }, false],
    ['many that have just come are none yet', { ...burst, waitedMs: 10 }, false],
    ['many that wait behind each other are one', burst, true],
  ])('%s', (_, found, batches) => {
    const { now, pass } = clock();
    const mode = createMode('auto', options, now);
    mode.claimed(found);
    pass(options.burstAfterMs + 1);
    mode.claimed(found);
    expect(mode.batches()).toBe(batches);
  });

  test('what waited long for its own receiver is no burst because one claim is full', () => {
    const { now, pass } = clock();
    const mode = createMode('auto', options, now);
    for (let round = 0; round < 10; round += 1) {
      mode.claimed({ ...burst, more: round % 2 === 0 });
      pass(options.burstAfterMs / 2 + 1);
    }
    expect(mode.batches()).toBe(false);
  });

  test('it ends once hardly anything has come for a while, and not before', () => {
    const { now, pass } = clock();
    const mode = createMode('auto', options, now);
    mode.claimed(burst);
    pass(options.burstAfterMs + 1);
    mode.claimed(burst);
    const claimsOf = (deliveries: number, rounds: number) => {
      for (let round = 0; round < rounds; round += 1) {
        pass(options.tickMs);
        mode.claimed({ ...calm, deliveries });
      }
      return mode.batches();
    };
    expect(claimsOf(1, 3)).toBe(true);
    // More per second than single workflows would manage with ease.
    expect(claimsOf(5, 40)).toBe(true);
    expect(claimsOf(1, 20)).toBe(false);
  });
});

describe('the last batch', () => {
  const of = (eshopId: number, count: number, batchId: string | null = 'a') =>
    Array.from({ length: count }, () => ({ eshopId, batchId }));

  test.each<[string, ReturnType<typeof of>, number, readonly number[] | null]>([
    ['one e-shop', of(1, 50), 4, [1]],
    ['those that are attempted beside it do not belong to it', [...of(1, 50), ...of(2, 2, null)], 4, [1]],
    ['nor those of another batch', [...of(1, 50), ...of(2, 50, 'b')], 4, [1]],
    ['many, with a few each', [...of(1, 50), ...of(2, 4)], 4, null],
    ['nobody is to be beside it', of(1, 50), 0, null],
  ])('its crowd: %s', (_, deliveries, few, crowd) => {
    const last = createLastBatch(() => false, options, few);
    last.claimed('a', deliveries);
    expect(last.crowd()).toEqual(crowd && new Set(crowd));
  });

  test('its crowd stays the crowd after claims without a batch, but not for long', () => {
    const { now, pass } = clock();
    const last = createLastBatch(() => false, options, 4, now);
    last.claimed('a', of(1, 50));
    pass(options.idleAfterMs - 1);
    last.claimed('b', []);
    last.claimed('c', of(2, 3, null));
    expect(last.crowd()).toEqual(new Set([1]));
    pass(1);
    last.claimed('d', of(2, 3, null));
    expect(last.crowd()).toEqual(new Set());
  });

  test('is fresh until it has begun, and for a tick', () => {
    const { now, pass } = clock();
    let begun = false;
    const last = createLastBatch((id) => id === 'a' && !begun, options, 4, now);
    expect(last.mustWait()).toBe(false);
    last.claimed('a', of(1, 50));
    pass(options.tickMs);
    expect(last.mustWait()).toBe(true);
    begun = true;
    expect(last.mustWait()).toBe(false);
    last.claimed('b', of(1, 50));
    pass(options.tickMs - 1);
    expect(last.mustWait()).toBe(true);
  });
});

describe('precedence', () => {
  test('what is not fresh waits while something fresh is left, but not for ever', () => {
    const { now, pass } = clock();
    const precedence = createPrecedence(options.patienceMs, now);
    // No claim has been made yet.
    expect(precedence.mayClaim('bulk')).toBe(false);
    precedence.claimed('fresh', false);
    expect(precedence.mayClaim('bulk')).toBe(true);
    precedence.claimed('bulk', true);
    expect(precedence.mayClaim('recovered')).toBe(false);
    precedence.claimed('fresh', true);
    expect([precedence.mayClaim('fresh'), precedence.mayClaim('bulk')]).toEqual([true, false]);
    pass(options.patienceMs + 1);
    expect(precedence.mayClaim('bulk')).toBe(true);
    precedence.claimed('bulk', true);
    expect(precedence.mayClaim('bulk')).toBe(false);
  });

  test('whoever has waited long enough and finds no place has not had its turn', () => {
    const { now, pass } = clock();
    const precedence = createPrecedence(options.patienceMs, now);
    precedence.claimed('fresh', true);
    expect(precedence.mayClaim('bulk')).toBe(false);
    pass(options.patienceMs + 1);
    precedence.full('bulk');
    expect(precedence.mayClaim('bulk')).toBe(true);
  });
});
