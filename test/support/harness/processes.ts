/** Signals to a process and all its descendants. */
import { readFileSync } from 'node:fs';
import type { Part } from './part.ts';

/** The ids of a process's descendants, from `/proc` (Linux only). */
function descendants(pid: number): number[] {
  let text = '';
  try {
    text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    // It has ended.
  }
  const children = text.split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/**
 * Sends a signal to a process, then to all its descendants; those that have ended are skipped.
 * @param pid null if there is none
 */
export function signalTree(pid: number | null, signal: NodeJS.Signals): void {
  if (pid === null) return;
  for (const each of [pid, ...descendants(pid)]) {
    try {
      process.kill(each, signal);
    } catch {
      // It ended by itself.
    }
  }
}

/** Stops and continues a process with all its descendants. @param pidOf null while there is none */
export function freezing(pidOf: () => number | null): Pick<Part, 'freeze' | 'thaw'> {
  return { freeze: () => signalTree(pidOf(), 'SIGSTOP'), thaw: () => signalTree(pidOf(), 'SIGCONT') };
}
