/** How much time the processors of this machine have to spare. */
import { cpus } from 'node:os';

/** Time of all processors together since the machine's start, in milliseconds. */
export interface ProcessorTime {
  readonly processors: number;
  readonly idle: number;
  /** Idle or not. */
  readonly all: number;
}

/** A stretch of less than this says little, in milliseconds. */
const LEAST_MS = 250;

/**
 * Makes what says, each time it is asked, which share of their time the processors were idle since it was last asked, from 0 to 1;
 * asked again at once, it says the same again. In a container these are the processors of the machine below it.
 */
export function createIdleShare(read: () => ProcessorTime = processorTime): () => number {
  let before = read();
  let share = 1;
  return () => {
    const now = read();
    const all = now.all - before.all;
    if (all >= LEAST_MS * now.processors) {
      share = (now.idle - before.idle) / all;
      before = now;
    }
    return share;
  };
}

function processorTime(): ProcessorTime {
  const times = cpus().map((processor) => processor.times);
  const sum = (of: (each: (typeof times)[number]) => number) =>
    times.reduce((total, each) => total + of(each), 0);
  return {
    processors: times.length,
    idle: sum(({ idle }) => idle),
    all: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
  };
}
