/** Finds stalled workflows: a worker has started a task of theirs, and no task ends. */
import type { Executions } from './executions.ts';

/**
 * If no task of a late workflow ends for this long, in milliseconds, the workflow is started again: ten time-outs of
 * a task. Too low: busy machines lose the work they have begun. Too high: deliveries stand still.
 */
const STALLED_MS = 100_000;
/**
 * How many workflows are watched at once. Too low: workflows that stall together wait for each other. Too high:
 * starting them again adds to an overload.
 */
const WATCHED_AT_ONCE = 10;

export type Stalls = ReturnType<typeof createStalls>;

/**
 * The late workflows that are watched, in the memory of one worker.
 * @param now in milliseconds, on a clock that does not jump
 */
export function createStalls(
  executions: Pick<Executions, 'lastCompletedTask'>,
  stalledMs = STALLED_MS,
  now: () => number = () => performance.now(),
) {
  const seen = new Map<string, { readonly completed: string; readonly since: number }>();
  return {
    /**
     * Watches a workflow, if there is room.
     * @returns whether the workflow has stalled for long enough; it is then no longer watched
     */
    async isStalled(workflowId: string): Promise<boolean> {
      const completed = await executions.lastCompletedTask(workflowId);
      const before = seen.get(workflowId);
      if (before?.completed === completed) {
        if (now() - before.since < stalledMs) return false;
        seen.delete(workflowId);
        return true;
      }
      if (before !== undefined || seen.size < WATCHED_AT_ONCE)
        seen.set(workflowId, { completed, since: now() });
      return false;
    },
    /** The workflows to look at again. */
    watched(): readonly string[] {
      // A workflow that has gone on since was not asked about again, and is forgotten here.
      for (const [workflowId, { since }] of seen) if (now() - since > 2 * stalledMs) seen.delete(workflowId);
      return [...seen.keys()];
    },
  };
}
