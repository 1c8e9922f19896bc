/**
 * A trial of neighbors: one e-shop sends orders at an easy pace, alone and then beside a scenario.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { atPace } from './pace.ts';
import { type Line, latencyOf, withCommits } from './rounds.ts';
import type { Stack } from './stack.ts';

/** What the healthy e-shop measured. */
export interface Probed {
  /** From COMMIT to the receiver's first byte, in milliseconds, in the order of the commits. */
  readonly latencies: readonly number[];
  /** From request to the receiver's first byte, in milliseconds, in the same order. */
  readonly fromRequest: readonly number[];
  /** From its request to the API's response, in milliseconds. */
  readonly answers: readonly number[];
  /** Deliveries that had not arrived within the patience. */
  readonly undelivered: number;
}

/** The pace of the healthy e-shop. */
export interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
  /** How long to wait for deliveries that have not arrived when the last order is answered, in milliseconds. */
  readonly patienceMs: number;
}

/** Sends orders at a fixed pace, each timed; then waits for their deliveries. */
export async function probeLatency(
  stack: Pick<Stack, 'commits'>,
  { shop, receiver }: Line,
  pace: Pace,
): Promise<Probed> {
  const orders = Math.max(1, Math.round(pace.perSecond * pace.seconds));
  await receiver.arrivalsWithin({ deliveries: 0, patienceMs: 0 });
  const answers: number[] = [];
  const requests = new Map<string, number>();
  const order = async () => {
    const asked = performance.now();
    requests.set(await shop.createOrder(), performance.timeOrigin + asked);
    answers.push(performance.now() - asked);
  };
  await atPace(pace.perSecond, (sent) => sent < orders, order);
  const { patienceMs } = pace;
  const arrived = await withCommits(stack, await receiver.arrivalsWithin({ deliveries: orders, patienceMs }));
  // An earlier order may arrive only now.
  const own = arrived.flatMap((each) => {
    const requestedAt = requests.get(each.entityId);
    return requestedAt === undefined ? [] : [{ ...each, requestedAt }];
  });
  return {
    latencies: own.map(latencyOf),
    fromRequest: own.map(({ arrivedAt, requestedAt }) => arrivedAt - requestedAt),
    answers,
    undelivered: orders - own.length,
  };
}

/** The number of neighbors before and after a delivery in the order of the commits. */
const NEIGHBORS = 10;

/**
 * How much later each delivery came than those around it, in milliseconds: its latency minus the median of theirs.
 * @param latencies in the order of the commits
 */
export function latenessAmongNeighbors(latencies: readonly number[]): number[] {
  return latencies.map((own, index) => {
    const around = latencies
      .slice(Math.max(0, index - NEIGHBORS), index + NEIGHBORS + 1)
      .sort((a, b) => a - b);
    return own - (around[Math.floor(around.length / 2)] ?? own);
  });
}

/** Reads at a fixed pace while {@link probeLatency} sends its orders. @returns how long each took, in milliseconds */
export async function probeReads({ shop }: Line, { perSecond, seconds }: Pace): Promise<number[]> {
  const read = async () => {
    const asked = performance.now();
    await shop.readOrders();
    return performance.now() - asked;
  };
  // Halfway between two orders.
  await sleep(500 / perSecond);
  return await atPace(perSecond, (begun) => begun + 0.5 < perSecond * seconds, read);
}
