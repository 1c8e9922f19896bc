/** Lets the rest of the process have its turn between many pieces of work. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long a piece of work may follow another without a pause, in milliseconds. Whoever has one delivery takes about ten turns of
 * the event loop from its claim to its request, and waits so long before each.
 */
const TURN_MS = 4;

/** Makes what is asked before each piece of work: it yields where those before it took their time. */
export function yieldToEventLoop(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < TURN_MS) return;
    await nextTurn();
    began = performance.now();
  };
}
