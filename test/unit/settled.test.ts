/** Checking until the goal is reached, or until nothing changes any more. */
import { expect, test } from 'vitest';
import { pollUntil } from '../../src/lib/poll-until.ts';

const looks = { everyMs: 1, patienceMs: 30, signal: new AbortController().signal };

test('pollUntil() waits while the value changes, and returns one that does not', async () => {
  const began = performance.now();
  let left = 100;
  const look = () => {
    // Longer than the patience in total, but not in any step.
    if (performance.now() - began < 5 * looks.patienceMs) left -= 1;
    return left;
  };
  const last = await pollUntil(look, (seen) => seen === -1_000, looks);
  expect(last).toBe(left);
  expect(performance.now() - began).toBeGreaterThanOrEqual(5 * looks.patienceMs);
});

test('pollUntil() throws the reason of its signal', async () => {
  const interruption = new AbortController();
  const reason = new Error('interrupted');
  const waiting = pollUntil(
    () => 1,
    () => false,
    { ...looks, patienceMs: 60_000, signal: interruption.signal },
  );
  interruption.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});
