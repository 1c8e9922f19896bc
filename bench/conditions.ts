/** The conditions under which Waybill's processes run: a slower link, or fewer cores. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The conditions of a stack. */
export interface Conditions {
  /** Every call to Temporal takes 50 ms longer, and every round trip to Postgres 5 ms. */
  readonly slowLink?: boolean;
  /** The number of cores that Waybill, Postgres and Temporal share; default: all. */
  readonly cores?: number;
}

/** The delay of a slow link for each request, in milliseconds. */
export const SLOW_LINK_MS = { temporal: 50, postgres: 5 } as const;

/** The command that restricts a program to this many cores. */
export const onCores = (cores: number): readonly string[] => ['taskset', '-c', `0-${cores - 1}`];

/** Restricts running processes, and those they start, to this many cores. */
export async function keepToCores(cores: number, pids: readonly number[]): Promise<void> {
  for (const pid of pids)
    await promisify(execFile)('taskset', ['-a', '-c', '-p', `0-${cores - 1}`, String(pid)]);
}
