/**
 * How fast batches are made: by that it is decided how large they are, and when the next one is claimed. Large records take many
 * times as long as small ones, and whoever has one delivery waits for the batch before it. Pure.
 */

/** The rate of all batches of a worker. */
export interface BatchRate {
  /** An attempt has ended. @param idle nothing more waited to begin: then the rate is what there was, and not what is possible */
  ended(idle: boolean): void;
  /** Attempts per second, lately; infinite until something is known. */
  perSecond(): number;
}

/** Attempts are counted for at least this long, in milliseconds. */
const COUNTED_MS = 250;
/** What took longer was a pause, or receivers that did not answer, in milliseconds. */
const PAUSE_MS = 2_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createBatchRate(now: () => number = () => performance.now()): BatchRate {
  let perSecond = Number.POSITIVE_INFINITY;
  let since = now();
  let count = 0;
  let wasIdle = false;

  return {
    ended(idle) {
      const at = now();
      count += 1;
      wasIdle ||= idle;
      const ms = at - since;
      if (ms < COUNTED_MS) return;
      const found = (count * 1_000) / ms;
      if (ms <= PAUSE_MS && (!wasIdle || found > perSecond))
        perSecond = Number.isFinite(perSecond) ? (perSecond + found) / 2 : found;
      since = at;
      count = 0;
      wasIdle = false;
    },
    perSecond: () => perSecond,
  };
}
