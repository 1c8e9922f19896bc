/** Turns of the event loop between pieces of work. */
import { expect, test } from 'vitest';
import { yieldToEventLoop } from '../../src/lib/yield-to-event-loop.ts';

/** Keeps the processor busy. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('others have their turn once a piece of work took long, and not after each small one', async () => {
  const breathe = yieldToEventLoop();
  let turns = 0;
  const count = () => setImmediate(() => (turns += 1));

  count();
  await breathe();
  expect(turns).toBe(0);

  work(10);
  await breathe();
  expect(turns).toBe(1);

  count();
  await breathe();
  expect(turns).toBe(1);
});
