/** Turns of the event loop between pieces of work. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { yieldToEventLoop } from '../../src/lib/yield-to-event-loop.ts';

test('others have their turn once a piece of work took long, and not after each small one', async () => {
  // A fake clock: on a busy machine a small piece may take long too.
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const breathe = yieldToEventLoop();
  let turns = 0;
  const count = () => setImmediate(() => (turns += 1));

  count();
  await breathe();
  expect(turns).toBe(0);

  now += 10;
  await breathe();
  expect(turns).toBe(1);

  count();
  await breathe();
  expect(turns).toBe(1);
});
