import { expect, test } from 'vitest';
import { createPlaces } from '../../src/api/budget/places.ts';
import { later } from '../support/later.ts';

/** Everything that may start has started. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a caller that waits too long is rejected, and its work is never done', async () => {
  const places = createPlaces({ total: 2, perKey: 1 }, 'No place.', 20);
  const [answered, answer] = later<string>();
  const first = places.run(1, () => answered);
  let done = false;
  const second = places.run(1, async () => {
    done = true;
  });
  await expect(second).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  expect(await places.run(2, async () => 'of another')).toBe('of another');
  answer('first');
  expect(await first).toBe('first');
  expect(await places.run(1, async () => 'third')).toBe('third');
  expect(done).toBe(false);
});

test('failed work gives its place back', async () => {
  const places = createPlaces({ total: 1 }, 'No place.', 1_000);
  await expect(places.run(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await places.run(1, async () => 'next')).toBe('next');
});

test('at most a hundred callers of one key wait; more are refused, and other keys find a place', async () => {
  const places = createPlaces({ total: 1 }, 'No place.', 60_000);
  const order: string[] = [];
  const [released, release] = later();
  const first = places.run('192.0.2.1', () => released);
  await settled();
  const waiting = Array.from({ length: 100 }, () =>
    places.run('192.0.2.1', async () => void order.push('flood')),
  );
  await expect(places.run('192.0.2.1', async () => {})).rejects.toMatchObject({ status: 429 });
  const other = places.run('192.0.2.2', async () => void order.push('other'));
  release();
  await Promise.all([first, other, ...waiting]);
  expect(order.indexOf('other')).toBeLessThan(2);
  expect(order).toHaveLength(101);
  // All have left: as many as before may wait again.
  expect(await places.run('192.0.2.1', async () => 'again')).toBe('again');
});

test('at most a thousand callers wait for places in all', async () => {
  const places = createPlaces({ total: 1 }, 'No place.', 60_000);
  const [released, release] = later();
  const first = places.run(0, () => released);
  await settled();
  const waiting = Array.from({ length: 1_000 }, (_, index) => places.run(1 + (index % 20), async () => {}));
  await expect(places.run(100, async () => {})).rejects.toMatchObject({ status: 429 });
  release();
  await Promise.all([first, ...waiting]);
});
