/**
 * How many deliveries may be handed over and not yet attempted: as many as the workers begin within a moment. What is
 * more waits in Postgres, by turns, and not at the end of Temporal's queue. Found out by trying, as TCP finds its window:
 * a step up while everything handed over is begun promptly, down by a third when something waits. Pure.
 */

import { beyondTheQuickest } from './quickest.ts';

/** What a claim found. */
export interface Observation {
  /** How long the oldest delivery that is handed over and not yet attempted has been waiting, in milliseconds. */
  readonly handOverMs: number;
  /** The bound kept something back. */
  readonly bounded: boolean;
}

/** The bound of one relay. Several relays count the same deliveries, and so share it. */
export interface Pace {
  /** The most deliveries handed over and not yet attempted. */
  bound(): number;
  /** Whether the bound kept something back lately. */
  full(): boolean;
  /** Whether what was handed over waited lately: not begun promptly. */
  late(): boolean;
  /** How long what was handed over was last seen to wait, in milliseconds; 0 when that is a second ago. */
  waitMs(now: number): number;
  /** How much longer than the quickest a start took lately, in milliseconds; 0 when the last one was a second ago. */
  startMs(now: number): number;
  /**
   * @param callMs how long Temporal took for a start, in milliseconds
   * @param now as for `observe`
   */
  started(callMs: number, now: number): void;
  /** @param now in milliseconds, on any clock that does not jump */
  observe(observation: Observation, now: number): void;
}

const FIRST_BOUND = 12;
/** Below this a worker would wait for the relay. */
const LEAST_BOUND = 8;
const GREATEST_BOUND = 1_000;
/** What begins within this is prompt, and what waits for longer is late, in milliseconds. */
const PROMPT_MS = 250;
const LATE_MS = 500;
/** What is prompt is begun so many times within half a second. */
export const TIMES_IN_HALF_A_SECOND = 500 / PROMPT_MS;
/** A step down shows only after this, in milliseconds. */
const PATIENCE_MS = 1_000;
/** Starts within so many milliseconds are taken together. */
const MOMENT_MS = 50;
/** What was observed says something for so long, in milliseconds. */
const FRESH_MS = 1_000;

/** Makes the bound of a relay. */
export function createPace(): Pace {
  let bound = FIRST_BOUND;
  let full = false;
  let late = false;
  let loweredAt = Number.NEGATIVE_INFINITY;
  let waited = { ms: 0, at: Number.NEGATIVE_INFINITY };
  let start = { ms: 0, since: Number.NEGATIVE_INFINITY, at: Number.NEGATIVE_INFINITY };
  const beyond = beyondTheQuickest();
  return {
    bound: () => Math.floor(bound),
    full: () => full,
    late: () => late,
    waitMs: (now) => (now - waited.at < FRESH_MS ? waited.ms : 0),
    startMs: (now) => (now - start.at < FRESH_MS ? start.ms : 0),
    started(callMs, now) {
      // One of several at once may be prompt by chance.
      const ms = beyond(callMs);
      const together = now - start.since < MOMENT_MS;
      start = together
        ? { ms: Math.max(start.ms, ms), since: start.since, at: now }
        : { ms, since: now, at: now };
    },
    observe({ handOverMs, bounded }, now) {
      waited = { ms: handOverMs, at: now };
      full = bounded;
      late = handOverMs > PROMPT_MS;
      if (handOverMs > LATE_MS) {
        if (now - loweredAt < PATIENCE_MS) return;
        bound = Math.max(LEAST_BOUND, (bound * 2) / 3);
        loweredAt = now;
      } else if (bounded && handOverMs < PROMPT_MS) {
        bound = Math.min(GREATEST_BOUND, bound * 1.1);
      }
    },
  };
}
