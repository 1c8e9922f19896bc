/** Decides whether one more workflow may be started at once, and whether Temporal leaves a start unanswered. Pure. */
import type { SchedulerOptions } from './settings.ts';

/** The starts made by one worker. */
export type Starts = ReturnType<typeof createStarts>;

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
) {
  /** When each call that is under way was made; the earliest call comes first. */
  const underWay = new Map<symbol, number>();
  /** When the first call since the last answer was made. */
  let unansweredSince: number | null = null;
  /** The number of attempts in this period, and in the period before. */
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
    /** Makes a call that starts a workflow. @throws the error of the call */
    async start<T>(call: () => Promise<T>): Promise<T> {
      const key = Symbol();
      underWay.set(key, now());
      unansweredSince ??= now();
      try {
        return await call();
      } finally {
        underWay.delete(key);
      }
    },
    /** Notes that Temporal has answered a call, whatever the answer. */
    answered(): void {
      unansweredSince = null;
    },
    /** Notes that a delivery of the queue was taken up, even without a permit: many within a second are a burst. */
    attempted(): void {
      roll();
      period.attempts += 1;
    },
    /** Whether more attempts begin than under light load. */
    isBurst,
    /** Whether a workflow may be started at once: Temporal answers, few starts are under way, and it is no burst. */
    hasRoom: () => underWay.size < startsUnderWay && !isBurst() && !isSilent(),
  };
}
