/** Under which conditions Waybill's processes run: a slower link, fewer cores, or without one of their controls. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type SchedulerOptions, schedulerDefaults } from '../src/concurrency/settings.ts';

/** The conditions of a stack. */
export interface Conditions {
  /** Every call to Temporal takes 50 ms longer, and every round trip to Postgres 5 ms. */
  readonly slowLink?: boolean;
  /** Waybill, Postgres and Temporal share this many cores; left out: all. */
  readonly cores?: number;
  /** Between Waybill and Postgres is a PgBouncer in transaction mode. */
  readonly pooler?: boolean;
  /** A control that is turned off. */
  readonly without?: Control;
}

/** What a slow link adds to each request, in milliseconds. */
export const SLOW_LINK_MS = { temporal: 50, postgres: 5 } as const;

/** Longer than any run of the bench; four times that is still a timer. */
const NEVER_MS = 86_400_000;
/** The controls of the scheduler, each with the numbers that turn it off. */
export const controls = {
  'webhook limit': { firstLimit: schedulerDefaults.attempts, hungMs: 300_000 },
  'claim ahead': { claimAheadMs: NEVER_MS },
  window: { window: 1_000 },
  batches: { burstAfterMs: NEVER_MS },
  'few beside a burst': { fewOfEshop: 0 },
  load: { overloadFloorMs: NEVER_MS },
  budget: { budgetLeast: 1_000, budgetMost: 1_000 },
  ranks: { patienceMs: 0 },
} as const satisfies Record<string, Partial<SchedulerOptions>>;
/** The name of one. */
export type Control = keyof typeof controls;

/** The command that keeps a program to so many cores. */
export const onCores = (cores: number): readonly string[] => ['taskset', '-c', `0-${cores - 1}`];

/** Keeps processes that run already, and what they start, to so many cores. */
export async function keepToCores(cores: number, pids: readonly number[]): Promise<void> {
  for (const pid of pids)
    await promisify(execFile)('taskset', ['-a', '-c', '-p', `0-${cores - 1}`, String(pid)]);
}
