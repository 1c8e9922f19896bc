/** The conditions under which Waybill's processes run: a slower link, fewer cores, or without one of their controls. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type SchedulerOptions, schedulerDefaults } from '../src/concurrency/settings.ts';

/** The conditions of a stack. */
export interface Conditions {
  /** Every call to Temporal takes 50 ms longer, and every round trip to Postgres 5 ms. */
  readonly slowLink?: boolean;
  /** The number of cores that Waybill, Postgres and Temporal share; left out: all. */
  readonly cores?: number;
  /** A PgBouncer in transaction mode is between Waybill and Postgres. */
  readonly pooler?: boolean;
  /** A control that is turned off. */
  readonly without?: Control;
}

/** The delay of a slow link for each request, in milliseconds. */
export const SLOW_LINK_MS = { temporal: 50, postgres: 5 } as const;

/** Longer than any run of the bench; four times this still fits a timer. */
const NEVER_MS = 86_400_000;
/** The controls of the scheduler, each with the numbers that turn it off. */
export const controls = {
  'webhook limit': { firstLimit: schedulerDefaults.attempts, hungMs: 300_000 },
  'claim ahead': { claimAheadMs: NEVER_MS },
  'in flight': { inFlight: 1_000 },
  'worth a claim': { worthAClaim: 1 },
  'slow receivers': { slowMs: NEVER_MS },
  calm: { startsUnderWay: 1_000, calmPerSecond: Number.MAX_SAFE_INTEGER },
  ranks: { patienceMs: 0 },
  pace: { backgroundPerTick: 1_000, backgroundConcurrency: 1_000 },
} as const satisfies Record<string, Partial<SchedulerOptions>>;
/** The name of a control. */
export type Control = keyof typeof controls;

/** The command that restricts a program to this many cores. */
export const onCores = (cores: number): readonly string[] => ['taskset', '-c', `0-${cores - 1}`];

/** Restricts running processes, and those they start, to this many cores. */
export async function keepToCores(cores: number, pids: readonly number[]): Promise<void> {
  for (const pid of pids)
    await promisify(execFile)('taskset', ['-a', '-c', '-p', `0-${cores - 1}`, String(pid)]);
}
