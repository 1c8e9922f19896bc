/** Several workers of one process, which start and end together. */
import type { Worker } from '@temporalio/worker';

/**
 * Runs the workers until the work is over, then lets them drain.
 * @param work ends when the workers are to end
 * @throws what a worker failed of, with the others drained
 */
export async function runTogether(workers: readonly Worker[], work: () => Promise<void>): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const worked = work().finally(end);
  // Not awaited where a worker fails: its work has no end then.
  worked.catch(() => {});
  const runs = await Promise.allSettled(workers.map((worker) => worker.runUntil(ended).finally(end)));
  for (const run of runs) if (run.status === 'rejected') throw run.reason;
  await worked;
}
