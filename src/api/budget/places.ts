/** Places for work that waits for others: taken in turn, with a limit on the wait for a place. */
import { createCounts } from '../../concurrency/counts.ts';
import { createTurns, type TurnKey, type TurnLimits } from '../../concurrency/turns.ts';
import { tooManyRequests } from '../../domain/problem.ts';

/** `Retry-After` for work that got no place, in milliseconds. */
const RETRY_AFTER_MS = 1_000;
/**
 * How long work waits for its place, in milliseconds. Too low: a short rush is refused. Too high: clients have given
 * up, and their work is wasted.
 */
const QUEUE_TIMEOUT_MS = 10_000;
/** The maximum of waiting work, per key and in all: it takes memory, so any more is refused at once. */
const MAX_QUEUED_PER_KEY = 100;
const MAX_QUEUED = 1_000;

/**
 * @param message the error message after waiting too long
 * @param timeoutMs how long to wait for a place
 */
export function createPlaces(limits: TurnLimits, message: string, timeoutMs = QUEUE_TIMEOUT_MS) {
  const turns = createTurns(limits);
  const waiting = createCounts<TurnKey>();
  return {
    /** @throws Problem 429 if no place was free in time, or too much is waiting already */
    run: <T>(key: TurnKey, work: () => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const refuse = () => reject(tooManyRequests(message, RETRY_AFTER_MS));
        if (waiting.all() >= MAX_QUEUED || waiting.of(key) >= MAX_QUEUED_PER_KEY) return refuse();
        waiting.change(key, 1);
        let timedOut = false;
        const patience = setTimeout(() => {
          timedOut = true;
          refuse();
        }, timeoutMs);
        void turns.run(key, async () => {
          // Work refused for waiting too long is still counted until here: only its turn takes it out of the queue.
          waiting.change(key, -1);
          clearTimeout(patience);
          if (!timedOut) await work().then(resolve, reject);
        });
      }),
  };
}
