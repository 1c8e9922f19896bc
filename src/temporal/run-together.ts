/** Several workers of one process, which start and end together. */
import type { Worker } from '@temporalio/worker';
import { aborted } from '../lib/wait-or-stop.ts';

/** A worker of the SDK that has failed, and whose run does not end: it keeps its memory until the process ends. */
export class AbandonedWorker extends Error {
  override readonly name = 'AbandonedWorker';
}

/** The time between two checks of a worker's state. Too low: useless work. Too high: a failure is noticed later. */
const LOOK_MS = 500;
/**
 * How long the run of a failed worker may take to end, in milliseconds. A worker whose poll failed never ends.
 * Too low: others are abandoned too. Too high: a stop takes that long.
 */
const RELEASE_MS = 2_000;

/**
 * Runs the workers until the work ends, then drains them.
 * @param work ends when the workers must end
 * @param onFailure called with the reason as soon as a worker fails, or stops unasked: the others end too, and the
 * work must end as well
 * @throws the error of a failed worker, once the others are drained; `AbandonedWorker` if it does not end
 */
export async function runTogether(
  workers: readonly Worker[],
  work: () => Promise<void>,
  onFailure: (reason: Error) => void = () => {},
): Promise<void> {
  const end = new AbortController();
  function fail(reason: Error): void {
    if (end.signal.aborted) return;
    end.abort();
    onFailure(reason);
  }
  const worked = work().finally(() => end.abort());
  // If a worker fails, this is not awaited: the work may then never end.
  worked.catch(() => {});
  const runs = await Promise.allSettled(workers.map((worker) => runWatched(worker, end.signal, fail)));
  for (const run of runs) if (run.status === 'rejected') throw run.reason;
  await worked;
}

/** Runs a worker until the signal. Its state is watched too: the run alone does not reveal every failure. */
function runWatched(worker: Worker, end: AbortSignal, fail: (reason: Error) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let failedAt: number | null = null;
    const timer = setInterval(() => {
      const state = worker.getState();
      const { taskQueue } = worker.options;
      if (state !== 'RUNNING')
        fail(new Error(`The worker of ${taskQueue} is ${state}, and nobody ended it.`));
      if (state !== 'FAILED') return;
      failedAt ??= performance.now();
      if (performance.now() - failedAt < RELEASE_MS) return;
      clearInterval(timer);
      reject(new AbandonedWorker(`The worker of ${taskQueue} has failed, and does not end.`));
    }, LOOK_MS);
    worker.runUntil(aborted(end)).then(
      () => {
        clearInterval(timer);
        resolve();
      },
      (error: Error) => {
        clearInterval(timer);
        fail(error);
        reject(error);
      },
    );
  });
}
