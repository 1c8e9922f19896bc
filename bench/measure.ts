/** The processor time of a period of work, by the processes that do it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMilliseconds, difference, type Milliseconds } from './cpu.ts';
import type { Stack } from './stack.ts';

/** The parts that do the work of a delivery; the receiver and the bench itself only share the machine. */
export const parts = ['worker', 'temporal', 'postgres', 'api'] as const;
/** A name of {@link parts}. */
export type Part = (typeof parts)[number];

/** How long work goes on after the last arrival (results recorded, workflows closed and indexed), in milliseconds. */
const SETTLE_MS = 1_000;

/** A clock of processor time that is running. */
export interface CpuClock {
  /** Waits until the work has settled. @returns milliseconds by running part, and of `all` of them */
  stop(): Promise<Milliseconds>;
}

/** @param more further processes, by part */
export function startCpuClock(stack: Stack, more: Readonly<Record<string, number>> = {}): CpuClock {
  const roots = { ...stack.processes(), ...more };
  const before = cpuMilliseconds(roots);
  return {
    async stop() {
      await sleep(SETTLE_MS);
      const used = difference(cpuMilliseconds(roots), before);
      return { ...used, all: parts.reduce((sum, part) => sum + (used[part] ?? 0), 0) };
    },
  };
}
