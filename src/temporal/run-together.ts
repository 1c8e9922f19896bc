/** Several workers of one process, which start and end together. */
import type { Worker } from '@temporalio/worker';

/**
 * Runs the workers until the work ends, then drains them.
 * @param work ends when the workers must end
 * @throws the error of a failed worker, once the others are drained
 */
export async function runTogether(workers: readonly Worker[], work: () => Promise<void>): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const worked = work().finally(end);
  // Not awaited if a worker fails: then the work has no end.
  worked.catch(() => {});
  const runs = await Promise.allSettled(workers.map((worker) => worker.runUntil(ended).finally(end)));
  for (const run of runs) if (run.status === 'rejected') throw run.reason;
  await worked;
}
