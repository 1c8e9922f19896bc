/**
 * How many of what batches handed back get their workflows at a time: each costs far more than an attempt in a batch, and
 * its attempts cost as much again. While others feel it or Temporal is slow it is few, and else a few more each time. Pure.
 * @module
 */

/** The pace of one relay. */
export interface HandBackPace {
  /** How many to start now. */
  next(): number;
  /** @param callMs how long Temporal took for a start, in milliseconds */
  observe(callMs: number): void;
}

/** Between two starts of so many, in milliseconds. */
export const HAND_BACK_INTERVAL_MS = 250;
const LEAST = 1;
const FIRST = 4;
const MOST = 12;
/** A start that takes longer waits for what Temporal does besides, in milliseconds. */
const SLOW_MS = 100;

/** @param felt whether batches are being made, or deliveries are attempted later than on an idle machine */
export function createHandBackPace(felt: () => boolean): HandBackPace {
  let size = FIRST;
  let slow = false;
  return {
    next() {
      size = felt() || slow ? Math.max(LEAST, Math.floor(size / 2)) : Math.min(MOST, size + 1);
      slow = false;
      return size;
    },
    observe(callMs) {
      slow ||= callMs > SLOW_MS;
    },
  };
}
