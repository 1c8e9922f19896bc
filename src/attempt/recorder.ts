/**
 * Records the results of a batch: many in one statement, and none later than a moment after it arrived, so that a worker
 * that dies repeats little.
 */
import { handBack, putBack } from '../db/webhooks/batch-returns.ts';
import type { BatchRun } from '../db/webhooks/batches.ts';
import type { AttemptDeps } from './begin-attempts.ts';
import { type AnsweredAttempt, record, withRetries } from './finish-attempts.ts';
import type { AttemptTerms } from './outcome.ts';

/** Takes results, and records them. */
export interface Recorder {
  /** An attempt that has its result. */
  answered(attempt: AnsweredAttempt): void;
  /** A delivery that the batch does not deliver: its next step is a workflow's of its own. */
  handBack(deliveryId: string): void;
  /** A delivery whose receiver has as much under way as it takes: the queue keeps it. */
  putBack(deliveryId: string): void;
  /** Waits until there is room for more results. @throws what recording failed with */
  room(): Promise<void>;
  /** Records what is left. @throws what recording failed with */
  end(): Promise<void>;
}

/** Results per statement. */
const FULL = 100;
/** A result waits for others no longer than this, in milliseconds. */
const LONGEST_WAIT_MS = 50;
/** Results that wait: beyond that, no further attempts begin. */
const MOST_WAITING = 5 * FULL;

/** @param batch whose results they are */
export function createRecorder(
  deps: Pick<AttemptDeps, 'sql' | 'watch'>,
  terms: AttemptTerms,
  batch: BatchRun,
): Recorder {
  const { sql } = deps;
  const answers: AnsweredAttempt[] = [];
  const handedBack: string[] = [];
  const back: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;

  async function write(): Promise<void> {
    while (answers.length > 0 || handedBack.length > 0 || back.length > 0) {
      const attempts = answers.splice(0, FULL);
      const ids = handedBack.splice(0, FULL);
      const queued = back.splice(0, FULL);
      try {
        await record(deps, attempts, terms, batch);
        await withRetries(() => handBack(sql, batch, ids));
        await withRetries(() => putBack(sql, batch, queued));
      } catch (error) {
        // They stay without a result, and are attempted again under their numbers.
        failure ??= { error };
      }
    }
  }

  /** One statement after the other. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  }

  function flushSoon(): void {
    if (answers.length >= FULL) void flush();
    else timer ??= setTimeout(() => void flush(), LONGEST_WAIT_MS);
  }

  function complain(): void {
    if (failure !== undefined) throw failure.error;
  }

  return {
    answered(attempt) {
      answers.push(attempt);
      flushSoon();
    },
    handBack(deliveryId) {
      handedBack.push(deliveryId);
      flushSoon();
    },
    putBack(deliveryId) {
      back.push(deliveryId);
      flushSoon();
    },
    async room() {
      if (answers.length > MOST_WAITING) await flush();
      complain();
    },
    async end() {
      await flush();
      complain();
    },
  };
}
