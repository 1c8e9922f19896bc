/** A page of changes signaled to Temporal: the effect of one failure on the others. */
import { ServiceError } from '@temporalio/client';
import pino from 'pino';
import { expect, test } from 'vitest';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { passOn } from '../../src/relay/pass-on.ts';
import { createSuspects } from '../../src/relay/suspects.ts';

/** Temporal's answer with this gRPC status. */
const answer = (code: number) =>
  new ServiceError('no', { cause: Object.assign(new Error('no'), { code, details: '', metadata: {} }) });
const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;

/** Passes on a page of ten; Temporal answers the one with id 5 with this status. */
async function page(code: number, suspects = createSuspects()) {
  const signaled: string[] = [];
  const givenBack: string[] = [];
  const logged: Record<string, unknown>[] = [];
  let answers = 0;
  const deps = {
    stopping: new AbortController().signal,
    options: schedulerDefaults,
    onAnswered() {
      answers += 1;
      suspects.answered();
    },
    suspects,
    log: pino({}, { write: (line: string) => logged.push(JSON.parse(line)) }),
  };
  const next = passOn(deps, {
    claim: async () => Array.from({ length: 10 }, (_, index) => ({ id: `${index}` })),
    giveBack: async (left) => void givenBack.push(...left.map(({ id }) => id)),
    call: async ({ id }) => {
      if (id === '5') throw answer(code);
      signaled.push(id);
    },
    what: 'a signal',
    ids: ({ id }) => ({ id }),
  });
  const outcome = await next.catch((error: unknown) => error);
  const left = logged.map(({ id, msg }) => `${msg}: ${id}`);
  return { outcome, signaled, givenBack, left, answers };
}

test('a rejected item does not stop the others, and keeps its lease', async () => {
  const { outcome, signaled, givenBack, left, answers } = await page(INVALID_ARGUMENT);
  expect(outcome).toBe(schedulerDefaults.tickMs);
  expect(left).toEqual(['Temporal rejected a signal: 5']);
  expect(signaled).toHaveLength(9);
  expect(answers).toBe(10);
  expect(givenBack).toEqual([]);
});

test('items that do not reach an unavailable Temporal are given back', async () => {
  const { outcome, signaled, givenBack, left, answers } = await page(UNAVAILABLE);
  expect(outcome).toBeInstanceOf(ServiceError);
  expect(left).toEqual([]);
  expect(answers).toBe(signaled.length);
  expect(givenBack).toContain('5');
  expect([...givenBack, ...signaled].sort()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`));
});

test('an item that keeps failing while others succeed is skipped and reported', async () => {
  const suspects = createSuspects();
  for (const _ of [1, 2]) expect(await page(UNAVAILABLE, suspects)).toMatchObject({ left: [] });
  const { outcome, signaled, left } = await page(UNAVAILABLE, suspects);
  expect(outcome).toBe(schedulerDefaults.tickMs);
  expect(left).toEqual(['a signal keeps failing: 5']);
  expect(signaled).toHaveLength(9);
  expect(await page(UNAVAILABLE, suspects)).toMatchObject({ left: [] });
});

test('no item is blamed while all fail', () => {
  const suspects = createSuspects();
  for (let tries = 0; tries < 100; tries += 1) expect(suspects.failed('5')).toBe(false);
});
