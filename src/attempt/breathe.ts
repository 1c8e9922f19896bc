/** Turns for the rest of the process between many pieces of work. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * How long deliveries are prepared or sent in one turn of the event loop, in milliseconds. Whoever has one delivery takes about ten
 * turns from its claim to its request, and waits so long before each.
 */
const TURN_MS = 4;

/** Makes what is asked before each piece of work: it yields where those before it took their turn's time. */
export function createBreath(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < TURN_MS) return;
    await nextTurn();
    began = performance.now();
  };
}
