/**
 * How many workflows are started at a time for what batches handed back, and how many timers are set for pre-orders. Each costs far more
 * than an attempt in a batch. While other deliveries feel it, or Temporal is slow, few are started; otherwise a few more each
 * time. What was handed back and is due is started within ten seconds even then, up to {@link MOST_WHILE_FELT} at a time. Pure.
 */

import type { Overdue } from '../db/outbox/handed-back.ts';
import { beyondTheQuickest } from './quickest.ts';

/** The pace of one relay. */
export interface HandBackPace {
  /** How many to start now. Where fewer than {@link MOST_WHILE_FELT}, {@link leastOf} what is late may be more. */
  next(): number;
  /** @param callMs how long Temporal took for a start, in milliseconds */
  observe(callMs: number): void;
}

/** Between two starts of so many, in milliseconds. */
export const HAND_BACK_INTERVAL_MS = 250;
/** Others have their turn however long the starts took, in milliseconds. */
const LEAST_PAUSE_MS = 50;
const LEAST = 1;
const FIRST = 4;
const MOST = 12;
/** Within this what is due is to be started, though others feel it, in milliseconds. */
const LATEST_MS = 10_000;
/** At a time: with more, one e-shop's failures would take all of a small machine. */
export const MOST_WHILE_FELT = 3;
/** A start that takes so much longer than the quickest is waiting behind Temporal's other work, in milliseconds. */
const SLOW_MS = 100;

/** @param felt whether batches are being made, or deliveries are attempted later than on an idle machine */
export function createHandBackPace(felt: () => boolean): HandBackPace {
  let size = FIRST;
  let slow = false;
  const beyond = beyondTheQuickest();
  return {
    next() {
      size = felt() || slow ? Math.max(LEAST, Math.floor(size / 2)) : Math.min(MOST, size + 1);
      slow = false;
      return size;
    },
    observe(callMs) {
      slow = beyond(callMs) > SLOW_MS || slow;
    },
  };
}

/** How long to pause after starts that took so long, in milliseconds: what they took is part of the interval. */
export function pauseAfter(tookMs: number): number {
  return Math.max(LEAST_PAUSE_MS, HAND_BACK_INTERVAL_MS - tookMs);
}

/** How many to start now at least, of so many that are late. */
export function leastOf({ count, lateMs }: Overdue): number {
  const steps = Math.max(1, (LATEST_MS - lateMs) / HAND_BACK_INTERVAL_MS);
  return Math.min(MOST_WHILE_FELT, Math.ceil(count / steps));
}
