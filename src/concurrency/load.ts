/**
 * The one measure of load: how long Temporal takes to start a workflow, or, of a batch, until its activity begins here: the slowest of
 * the last second against the quickest recent one; and whether it answers at all. A distant server answers late without being busy.
 * Pure.
 */
import type { SchedulerOptions } from './settings.ts';

/** Starts made here that have not begun, and how long starts take. */
export interface Load {
  /** A workflow is being started. @param id of its delivery or its batch */
  starting(id: string): void;
  /** It was not started after all. */
  failed(id: string): void;
  /** Temporal has it, or a batch's activity has begun. Only what was started here counts. */
  begun(id: string): void;
  /** Whether this has been started and has not begun. */
  waits(id: string): boolean;
  /** Whether starts take much longer than they could. */
  overloaded(): boolean;
  /** Temporal has answered something. */
  answered(): void;
  /** Whether it has left a call unanswered for long: first attempts go on without it. */
  silent(): boolean;
}

/**
 * How long an observation counts, in milliseconds. A start that has not begun here after twice as long runs in another process, or
 * waits for another reason.
 */
const OBSERVED_MS = 1_000;
/** With each observation the quickest time grows by this factor, so that a slower link is learned. */
const FORGETTING = 1.002;

/** @param now in milliseconds, on a clock that does not jump */
export function createLoad(
  { overloadFactor, overloadFloorMs, silentMs }: SchedulerOptions,
  now: () => number = () => performance.now(),
): Load {
  const started = new Map<string, number>();
  let observed: { readonly at: number; readonly ms: number }[] = [];
  let quickestMs = Number.POSITIVE_INFINITY;
  /** The first call since the last answer. */
  let askedAt: number | null = null;

  function forgetOld(): void {
    const at = now();
    // The map is in the order of the starts.
    for (const [id, startedAt] of started) {
      if (at - startedAt <= 2 * OBSERVED_MS) return;
      started.delete(id);
    }
  }

  return {
    starting(id) {
      const at = now();
      askedAt ??= at;
      started.set(id, at);
    },
    failed: (id) => void started.delete(id),
    begun(id) {
      const startedAt = started.get(id);
      if (startedAt === undefined) return;
      started.delete(id);
      const at = now();
      const ms = at - startedAt;
      quickestMs = Math.min(ms, quickestMs * FORGETTING);
      observed = [...observed.filter((each) => at - each.at < OBSERVED_MS), { at, ms }];
    },
    waits(id) {
      forgetOld();
      return started.has(id);
    },
    overloaded() {
      const at = now();
      const slowestMs = Math.max(
        0,
        ...observed.filter((each) => at - each.at < OBSERVED_MS).map(({ ms }) => ms),
      );
      return slowestMs > Math.max(overloadFloorMs, overloadFactor * quickestMs);
    },
    answered() {
      askedAt = null;
    },
    silent: () => askedAt !== null && now() - askedAt > silentMs,
  };
}
