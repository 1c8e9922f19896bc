/**
 * Turns for the rest of the process between many small pieces of work.
 * @module
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Deliveries that are prepared or sent in one turn of the event loop: some milliseconds of work. */
const IN_A_TURN = 16;

/** Yields before every sixteenth piece of work, except the first. @param index of the piece, from 0 */
export async function breathe(index: number): Promise<void> {
  if (index > 0 && index % IN_A_TURN === 0) await nextTurn();
}
