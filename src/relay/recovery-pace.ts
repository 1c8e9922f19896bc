/**
 * How long the relay waits between two claims of what is recovered: little while nobody feels it, and longer each time while
 * fresh deliveries are attempted later than on an idle machine. Pure.
 */

/** The pace of one relay. */
export interface RecoveryPace {
  /** Before the next claim, in milliseconds. */
  pauseMs(): number;
}

const LEAST_MS = 100;
/** A recovery goes on, if slowly, however busy the machine is. */
const MOST_MS = 1_000;
const SLOWER = 1.5;
const FASTER = 0.85;

/** @param felt whether deliveries are attempted later than on an idle machine */
export function createRecoveryPace(felt: () => boolean): RecoveryPace {
  let ms = LEAST_MS;
  return {
    pauseMs() {
      ms = felt() ? Math.min(MOST_MS, ms * SLOWER) : Math.max(LEAST_MS, ms * FASTER);
      return Math.round(ms);
    },
  };
}
