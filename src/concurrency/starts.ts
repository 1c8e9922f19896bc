/** Starts of workflows: batches that have not begun, and whether Temporal leaves a start unanswered. Pure. */
import type { SchedulerOptions } from './settings.ts';

/** The starts made by one worker. */
export interface Starts {
  /** Makes a call that starts a workflow. @throws its error */
  ask<T>(call: () => Promise<T>): Promise<T>;
  /** Temporal has answered something after a start that failed. */
  answered(): void;
  /** Whether it has left a start unanswered for long: first attempts go on without it. */
  silent(): boolean;
  /** The workflow of a batch is being started. */
  starting(batchId: string): void;
  /** It was not started after all. */
  failed(batchId: string): void;
  /** Its activity has begun here. */
  begun(batchId: string): void;
  /** Whether it has been started here and has not begun. */
  waits(batchId: string): boolean;
}

/** A batch that has not begun here after this long, in milliseconds, runs in another process, or waits for another reason. */
const FORGOTTEN_AFTER_MS = 2_000;

/** @param now in milliseconds, on a clock that does not jump */
export function createStarts(
  { silentMs }: Pick<SchedulerOptions, 'silentMs'>,
  now: () => number = () => performance.now(),
): Starts {
  /** When each call under way was made; the earliest comes first. */
  const asked = new Map<symbol, number>();
  /** When the first of the calls was made that have failed since the last answer. */
  let failedOf: number | null = null;
  const started = new Map<string, number>();

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
      const at = now();
      asked.set(key, at);
      try {
        return await call();
      } catch (error) {
        failedOf ??= at;
        throw error;
      } finally {
        asked.delete(key);
      }
    },
    answered() {
      failedOf = null;
    },
    silent() {
      const [earliest = Number.POSITIVE_INFINITY] = asked.values();
      return now() - Math.min(earliest, failedOf ?? Number.POSITIVE_INFINITY) > silentMs;
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
