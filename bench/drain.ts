/** A backlog of deliveries, drained by the running workers: its speed, and the cost of each delivery. */
import { type BacklogShape, createBacklog } from './backlog.ts';
import { type Milliseconds, sharesOf } from './cpu.ts';
import { startCpuClock } from './measure.ts';
import type { Arrival } from './receiver.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import type { Stack } from './stack.ts';
import { percentile } from './statistics.ts';

/** The order to drain a backlog. */
export interface DrainOrder {
  readonly deliveries: number;
  /** Drained first and not measured, so that compilers, caches and connections are warm. */
  readonly warmUp: number;
  readonly shape: BacklogShape;
  readonly patienceMs: number;
  /** Also waits for the second attempts of failed deliveries, which are due after this, in milliseconds. */
  readonly retryAfterMs?: number;
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
  /** The rate of deliveries whose receivers answer promptly and with success, until the last of these. */
  readonly healthyPerSecond: number;
  /** Processor time per delivery by part, and of `all` parts. */
  readonly cpu: Milliseconds;
  /** Repeated requests of an attempt. */
  readonly repeats: number;
  /** How late the second attempt came, in milliseconds, one value per failed delivery. */
  readonly lateMs: readonly number[];
}

/** A hundred, so that one is a per cent. */
const WEBHOOKS = 100;
/** Webhooks that all answer at once. */
export const allPrompt: BacklogShape = { webhooks: WEBHOOKS, slow: 0, failing: 0 };

/** @throws Error if not all deliveries arrive in time */
export async function drain(stack: Stack, order: DrainOrder): Promise<Drained> {
  const { deliveries, shape, patienceMs } = order;
  const { receiver } = stack;
  const backlog = await createBacklog(stack.sql, stack.secretKey, receiver.urlOf, shape);
  await forget(receiver);
  if (order.warmUp > 0) {
    const warmUp = receiver.arrivals(order.warmUp, patienceMs);
    await backlog.write(order.warmUp);
    await backlog.release();
    backlog.wake();
    await warmUp;
  }
  await backlog.write(deliveries);
  await stack.sql`vacuum analyze deliveries`;
  await forget(receiver);
  await backlog.release();
  const clock = startCpuClock(stack, order.processes);
  const start = performance.timeOrigin + performance.now();
  backlog.wake();
  const { first, second, repeats } = await receiver.arrivals(deliveries, patienceMs);
  const cpu = await clock.stop();
  const healthy = await backlog.healthy(first.map(([id]) => id));
  const failing = order.retryAfterMs === undefined ? 0 : Math.round(deliveries * backlog.failingShare);
  const left = failing - second.length;
  const later = await receiver.arrivalsWithin({
    deliveries: 0,
    seconds: left,
    patienceMs: left > 0 ? patienceMs : 0,
  });
  const rate = (arrived: readonly Arrival[]) =>
    (arrived.length / ((arrived.at(-1)?.[1] ?? Number.NaN) - start)) * 1000;
  await backlog.retire(patienceMs);
  return {
    startedAt: start,
    perSecond: rate(first),
    maxPerSecond: rate(first.slice(0, Math.ceil(first.length * 0.9))),
    healthyPerSecond: rate(first.filter(([id]) => healthy.has(id))),
    cpu: sharesOf(cpu, deliveries),
    repeats: repeats + later.repeats,
    lateMs: lateness(first, [...second, ...later.second], order.retryAfterMs ?? 0),
  };
}

/** Discards arrivals from before this drain. */
const forget = (receiver: ReceiverProcess) =>
  receiver.arrivalsWithin({ deliveries: 0, seconds: 0, patienceMs: 0 });

function lateness(first: readonly Arrival[], second: readonly Arrival[], dueAfterMs: number): number[] {
  const firstAt = new Map(first);
  return second.map(([id, at]) => at - (firstAt.get(id) ?? Number.NaN) - dueAfterMs);
}

/** The shown lateness of second attempts. */
export const worst = (lateMs: readonly number[]) => percentile(lateMs, 99);
