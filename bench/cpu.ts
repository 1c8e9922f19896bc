/** The processor time and the memory used by processes, from `/proc` (Linux only). */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const MS_PER_TICK = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

interface Usage {
  readonly parent: number;
  /** Its own time and that of its ended children, in clock ticks. */
  readonly ticks: number;
}

/** `/proc/<pid>/stat`; null for a process that has ended. */
function usageOf(pid: number): Usage | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the name in parentheses and may hold anything; the third is the first after them.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  return { parent: field(4), ticks: field(14) + field(15) + field(16) + field(17) };
}

/** Names → milliseconds. */
export type Milliseconds = Readonly<Record<string, number>>;

/**
 * The processor time (user and system) of each process with its descendants, in milliseconds. An ended descendant
 * counts once its parent has waited for it.
 * @param roots name → process id
 */
export function cpuMilliseconds(roots: Readonly<Record<string, number>>): Milliseconds {
  const processes = new Map<number, Usage>();
  for (const name of readdirSync('/proc')) {
    const usage = /^\d+$/.test(name) ? usageOf(Number(name)) : null;
    if (usage !== null) processes.set(Number(name), usage);
  }
  // A root below another one (a child of this very process) counts only for itself.
  const others = new Set(Object.values(roots));
  const ticks = (pid: number): number => {
    let sum = processes.get(pid)?.ticks ?? 0;
    for (const [child, { parent }] of processes)
      if (parent === pid && !others.has(child)) sum += ticks(child);
    return sum;
  };
  return Object.fromEntries(Object.entries(roots).map(([name, pid]) => [name, ticks(pid) * MS_PER_TICK]));
}

/** The time per item, for `count` items. */
export function sharesOf(used: Milliseconds, count: number): Milliseconds {
  return Object.fromEntries(Object.entries(used).map(([name, ms]) => [name, ms / count]));
}

/** The time used between two measurements. */
export function difference(after: Milliseconds, before: Milliseconds): Milliseconds {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]),
  );
}

/** The resident set of a process, in MiB. */
export function residentMiB(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1] ?? Number.NaN) / 1024;
}
