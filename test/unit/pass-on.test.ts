/** A page of changes passed on to Temporal: the effect of one failure on the others. */
import { ServiceError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { schedulerDefaults } from '../../src/concurrency/settings.ts';
import { passOn } from '../../src/relay/pass-on.ts';

/** Temporal's answer with this gRPC status. */
const answer = (code: number) =>
  new ServiceError('no', { cause: Object.assign(new Error('no'), { code, details: '', metadata: {} }) });
const INVALID_ARGUMENT = 3;
const UNAVAILABLE = 14;

/** Passes on a page of ten; Temporal answers the one with id 5 with this status. */
async function page(code: number) {
  const signalled: string[] = [];
  const givenBack: string[] = [];
  const refused: string[] = [];
  let answers = 0;
  const deps = {
    stopping: new AbortController().signal,
    options: schedulerDefaults,
    onAnswered() {
      answers += 1;
    },
  };
  const next = passOn(deps, {
    claim: async () => Array.from({ length: 10 }, (_, index) => ({ id: `${index}` })),
    giveBack: async (left) => void givenBack.push(...left.map(({ id }) => id)),
    call: async ({ id }) => {
      if (id === '5') throw answer(code);
      signalled.push(id);
    },
    refused: ({ id }) => void refused.push(id),
  });
  const outcome = await next.catch((error: unknown) => error);
  return { outcome, signalled, givenBack, refused, answers };
}

test('what Temporal refuses stops none of the others, and keeps its lease: it is not asked for again at once', async () => {
  const { outcome, signalled, givenBack, refused, answers } = await page(INVALID_ARGUMENT);
  expect(outcome).toBe(schedulerDefaults.tickMs);
  expect(refused).toEqual(['5']);
  expect(signalled).toHaveLength(9);
  expect(answers).toBe(10);
  expect(givenBack).toEqual([]);
});

test('while Temporal is away, what did not reach it is given back', async () => {
  const { outcome, signalled, givenBack, refused, answers } = await page(UNAVAILABLE);
  expect(outcome).toBeInstanceOf(ServiceError);
  expect(refused).toEqual([]);
  expect(answers).toBe(signalled.length);
  expect(givenBack).toContain('5');
  expect([...givenBack, ...signalled].sort()).toEqual(Array.from({ length: 10 }, (_, index) => `${index}`));
});
