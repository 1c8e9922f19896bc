/**
 * How much of the machine is ours. While so much else runs that a computation takes several times as long as usual,
 * seconds mean nothing: such times count as an outage, like any other.
 */
import type { Outage } from './ledger.ts';

/** Watches the machine from now on. */
export interface MachineWatch {
  /** The times in which the machine was busy with other things, so far. */
  readonly busy: readonly Outage[];
  stop(): void;
}

/** How often it is looked at, in milliseconds. */
const INTERVAL_MS = 400;
/** A piece short enough to be computed without being put aside, and how many make a sample. */
const PIECE = 200_000;
const PIECES = 12;
/** The machine is busy when a computation takes this many times as long as usual. */
const BUSY = 3;

/** Computes a piece; answers how long it took, in milliseconds. */
function piece(): number {
  const start = performance.now();
  let value = 1;
  for (let index = 0; index < PIECE; index += 1) value = (value * 48_271) % 2_147_483_647;
  // Never negative: but then the computation has to be made.
  return performance.now() - start + Math.min(0, value);
}

/** What a piece takes when nobody else wants the processor. */
let best = Number.POSITIVE_INFINITY;

/** How many times longer than that a sample takes. */
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

/** How much of the time since then it was busy with other things, in milliseconds. */
export function busyMs({ busy }: MachineWatch, since: number): number {
  return busy.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, since)), 0);
}
