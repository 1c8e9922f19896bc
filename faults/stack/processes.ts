/** Signals to a process and all its descendants. */
import { readFileSync } from 'node:fs';

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

/** Sends a signal to a process, then to all its descendants; those that have ended meanwhile are skipped. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  for (const each of [pid, ...descendants(pid)]) {
    try {
      process.kill(each, signal);
    } catch {
      // It ended by itself.
    }
  }
}
