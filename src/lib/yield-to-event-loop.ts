/** Lets the rest of the process run between many pieces of work. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long pieces of work may follow each other without a pause, in milliseconds. A single delivery takes about ten
 * turns of the event loop from its claim to its request, and may wait this long before each.
 */
const TURN_MS = 4;

/** Makes a function to await before each piece of work: it yields if the work since the last pause took that long. */
export function yieldToEventLoop(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < TURN_MS) return;
    await nextTurn();
    began = performance.now();
  };
}
