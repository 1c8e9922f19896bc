/** A backlog of deliveries, drained by the running workers: its speed, and the cost of each delivery. */
import { createBacklog } from './backlog.ts';
import { type Milliseconds, sharesOf } from './cpu.ts';
import { startCpuClock } from './measure.ts';
import type { Arrival } from './receiver.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import type { Stack } from './stack.ts';

/** What to drain. */
export interface DrainOptions {
  readonly deliveries: number;
  /** Drained first and not measured, so that compilers, caches and connections are warm. */
  readonly warmUp: number;
  readonly patienceMs: number;
  /** Processes in addition to those of the stack, if its workers do not drain. */
  readonly processes?: Readonly<Record<string, number>>;
}

/** The result of a drain. */
export interface Drained {
  /** When it was released, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly perSecond: number;
  /** The rate until nine tenths have arrived. */
  readonly maxPerSecond: number;
  /** Processor time per delivery by part, and of `all` parts. */
  readonly cpu: Milliseconds;
}

/** @throws Error if not all deliveries arrive in time */
export async function drain(stack: Stack, options: DrainOptions): Promise<Drained> {
  const { deliveries, patienceMs } = options;
  const { receiver } = stack;
  const backlog = await createBacklog(stack.sql, stack.secretKey, receiver.urlOf);
  await forget(receiver);
  if (options.warmUp > 0) {
    const warmUp = receiver.arrivals(options.warmUp, patienceMs);
    await backlog.write(options.warmUp);
    await backlog.release();
    backlog.wake();
    await warmUp;
  }
  await backlog.write(deliveries);
  await stack.sql`vacuum analyze deliveries`;
  await forget(receiver);
  await backlog.release();
  const clock = startCpuClock(stack, options.processes);
  const start = performance.timeOrigin + performance.now();
  backlog.wake();
  const first = await receiver.arrivals(deliveries, patienceMs);
  const cpu = await clock.stop();
  const rate = (arrived: readonly Arrival[]) =>
    (arrived.length / ((arrived.at(-1)?.[1] ?? Number.NaN) - start)) * 1000;
  await backlog.retire(patienceMs);
  return {
    startedAt: start,
    perSecond: rate(first),
    maxPerSecond: rate(first.slice(0, Math.ceil(first.length * 0.9))),
    cpu: sharesOf(cpu, deliveries),
  };
}

/** Discards arrivals from before this drain. */
const forget = (receiver: ReceiverProcess) => receiver.arrivalsWithin({ deliveries: 0, patienceMs: 0 });
