/** The memory of a process, from `/proc` (Linux only). */
import { readFileSync } from 'node:fs';

/** The resident set of a process, in MiB. */
export function residentMiB(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1] ?? Number.NaN) / 1024;
}
