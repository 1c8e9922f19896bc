/**
 * Records the results of a batch: many in one statement, and none later than a moment after it arrived, so that a worker
 * that dies repeats little.
 */
import { defer, requeue } from '../db/webhooks/batch-returns.ts';
import type { BatchRun } from '../db/webhooks/batches.ts';
import type { AttemptDeps } from './begin-attempts.ts';
import { type AnsweredAttempt, record, withRetries } from './finish-attempts.ts';
import type { AttemptTerms } from './outcome.ts';

/** Takes results, and records them. */
export interface Recorder {
  /** An attempt that has its result. */
  answered(attempt: AnsweredAttempt): void;
  /** A delivery that the batch does not deliver: its next step is a workflow's of its own. */
  requeue(deliveryId: string): void;
  /** A delivery whose receiver has as much under way as it takes: the queue keeps it. */
  defer(deliveryId: string): void;
  /** Records what is left. */
  end(): Promise<void>;
}

/** A result waits for others no longer than this, in milliseconds. */
const LONGEST_WAIT_MS = 50;

/**
 * @param batch whose results they are
 * @param failed hears that recording failed: what was to be recorded stays without a result, and is attempted again under its number
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

  /** One statement after the other. */
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
