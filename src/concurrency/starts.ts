/** Starts of workflows: batches that have not begun, and whether Temporal leaves a start unanswered. Pure. */
import type { SchedulerOptions } from './settings.ts';

/** The starts made by one worker. */
export interface Starts {
  /** Makes a call that starts a workflow. @throws its error */
  ask<T>(call: () => Promise<T>): Promise<T>;
  /** Temporal has answered something. */
  answered(): void;
  /** Whether it has answered nothing for long, although it was asked: no batch is started. */
  silent(): boolean;
  /** Whether it is silent, or has left one start unanswered for long: first attempts go on without it. */
  slow(): boolean;
  /** The workflow of a batch is being started. */
  starting(batchId: string): void;
  /** It was not started after all. */
  failed(batchId: string): void;
  /** Its activity has begun here. */
  begun(batchId: string): void;
  /** Whether it has been started here and has not begun. */
  waits(batchId: string): boolean;
}

/**
 * A batch that has not begun here after this long, in milliseconds, runs in another process, or waits for another reason. Less: a slow
 * start is followed by a batch of few deliveries. More: one that runs elsewhere holds up the next.
 */
const FORGOTTEN_AFTER_MS = 2_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createStarts(
  { silentMs }: Pick<SchedulerOptions, 'silentMs'>,
  now: () => number = () => performance.now(),
): Starts {
  /** When each call under way was made; the earliest comes first. */
  const asked = new Map<symbol, number>();
  /** When the first call since the last answer was made. */
  let askedAt: number | null = null;
  const started = new Map<string, number>();

  const isOld = (at: number | null) => at !== null && now() - at > silentMs;

  function forgetOld(): void {
    const at = now();
    // The map is in the order of the starts.
    for (const [id, startedAt] of started) {
      if (at - startedAt <= FORGOTTEN_AFTER_MS) return;
      started.delete(id);
    }
  }

  return {
    async ask(call) {
      const key = Symbol();
      asked.set(key, now());
      askedAt ??= now();
      try {
        return await call();
      } finally {
        asked.delete(key);
      }
    },
    answered() {
      askedAt = null;
    },
    silent: () => isOld(askedAt),
    slow() {
      const [earliest = null] = asked.values();
      return isOld(askedAt) || isOld(earliest);
    },
    starting: (batchId) => void started.set(batchId, now()),
    failed: (batchId) => void started.delete(batchId),
    begun: (batchId) => void started.delete(batchId),
    waits(batchId) {
      forgetOld();
      return started.has(batchId);
    },
  };
}
