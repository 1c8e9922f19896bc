/** Starts of workflows: whether one more may begin at once, and whether Temporal leaves a start unanswered. Pure. */
import type { SchedulerOptions } from './settings.ts';

/** The starts made by one worker. */
export interface Starts {
  /** Makes a call that starts a workflow. @throws its error */
  start<T>(call: () => Promise<T>): Promise<T>;
  /** Temporal has answered something. */
  answered(): void;
  /** A delivery of the queue has been taken up, even if it gets no permit then: many in a second are a burst. */
  attempted(): void;
  /** Whether more attempts begin than in a calm. */
  isBurst(): boolean;
  /** Whether a workflow may be started at once: Temporal answers, few starts are under way, and there is no burst. */
  hasRoom(): boolean;
}

/** The length of the period in which attempts are counted, in milliseconds. */
const PERIOD_MS = 1_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createStarts(
  {
    silentMs,
    startsUnderWay,
    calmPerSecond,
  }: Pick<SchedulerOptions, 'silentMs' | 'startsUnderWay' | 'calmPerSecond'>,
  now: () => number = () => performance.now(),
): Starts {
  /** When each call under way was made; the earliest comes first. */
  const underWay = new Map<symbol, number>();
  /** When the first call since the last answer was made. */
  let unansweredSince: number | null = null;
  /** The attempts of this period, and of the one before. */
  let period = { since: now(), attempts: 0, before: 0 };

  const isOld = (at: number | null) => at !== null && now() - at > silentMs;

  function isSilent(): boolean {
    const [earliest = null] = underWay.values();
    return isOld(unansweredSince) || isOld(earliest);
  }

  /** Begins a new period if the last is over. */
  function roll(): void {
    const periods = Math.floor((now() - period.since) / PERIOD_MS);
    if (periods > 0) {
      const before = periods === 1 ? period.attempts : 0;
      period = { since: period.since + periods * PERIOD_MS, attempts: 0, before };
    }
  }

  function attemptsLately(): number {
    roll();
    return Math.max(period.attempts, period.before);
  }

  const isBurst = () => attemptsLately() > calmPerSecond;

  return {
    async start(call) {
      const key = Symbol();
      underWay.set(key, now());
      unansweredSince ??= now();
      try {
        return await call();
      } finally {
        underWay.delete(key);
      }
    },
    answered() {
      unansweredSince = null;
    },
    attempted() {
      roll();
      period.attempts += 1;
    },
    isBurst,
    hasRoom: () => underWay.size < startsUnderWay && !isBurst() && !isSilent(),
  };
}
