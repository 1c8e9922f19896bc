/**
 * Records the results of a batch: many in one statement, and each within a moment of its arrival, so that little is repeated when a
 * worker dies.
 */
import { defer, requeue } from '../db/webhooks/batch-returns.ts';
import type { BatchRun } from '../db/webhooks/batches.ts';
import type { AttemptDeps } from './begin-attempts.ts';
import { type AnsweredAttempt, record, withRetries } from './finish-attempts.ts';
import type { AttemptTerms } from './outcome.ts';

/** Takes results and records them. */
export interface Recorder {
  /** An attempt that has its result. */
  answered(attempt: AnsweredAttempt): void;
  /** A delivery that the batch does not deliver: it goes back to the queue for its next step. */
  requeue(deliveryId: string): void;
  /** A delivery whose receiver is at its limit: it waits in the queue. */
  defer(deliveryId: string): void;
  /** Records the rest. */
  end(): Promise<void>;
}

/** The longest that a result waits for others, in milliseconds. */
const LONGEST_WAIT_MS = 50;

/**
 * @param batch the batch of the results
 * @param failed called when recording failed: these attempts stay without a result and are made again under their numbers
 */
export function createRecorder(
  deps: Pick<AttemptDeps, 'sql' | 'execute' | 'watch'>,
  terms: AttemptTerms,
  batch: BatchRun,
  failed: (error: unknown) => void,
): Recorder {
  const { sql } = deps;
  const waiting = { answers: [] as AnsweredAttempt[], requeued: [] as string[], deferred: [] as string[] };
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const answers = waiting.answers.splice(0);
    const requeued = waiting.requeued.splice(0);
    const deferred = waiting.deferred.splice(0);
    try {
      await record(deps, answers, terms, batch);
      await withRetries(() => requeue(sql, batch, requeued));
      await withRetries(() => defer(sql, batch, deferred));
    } catch (error) {
      failed(error);
    }
  }

  /** Writes run one after the other. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  }

  function add<T>(to: T[], one: T): void {
    to.push(one);
    timer ??= setTimeout(() => void flush(), LONGEST_WAIT_MS);
  }

  return {
    answered: (attempt) => add(waiting.answers, attempt),
    requeue: (deliveryId) => add(waiting.requeued, deliveryId),
    defer: (deliveryId) => add(waiting.deferred, deliveryId),
    end: flush,
  };
}
