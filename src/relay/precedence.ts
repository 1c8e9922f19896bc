/**
 * What is fresh goes before what is recovered: a relay hands over nothing of a recovery while its last claim has left something
 * fresh that could have been taken. Not for ever: a rush that lasts lets a little pass. Pure.
 */

/** The precedence of one relay. */
export interface Precedence {
  /** @param waits whether a claim of what is fresh left something that could have been taken, or may have */
  claimed(waits: boolean): void;
  /** Whether something recovered may be handed over now. */
  isOver(): boolean;
  /** Something recovered was handed over. */
  yielded(): void;
}

/** A recovery waits no longer than this for a rush to pass, in milliseconds; then one claim of it goes first. */
const PATIENCE_MS = 15_000;

/** @param clock in milliseconds, one that does not jump */
export function createPrecedence(clock: () => number = () => performance.now()): Precedence {
  // Before the first claim nobody knows what waits.
  let waits = true;
  let since = clock();
  return {
    claimed(now) {
      if (now && !waits) since = clock();
      waits = now;
    },
    isOver: () => !waits || clock() - since > PATIENCE_MS,
    yielded() {
      since = clock();
    },
  };
}
