/** Starts of workflows that have not begun, and whether Temporal answers at all. Pure. */
import type { SchedulerOptions } from './settings.ts';

/** The starts made by one worker. */
export interface Starts {
  /** A workflow is being started. @param id of its delivery or its batch */
  starting(id: string): void;
  /** It was not started after all. */
  failed(id: string): void;
  /** Temporal has it, or a batch's activity has begun. Only what was started here counts. */
  begun(id: string): void;
  /** Whether this has been started and has not begun. */
  waits(id: string): boolean;
  /** Temporal has answered something. */
  answered(): void;
  /** Whether it has left a call unanswered for long: first attempts go on without it. */
  silent(): boolean;
}

/** A start that has not begun here after this long, in milliseconds, runs in another process, or waits for another reason. */
const FORGOTTEN_AFTER_MS = 2_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createStarts(
  { silentMs }: Pick<SchedulerOptions, 'silentMs'>,
  now: () => number = () => performance.now(),
): Starts {
  const started = new Map<string, number>();
  /** The first call since the last answer. */
  let askedAt: number | null = null;

  function forgetOld(): void {
    const at = now();
    // The map is in the order of the starts.
    for (const [id, startedAt] of started) {
      if (at - startedAt <= FORGOTTEN_AFTER_MS) return;
      started.delete(id);
    }
  }

  return {
    starting(id) {
      const at = now();
      askedAt ??= at;
      started.set(id, at);
    },
    failed: (id) => void started.delete(id),
    begun: (id) => void started.delete(id),
    waits(id) {
      forgetOld();
      return started.has(id);
    },
    answered() {
      askedAt = null;
    },
    silent: () => askedAt !== null && now() - askedAt > silentMs,
  };
}
