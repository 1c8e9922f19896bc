/** What is fresh goes before what is recovered, and not for ever. */
import { expect, test } from 'vitest';
import { createPrecedence } from '../../src/relay/precedence.ts';

test('nothing recovered goes before it is known whether something fresh waits', () => {
  const precedence = createPrecedence(() => 0);
  expect(precedence.isOver()).toBe(false);
  precedence.claimed(false);
  expect(precedence.isOver()).toBe(true);
  precedence.claimed(true);
  expect(precedence.isOver()).toBe(false);
});

test('in a rush that lasts, one claim in 15 seconds goes first', () => {
  let now = 0;
  const precedence = createPrecedence(() => now);
  precedence.claimed(false);
  now = 100_000;
  precedence.claimed(true);
  for (let second = 0; second < 15; second += 1) {
    now += 1_000;
    precedence.claimed(true);
    expect(precedence.isOver()).toBe(false);
  }
  now += 1;
  expect(precedence.isOver()).toBe(true);
  precedence.yielded();
  expect(precedence.isOver()).toBe(false);
});
