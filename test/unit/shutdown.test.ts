/** Stopping in order, whatever hangs. */
import { getMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createShutdown, onInterruption, untilInterrupted } from '../../src/lib/shutdown.ts';

const never = () => new Promise<void>(() => {});

/** Parts that record when they are asked to stop. */
function parts() {
  const asked: string[] = [];
  const said: string[] = [];
  const shutdown = createShutdown((text) => said.push(text));
  const part = (name: string, end: () => Promise<void> = async () => {}) => {
    return () => {
      asked.push(name);
      return end();
    };
  };
  return { shutdown, asked, said, part };
}

test('the part started last is stopped first', async () => {
  const { shutdown, asked, said, part } = parts();
  for (const name of ['database', 'worker', 'api']) await shutdown.add(part(name));

  expect(await shutdown.stop(1_000)).toBe(true);

  expect(asked).toEqual(['api', 'worker', 'database']);
  expect(said).toEqual([]);
});

test('a hanging part is abandoned after the time-out, and the others are still stopped', async () => {
  const { shutdown, asked, said, part } = parts();
  await shutdown.add(part('database', never));
  await shutdown.add(part('worker', never));

  expect(await shutdown.stop(100)).toBe(false);

  expect(asked).toEqual(['worker', 'database']);
  // Too late to cut anything short.
  shutdown.hurry();
  expect(said).toEqual(['Not everything stopped within 0.1 s; what was still in progress was abandoned.']);
});

test('a server that we started gets the time it needs, even after the time-out', async () => {
  const { shutdown, asked, part } = parts();
  let stopped = false;
  const slow = () =>
    new Promise<void>((resolve) =>
      setTimeout(() => {
        stopped = true;
        resolve();
      }, 700),
    );
  await shutdown.add(part('postgres', slow), true);
  await shutdown.add(part('worker', never));

  await shutdown.stop(100);

  expect(asked).toEqual(['worker', 'postgres']);
  expect(stopped).toBe(true);
});

test('a part that fails to stop does not keep others from stopping, and is reported', async () => {
  const { shutdown, asked, said, part } = parts();
  await shutdown.add(part('database'));
  await shutdown.add(part('worker', () => Promise.reject(new Error('no'))));

  expect(await shutdown.stop(1_000)).toBe(false);

  expect(asked).toEqual(['worker', 'database']);
  expect(said[0]).toBe('While stopping: Error: no');
});

test('a part added after the stop is stopped at once', async () => {
  const { shutdown, asked, part } = parts();
  await shutdown.stop(1_000);

  await expect(shutdown.add(part('late'))).rejects.toThrow('Stopped while starting.');

  expect(asked).toEqual(['late']);
});

test('a part still starting is stopped once started, before the parts it needs', async () => {
  const { shutdown, asked, part } = parts();
  await shutdown.add(part('lock'), true);
  let ready = (_name: string) => {};
  const server = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const started = shutdown.starting(server, (name) => part(name)(), true);
  const stopped = shutdown.stop(1_000);
  expect(shutdown.signal.aborted).toBe(true);
  ready('postgres');

  expect(await stopped).toBe(true);
  expect(await started).toBe('postgres');
  expect(asked).toEqual(['postgres', 'lock']);
});

test('a part that failed to start is not stopped', async () => {
  const { shutdown, asked, part } = parts();
  const failed = shutdown.starting(Promise.reject(new Error('no port')), part('server'));

  await expect(failed).rejects.toThrow('no port');
  expect(await shutdown.stop()).toBe(true);
  expect(asked).toEqual([]);
});

test('hurry() abandons hanging parts at once, but still stops a server that we started', async () => {
  const { shutdown, asked, said, part } = parts();
  await shutdown.add(part('postgres'), true);
  await shutdown.add(part('worker', never));
  const stopped = shutdown.stop(60_000);
  shutdown.hurry();

  expect(await stopped).toBe(false);
  // Not that it took 60 s.
  expect(said).toEqual(['Cut short: not everything stopped; what was still in progress was abandoned.']);
  expect(asked).toEqual(['worker', 'postgres']);
  expect(said).toEqual(['Cut short: not everything stopped; what was still in progress was abandoned.']);
});

test('a shutdown without a time-out waits for every part', async () => {
  const { shutdown, said, part } = parts();
  await shutdown.add(part('slow', () => new Promise((resolve) => setTimeout(resolve, 600))));

  expect(await shutdown.stop()).toBe(true);
  expect(said).toEqual([]);
});

describe('an interruption', () => {
  const heard: number[] = [];
  let forget = () => {};
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    heard.length = 0;
    forget = onInterruption((times) => heard.push(times));
  });
  afterEach(() => {
    forget();
    vi.useRealTimers();
  });

  test('counts Ctrl-C once although npm passes it on, and another one again', () => {
    process.emit('SIGINT', 'SIGINT');
    vi.advanceTimersByTime(400);
    process.emit('SIGINT', 'SIGINT');
    expect(heard).toEqual([1]);
    vi.advanceTimersByTime(600);
    process.emit('SIGINT', 'SIGINT');
    vi.advanceTimersByTime(600);
    process.emit('SIGINT', 'SIGINT');
    expect(heard).toEqual([1, 2, 3]);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)('counts %s once, however often it comes', (signal) => {
    process.emit(signal, signal);
    vi.advanceTimersByTime(5_000);
    process.emit(signal, signal);
    expect(heard).toEqual([1]);
    process.emit('SIGINT', 'SIGINT');
    expect(heard).toEqual([1, 2]);
  });

  test('does not reach a caller that has stopped listening', () => {
    const listeners = process.listenerCount('SIGTERM');
    forget();
    expect(process.listenerCount('SIGTERM')).toBe(listeners - 1);
  });
});

test("any number of requests may follow an interruption's signal without a warning", async () => {
  expect(await untilInterrupted('Stopped.', async (signal) => getMaxListeners(signal))).toBe(
    Number.POSITIVE_INFINITY,
  );
});
