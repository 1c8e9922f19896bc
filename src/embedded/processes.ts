/** Processes by id: whether they live, their command lines, and how to end them. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from './run-program.ts';

/** True while the system lists a process with this id, even a zombie. */
export function isListed(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True while a process with this id lives and is not a zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  if (!isListed(pid)) return false;
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) Z /.test(state);
}

/** Its command line; empty if unknown. */
export async function commandLine(pid: number): Promise<string> {
  const proc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  if (proc !== undefined) return proc.replaceAll('\0', ' ');
  return await runProgram('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => '');
}

/** The signal that asks a process to end, then those that force it, one after the other. */
export type StopSignals = readonly NodeJS.Signals[];

/** How long a process may take to end after a forcing signal, in milliseconds. */
const FORCED_MS = 10_000;

/** Asks a process to end, and forces it after `patienceMs`. @returns whether it is gone; false if stuck on a disk */
export async function endProcess(
  pid: number,
  patienceMs: number,
  signals: StopSignals = ['SIGTERM', 'SIGKILL'],
): Promise<boolean> {
  for (const [index, signal] of signals.entries()) {
    try {
      process.kill(pid, signal);
    } catch {
      return true;
    }
    for (const end = Date.now() + (index === 0 ? patienceMs : FORCED_MS); Date.now() < end; ) {
      if (!(await isAlive(pid))) return true;
      await sleep(50);
    }
  }
  return false;
}
