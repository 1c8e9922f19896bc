/**
 * A worker's reconciler. Postgres knows which deliveries are open, Temporal knows which workflows run; the reconciler
 * repairs mismatches. It checks everything at the start, and whenever Temporal may have lost something. In between it
 * checks late workflows, and workflows that operators ended. A delivery in the queue has no workflow to compare: if
 * its process dies, the lease and the ownership run out.
 *
 * Module reconciler, which imports attempt, db, domain, lib, temporal, workflows. Begin: this file, then `passes.ts`,
 * and `verdict.ts` for the decisions.
 */
import { waitOrStop } from '../lib/wait-or-stop.ts';
import { sourceOf } from '../temporal/rejection.ts';
import { ListUnreadable } from './executions.ts';
import { createPasses, type PassesOptions } from './passes.ts';
import { type SweepPlace, startOfSweep } from './tracked-workflows.ts';

/** What a reconciler hands on to the next one of its process after workers were renewed. */
export interface ReconcilerMemory {
  readonly sweepPlace: SweepPlace;
  /** When a workflow was last unable to go on, on a clock that does not jump. */
  stuckAt: number;
}

export const emptyMemory = (): ReconcilerMemory => ({
  sweepPlace: startOfSweep(),
  stuckAt: Number.NEGATIVE_INFINITY,
});

interface ReconcilerOptions extends Omit<PassesOptions, 'signal' | 'dryRun' | 'sweepPlace'> {
  readonly memory: ReconcilerMemory;
  /** The time between two checks of late and ended workflows, in milliseconds. */
  readonly intervalMs: number;
  /** The least time between two sweeps over everything, in milliseconds; default 10 s. */
  readonly sweepSpacingMs?: number;
  /**
   * Called while Temporal may know less than before: it was unavailable, its namespace was recreated, or workflows
   * could not go on, once for all of these. Workers must then drop their cached workflows.
   */
  readonly onSetBack: (why: string) => void;
  /** Called at every interval in which Temporal answers, however long the checks take. */
  readonly onAnswered: () => Promise<void> | void;
}

/**
 * If workflows get stuck within this time of each other, in milliseconds, they have one cause, and workers are
 * renewed once. Too low: if a release breaks determinism for thousands of deliveries, which become late one by one,
 * workers lose their caches again and again. Too high: if Temporal is set back within it without being unavailable,
 * each workflow notices it alone.
 */
const SAME_CAUSE_MS = 10 * 60_000;
/** Too low: each of many short outages of Temporal costs a sweep. Too high: losses are noticed late. */
const SWEEP_SPACING_MS = 10_000;

export function startReconciler(options: ReconcilerOptions) {
  const { executions, log, intervalMs, memory, sweepSpacingMs = SWEEP_SPACING_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const passes = createPasses({ ...options, signal, sweepPlace: memory.sweepPlace });
  /** Why everything is to be checked; null if there is no reason. */
  let sweepReason: string | null = 'the worker started';
  /** The sweep under way. */
  let sweeping: Promise<void> | null = null;
  let lastSweep = Number.NEGATIVE_INFINITY;
  /** The loops whose last step failed. */
  const failing = new Set<string>();
  /** Whether the last reading of Temporal's list failed. The list only hints: late records are checked without it. */
  let unlisted = false;
  /** Why Temporal may have been set back. */
  let setBack: string | null = null;
  let namespaceId: string | undefined;

  /** Runs a step. A failure is logged once, until the step succeeds again. @returns the result of the step */
  async function tryStep(loop: string, step: () => Promise<unknown>): Promise<'done' | 'again' | 'failed'> {
    try {
      await step();
    } catch (error) {
      if (!failing.has(loop))
        log.warn({ err: error, loop, of: sourceOf(error) }, 'a step of the reconciler failed: repeating it');
      failing.add(loop);
      return 'failed';
    }
    if (!failing.delete(loop)) return 'done';
    log.info({ loop }, 'the reconciler continues');
    return 'again';
  }

  function unreadable(error: unknown): void {
    if (!(error instanceof ListUnreadable)) throw error;
    if (!unlisted) log.warn({ err: error }, 'workflows that operators end in Temporal are noticed late');
    unlisted = true;
  }

  function sweep(why: string): void {
    sweepReason = null;
    lastSweep = performance.now();
    log.info({ why }, 'checking everything');
    const everything = () =>
      passes
        .everything(why)
        .then(({ looked }) => log.info({ why, looked }, 'checked everything'))
        .catch(unreadable);
    sweeping = tryStep('sweep', everything).then((result) => {
      if (result === 'failed') sweepReason ??= why;
      sweeping = null;
    });
  }

  async function checkOnce(): Promise<void> {
    const id = await executions.namespaceId().catch((error: unknown) => {
      setBack = 'Temporal was unreachable';
      throw error;
    });
    namespaceId ??= id;
    if (id !== namespaceId) setBack = 'the namespace was recreated';
    if (setBack !== null) options.onSetBack(setBack);
    if (sweepReason !== null && sweeping === null && performance.now() - lastSweep >= sweepSpacingMs)
      sweep(sweepReason);
    await passes.endedExternally().then(() => {
      if (unlisted) sweepReason ??= 'the list of workflows could not be read';
      unlisted = false;
    }, unreadable);
    const { repairs } = await passes.late();
    // If one workflow is missing, others may be missing whose next step is hours away.
    if (repairs.some(({ reason }) => reason === 'missing')) sweepReason ??= 'a workflow was missing';
    if (repairs.some(({ reason }) => reason === 'stuck')) {
      const now = performance.now();
      if (now - memory.stuckAt > SAME_CAUSE_MS) setBack = 'a workflow could not go on';
      memory.stuckAt = now;
    }
  }

  async function repeat(step: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      await step();
      await waitOrStop(intervalMs, signal);
    }
  }

  // The two loops do not wait for each other: the checks may take minutes.
  const running = Promise.all([
    // If Temporal does not answer, the checks report it.
    repeat(() => executions.namespaceId().then(options.onAnswered, () => {})),
    repeat(async () => {
      if ((await tryStep('checks', checkOnce)) === 'again')
        sweepReason ??= 'Temporal or the database was unreachable';
    }),
  ]);
  return {
    /** Ends the checks, and waits for those under way. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
      await sweeping;
    },
  };
}
