/** Stopping in order, whatever hangs. */
import { expect, test } from 'vitest';
import { createStops } from '../../src/stops.ts';

const never = () => new Promise<void>(() => {});

/** Parts that note when they are told to stop. */
function parts() {
  const told: string[] = [];
  const said: string[] = [];
  const stops = createStops((text) => said.push(text));
  const part = (name: string, end: () => Promise<void> = async () => {}) => {
    return () => {
      told.push(name);
      return end();
    };
  };
  return { stops, told, said, part };
}

test('the last that was started is stopped first', async () => {
  const { stops, told, said, part } = parts();
  for (const name of ['database', 'worker', 'api']) await stops.add(part(name));

  expect(await stops.all(1_000)).toBe(true);

  expect(told).toEqual(['api', 'worker', 'database']);
  expect(said).toEqual([]);
});

test('what hangs is left when the time is over, and the others are still told', async () => {
  const { stops, told, said, part } = parts();
  await stops.add(part('database', never));
  await stops.add(part('worker', never));

  expect(await stops.all(100)).toBe(false);

  expect(told).toEqual(['worker', 'database']);
  expect(said).toEqual(['Not everything stopped within 0.1 s; what was still under way was abandoned.']);
});

test('a server that we started gets the time it needs, also after the end of everybody else’s', async () => {
  const { stops, told, part } = parts();
  let stopped = false;
  const slow = () =>
    new Promise<void>((resolve) =>
      setTimeout(() => {
        stopped = true;
        resolve();
      }, 700),
    );
  await stops.add(part('postgres', slow), true);
  await stops.add(part('worker', never));

  await stops.all(100);

  expect(told).toEqual(['worker', 'postgres']);
  expect(stopped).toBe(true);
});

test('a part that fails to stop keeps nobody else from it, and is said', async () => {
  const { stops, told, said, part } = parts();
  await stops.add(part('database'));
  await stops.add(part('worker', () => Promise.reject(new Error('no'))));

  expect(await stops.all(1_000)).toBe(false);

  expect(told).toEqual(['worker', 'database']);
  expect(said[0]).toBe('While stopping: Error: no');
});

test('what is started after the stop is stopped at once', async () => {
  const { stops, told, part } = parts();
  await stops.all(1_000);

  await expect(stops.add(part('late'))).rejects.toThrow('Stopped while starting.');

  expect(told).toEqual(['late']);
});
