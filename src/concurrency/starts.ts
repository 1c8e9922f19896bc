/** Batches that have been started and have not begun, and whether Temporal answers at all. Pure. */
import type { SchedulerOptions } from './settings.ts';

/** The starts made by one worker. */
export interface Starts {
  /** The workflow of a batch is being started. */
  starting(batchId: string): void;
  /** It was not started after all. */
  failed(batchId: string): void;
  /** Its activity has begun here. */
  begun(batchId: string): void;
  /** Whether it has been started here and has not begun. */
  waits(batchId: string): boolean;
  /** Temporal is asked to start a workflow. */
  asked(): void;
  /** Temporal has answered something. */
  answered(): void;
  /** Whether it has left a call unanswered for long: first attempts go on without it. */
  silent(): boolean;
}

/** A batch that has not begun here after this long, in milliseconds, runs in another process, or waits for another reason. */
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

  function asked(): void {
    askedAt ??= now();
  }

  return {
    starting(batchId) {
      asked();
      started.set(batchId, now());
    },
    failed: (batchId) => void started.delete(batchId),
    begun: (batchId) => void started.delete(batchId),
    waits(batchId) {
      forgetOld();
      return started.has(batchId);
    },
    asked,
    answered() {
      askedAt = null;
    },
    silent: () => askedAt !== null && now() - askedAt > silentMs,
  };
}
