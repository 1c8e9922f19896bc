/** Watches how busy the machine is: while a computation takes several times as long as usual, that is an outage. */
import type { Outage } from './logbook.ts';

/** A running watch of the machine. */
export interface MachineWatch {
  /** The times in which the machine was busy with other things, so far. */
  readonly busy: readonly Outage[];
  stop(): void;
}

/** The time between two samples, in milliseconds. */
const INTERVAL_MS = 400;
/** The size of a piece that is short enough to run without interruption, and the number of pieces in a sample. */
const PIECE = 200_000;
const PIECES = 12;
/** The machine is busy when a computation takes this many times as long as usual. */
const BUSY = 3;

/** Computes a piece; returns how long it took, in milliseconds. */
function piece(): number {
  const start = performance.now();
  let value = 1;
  for (let index = 0; index < PIECE; index += 1) value = (value * 48_271) % 2_147_483_647;
  // `value` is never negative, but using it keeps the computation from being optimized away.
  return performance.now() - start + Math.min(0, value);
}

/** The time of a piece when the processor is free. */
let best = Number.POSITIVE_INFINITY;

/** How many times longer than that a sample takes now. */
function slowness(): number {
  const start = performance.now();
  for (let index = 0; index < PIECES; index += 1) best = Math.min(best, piece());
  return (performance.now() - start) / (PIECES * best);
}

/** Starts watching. */
export function watchMachine(): MachineWatch {
  for (let index = 0; index < 5; index += 1) slowness();
  const busy: Outage[] = [];
  let last = Date.now();
  const timer = setInterval(() => {
    const late = Date.now() - last > BUSY * INTERVAL_MS;
    if (slowness() > BUSY || late) busy.push({ from: last, to: Date.now() });
    last = Date.now();
  }, INTERVAL_MS);
  return { busy, stop: () => clearInterval(timer) };
}

/** How long it was busy with other things since then, in milliseconds. */
export function busyMs({ busy }: MachineWatch, since: number): number {
  return busy.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
}

/** Whether a wait of this many milliseconds is over; a busy machine may double it. */
export function deadlinePassed(machine: MachineWatch, since: number, patienceMs: number): boolean {
  return Date.now() - since >= patienceMs + Math.min(patienceMs, busyMs(machine, since));
}
