/** The decisions on how much is attempted when: starts, batch mode, precedence. */
import { describe, expect, test } from 'vitest';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { createStarts } from '../../src/concurrency/starts.ts';
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

describe('starts', () => {
  test('of batches wait until they have begun, here or elsewhere', () => {
    const { now, pass } = clock();
    const starts = createStarts(options, now);
    for (const id of ['a', 'b', 'c']) starts.starting(id);
    starts.begun('a');
    starts.failed('b');
    starts.begun('of another process');
    expect(['a', 'b', 'c'].filter(starts.waits)).toEqual(['c']);
    pass(2_001);
    expect(starts.waits('c')).toBe(false);
  });

  test('that Temporal leaves unanswered for long: it is silent, or slow if it has answered another', async () => {
    const { now, pass } = clock();
    const starts = createStarts(options, now);
    let reject = (_: Error) => {};
    const call = starts.ask(() => new Promise((_, fail) => (reject = fail)));
    pass(options.silentMs);
    expect(starts.silent()).toBe(false);
    pass(1);
    expect(starts.silent()).toBe(true);
    await starts.ask(async () => {});
    starts.answered();
    expect([starts.silent(), starts.slow()]).toEqual([false, true]);
    reject(new Error('away'));
    await expect(call).rejects.toThrow('away');
    expect(starts.slow()).toBe(false);
    await expect(starts.ask(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    pass(options.silentMs + 1);
    // Until something is answered.
    expect([starts.silent(), starts.slow()]).toEqual([true, true]);
    starts.answered();
    expect([starts.silent(), starts.slow()]).toEqual([false, false]);
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
