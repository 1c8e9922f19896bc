/**
 * How many deliveries are told of a change of their webhook at a time: of those that will make an attempt no more than make
 * one, few where Temporal is slow or deliveries wait to be handed over; of the others, which nobody waits for, no more than
 * others do not feel. Pure.
 */

/** How far the deliveries of an activated webhook have come. */
export interface WakeUp {
  /** Deliveries told. */
  readonly told: number;
  /** Those of them that have not made their attempt yet. */
  readonly unheard: number;
  /** Since the last page, in milliseconds. */
  readonly sinceMs: number;
}

/** The pace of one relay, for all changes together. */
export interface FanOutPace {
  /** Deliveries of a page that will make an attempt, where so many changes are told side by side. */
  page(changes: number): number;
  /** Deliveries that may be told now of changes that lead to no attempt, of all changes together. */
  quietly(): number;
  /**
   * How many of a page are told where each will make an attempt: a few at first, then as many more as have made theirs.
   */
  wakeUp(page: number, progress: WakeUp): number;
  /** @param callMs how long Temporal took for one call, in milliseconds */
  observe(callMs: number): void;
}

const LEAST_PAGE = 2;
const FIRST_PAGE = 10;
const GREATEST_PAGE = 100;
/** While deliveries wait to be handed over, or for their attempt. */
const MODEST_PAGE = 3;
/** Calls that take less are prompt, and those that take more are slow, in milliseconds. */
const PROMPT_MS = 30;
const SLOW_MS = 100;

/** Of what leads to no attempt, per second: at first, at least, and how many more after each second. */
const FIRST_RATE = 4;
const LEAST_RATE = 1;
const STEP = 1;
/** A step down shows only after this, in milliseconds; what is not told in this time is not made up for. */
const ROUND_MS = 250;

const FIRST_WAKE_UP = 4;
const GREATEST_WAKE_UP = 100;
/** A webhook whose attempts take longer than this is woken a few more, in milliseconds. */
const WAKE_UP_PATIENCE_MS = 5_000;

/** What a pace goes by. */
export interface FanOutConditions {
  /** Whether deliveries wait to be handed over, or for their attempt. */
  readonly busy: () => boolean;
  /** Whether deliveries are attempted later than on an idle machine. */
  readonly felt: () => boolean;
  /** In milliseconds, one that does not jump. */
  readonly clock?: () => number;
}

/** Makes the pace of a relay. */
export function createFanOutPace({
  busy,
  felt,
  clock = () => performance.now(),
}: FanOutConditions): FanOutPace {
  let size = FIRST_PAGE;
  let rate = FIRST_RATE;
  let credit = 0;
  let lastAt = clock() - ROUND_MS;
  return {
    page: (changes) =>
      Math.max(LEAST_PAGE, Math.floor(Math.min(size, busy() ? MODEST_PAGE : GREATEST_PAGE) / changes)),
    quietly() {
      const passed = Math.min(ROUND_MS, clock() - lastAt) / 1000;
      lastAt = clock();
      const most = (size * 1000) / ROUND_MS;
      rate = felt() ? Math.max(LEAST_RATE, rate * (1 - passed)) : Math.min(most, rate + STEP * passed);
      credit += rate * passed;
      const now = Math.floor(credit);
      credit -= now;
      return now;
    },
    wakeUp(page, { told, unheard, sinceMs }) {
      const made = Math.max(0, told - unheard);
      const room = Math.min(GREATEST_WAKE_UP, FIRST_WAKE_UP + made) - unheard;
      if (room <= 0) return sinceMs > WAKE_UP_PATIENCE_MS ? Math.min(page, FIRST_WAKE_UP) : 0;
      return Math.min(page, room);
    },
    observe(callMs) {
      if (callMs < PROMPT_MS) size = Math.min(GREATEST_PAGE, size + 0.25);
      else if (callMs > SLOW_MS) size = Math.max(LEAST_PAGE, size * 0.9);
    },
  };
}
