/** Whose turn is next: turns by e-shop, and slices of work between which everything else runs. */
import { expect, test } from 'vitest';
import { createSlices, SLICE_MS } from '../../src/api/budget/slices.ts';
import { createTurns } from '../../src/concurrency/turns.ts';
import { later } from '../support/later.ts';

/** Work that ends when told to. */
function controlled(started: string[], name: string) {
  const [done, end] = later();
  const work = () => {
    started.push(name);
    return done;
  };
  return { work, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('keys take turns, each in its own order', async () => {
  const turns = createTurns({ total: 1 });
  const order: string[] = [];
  const work = (name: string) => async () => {
    await settled();
    order.push(name);
  };
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4'].map((name) => turns.run(1, work(name))),
    ...['b1', 'b2'].map((name) => turns.run(2, work(name))),
    turns.run(3, work('c1')),
  ]);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a key has at most its share, even alone; all keys together have at most the total', async () => {
  const turns = createTurns({ total: 3, perKey: 2 });
  const started: string[] = [];
  const works = Object.fromEntries(
    ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'].map((name) => [name, controlled(started, name)]),
  );
  const all = Object.entries(works).map(([name, { work }]) => turns.run(name.charCodeAt(0), work));
  await settled();
  expect(started).toEqual(['a1', 'a2', 'b1']);
  works.a1?.end();
  await settled();
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3']);
  works.a2?.end();
  works.a3?.end();
  await settled();
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  for (const { end } of Object.values(works)) end();
  await Promise.all(all);
  expect(started).toHaveLength(6);
});

test('failed work passes its turn on', async () => {
  const turns = createTurns({ total: 1 });
  const failed = turns.run(1, () => Promise.reject(new Error('no')));
  const next = turns.run(1, async () => 'next');
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});

test('a slice lasts its time, then one piece of work runs per round of the event loop, key by key', async () => {
  let time = 0;
  const slices = createSlices(() => time);
  await slices.next(1);
  expect(slices.next(1)).toBeUndefined();
  time += SLICE_MS - 1;
  expect(slices.next(2)).toBeUndefined();
  time += 1;
  const order: number[] = [];
  let rounds = 0;
  let going = true;
  const count = () => {
    rounds += 1;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  const waiters = [1, 1, 1, 2].map((key) =>
    slices.next(key)?.then(() => {
      // Each one that continues uses up the whole slice.
      time += SLICE_MS;
      order.push(key);
    }),
  );
  expect(waiters).not.toContain(undefined);
  await Promise.all(waiters);
  going = false;
  expect(order).toEqual([1, 2, 1, 1]);
  expect(rounds).toBeGreaterThanOrEqual(4);
});
