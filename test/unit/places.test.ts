import { expect, test } from 'vitest';
import { createPlaces } from '../../src/api/budget/places.ts';

test('whoever waits in vain is refused, and its work is never done', async () => {
  const places = createPlaces({ total: 2, perKey: 1 }, 20, 'No place.');
  let release = () => {};
  const first = places.run(1, () => new Promise<string>((resolve) => (release = () => resolve('first'))));
  let done = false;
  const second = places.run(1, async () => {
    done = true;
  });
  await expect(second).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
  expect(await places.run(2, async () => 'of another')).toBe('of another');
  release();
  expect(await first).toBe('first');
  expect(await places.run(1, async () => 'third')).toBe('third');
  expect(done).toBe(false);
});

test('what fails gives its place back', async () => {
  const places = createPlaces({ total: 1 }, 1_000, 'No place.');
  await expect(places.run(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await places.run(1, async () => 'next')).toBe('next');
});
