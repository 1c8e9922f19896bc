/** The reconciler's passes: over late workflows, over workflows ended by operators, and over everything. */
import pLimit from 'p-limit';
import pThrottle from 'p-throttle';
import type { Logger } from 'pino';
import { isRejection } from '../temporal/rejection.ts';
import { countsOf, summary } from './counts.ts';
import type { Executions } from './executions.ts';
import { type Repair, repair } from './repair.ts';
import { createStalls } from './stalls.ts';
import {
  createTrackedWorkflows,
  type SweepPlace,
  startOfSweep,
  type TrackedWorkflow,
  type TrackedWorkflowsDeps,
} from './tracked-workflows.ts';

export interface PassesOptions extends TrackedWorkflowsDeps {
  readonly executions: Executions;
  readonly log: Logger;
  readonly onRepair?: (repair: Repair) => void;
  /** True: nothing is changed. Default false. */
  readonly dryRun?: boolean;
  /** How long a workflow may stall while a worker is working on it, in milliseconds; default 100 s. */
  readonly stalledMs?: number;
  /** Ends a pass early when it aborts. */
  readonly signal: AbortSignal;
  /** How far the last sweep got, even if earlier passes made it; default: no sweep was interrupted. */
  readonly sweepPlace?: SweepPlace;
}

export interface PassResult {
  /** How many records were checked. */
  readonly looked: number;
  readonly repairs: readonly Repair[];
}

/** The most checks under way at once, and per second: a sweep over everything must not slow down deliveries. */
const CONCURRENCY = 10;
const CHECKS_PER_SECOND = 200;
/** How far the list of workflows may lag behind, and Temporal's clock behind this one, in milliseconds. */
const LIST_LAG_MS = 2 * 60_000;
const CLOCK_LAG_MS = 10 * 60_000;

/** The passes; each throws if Temporal or the database cannot be reached. */
export function createPasses(options: PassesOptions) {
  const { executions, log, onRepair, dryRun = false, signal, sweepPlace = startOfSweep() } = options;
  const workflows = createTrackedWorkflows(options);
  const stalls = createStalls(executions, options.stalledMs);
  const check = pThrottle({ limit: CHECKS_PER_SECOND, interval: 1_000 })((workflow: TrackedWorkflow) =>
    repair(executions, stalls, workflow, dryRun, ({ by, since }) =>
      log.warn({ ...workflow.name, by, since }, 'waiting: an operator has paused the workflow in Temporal'),
    ),
  );
  /** The workflows that were woken: the next pass over late workflows checks whether waking them had an effect. */
  const woken: string[] = [];
  /** The next pass reads the list from this time on. */
  let listedUntil = new Date(Date.now() - CLOCK_LAG_MS);

  async function repairAll(tracked: readonly TrackedWorkflow[], repairs: Repair[]): Promise<void> {
    const failures: unknown[] = [];
    await pLimit(CONCURRENCY).map(tracked, async (workflow) => {
      // After Temporal has failed to answer once, the rest are skipped: each would only wait for the deadline too.
      if (failures.length > 0 || signal.aborted) return;
      try {
        const done = await check(workflow);
        if (done === null) return;
        repairs.push(done);
        onRepair?.(done);
        if (done.action === 'woken') woken.push(workflow.workflowId);
        const { kind, reason, action, name, by, comment } = done;
        log.info({ repaired: kind, reason, action, ...name, by, comment }, 'repaired');
      } catch (error) {
        // A refused repair must not stop other repairs, which may well be accepted.
        if (isRejection(error))
          log.error({ ...workflow.name, err: error }, 'Temporal rejected the repair of a workflow');
        else failures.push(error);
      }
    });
    // Thrown only here, so that repairs under way can finish and be counted.
    if (failures.length > 0) throw failures[0];
  }

  /** Wakes workflows that wait although their delivery is over: some of them would never end by themselves. */
  async function wakeClosed(repairs: Repair[]): Promise<void> {
    for await (const page of executions.running()) {
      if (signal.aborted) return;
      await repairAll(await workflows.closedOf(page.map(({ workflowId }) => workflowId)), repairs);
    }
  }

  /** Runs a pass. If the pass repaired something, logs one line, even if the pass failed. */
  async function pass(why: string, work: (repairs: Repair[]) => Promise<number>): Promise<PassResult> {
    const repairs: Repair[] = [];
    try {
      return { looked: await work(repairs), repairs };
    } finally {
      if (repairs.length > 0 && !dryRun) {
        const counts = countsOf(repairs);
        log.warn({ why, repairs: counts }, `reconciled: ${summary(counts)}`);
      }
    }
  }

  return {
    /** Some of the workflows whose next step is past due. */
    late: () =>
      pass('late', async (repairs) => {
        const before = [...woken];
        const rechecked = [
          ...(await workflows.withWorkflows([...before, ...stalls.watched()])),
          ...(await workflows.closedOf(before)),
        ];
        const tracked = [...rechecked, ...(await workflows.late())];
        // Forgotten only after all queries succeeded: if the database was unavailable, the next pass checks them.
        woken.splice(0, before.length);
        await repairAll(tracked, repairs);
        return tracked.length;
      }),

    /** The workflows that were recently terminated or canceled. */
    endedExternally: () =>
      pass('ended from outside', async (repairs) => {
        let latest = listedUntil.getTime() + LIST_LAG_MS;
        let looked = 0;
        for await (const page of executions.endedExternally(listedUntil)) {
          latest = Math.max(latest, ...page.map(({ closedAt }) => closedAt.getTime()));
          const tracked = await workflows.withWorkflows(page.map(({ workflowId }) => workflowId));
          looked += tracked.length;
          await repairAll(tracked, repairs);
        }
        listedUntil = new Date(latest - LIST_LAG_MS);
        return looked;
      }),

    /**
     * Every tracked workflow. It first finishes a sweep that was interrupted, so that the last workflows are checked
     * even if workers are renewed before a sweep ends.
     * @param why for the log
     */
    everything: (why: string) =>
      pass(why, async (repairs) => {
        let looked = 0;
        let wasInterrupted: boolean;
        do {
          wasInterrupted = sweepPlace.isBegun;
          sweepPlace.isBegun = true;
          for await (const page of workflows.all(sweepPlace)) {
            looked += page.length;
            await repairAll(page, repairs);
            if (signal.aborted) return looked;
          }
          await wakeClosed(repairs);
          if (signal.aborted) return looked;
          Object.assign(sweepPlace, startOfSweep());
        } while (wasInterrupted);
        return looked;
      }),
  };
}
