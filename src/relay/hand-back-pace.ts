/**
 * How many of what batches handed back get their workflows at a time: each costs far more than an attempt in a batch, and
 * is rarely due at once. While others wait it is few, and else a few more each time. Pure.
 * @module
 */

/** The pace of one relay. */
export interface HandBackPace {
  /** How many to start now. */
  next(): number;
}

/** Between two starts of so many, in milliseconds. */
export const HAND_BACK_INTERVAL_MS = 250;
const LEAST = 1;
const FIRST = 4;
const MOST = 12;

/** @param busy whether batches are being made, or what was handed over waits for its attempt */
export function createHandBackPace(busy: () => boolean): HandBackPace {
  let size = FIRST;
  return {
    next() {
      size = busy() ? Math.max(LEAST, Math.floor(size / 2)) : Math.min(MOST, size + 1);
      return size;
    },
  };
}
