/**
 * The two kinds of round: orders at a steady pace, for the time a delivery takes when nothing queues; and orders as
 * fast as they are taken, for the most that goes through and what each delivery costs.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMilliseconds, difference, type Milliseconds } from './cpu.ts';
import type { Stack } from './stack.ts';

/** What one round showed. */
export interface Round {
  readonly deliveries: number;
  /** From the first order sent to the last delivery's arrival. */
  readonly seconds: number;
  /** From COMMIT to the receiver's first byte, in milliseconds, one per delivery. */
  readonly latencies: readonly number[];
  /** Processor time per delivery, by process. */
  readonly cpuPerDelivery: Milliseconds;
  /** Requests of a delivery that had arrived before. */
  readonly repeats: number;
}

/** Deliveries end after their arrival: their results are recorded, their workflows closed and indexed. */
const SETTLE_MS = 1_000;
/** How long a round waits for its last delivery once the last order should have been sent, in milliseconds. */
const PATIENCE_MS = 60_000;

/** Orders at a fixed pace, whatever the answers take. */
export function steadyRound(stack: Stack, orders: number, perSecond: number): Promise<Round> {
  return round(stack, orders, PATIENCE_MS + (orders / perSecond) * 1000, async () => {
    const start = performance.now();
    const sent: Promise<void>[] = [];
    for (let index = 0; index < orders; index += 1) {
      await sleep(Math.max(0, start + (index * 1000) / perSecond - performance.now()));
      const order = stack.shop.createOrder();
      // Looked at below; until then a failure has to wait.
      order.catch(() => {});
      sent.push(order);
    }
    await Promise.all(sent);
  });
}

/** So many clients, each sending its next order once the last one was answered. */
export function flatOutRound(stack: Stack, orders: number, clients: number): Promise<Round> {
  return round(stack, orders, PATIENCE_MS, async () => {
    let left = orders;
    const client = async () => {
      while (left > 0) {
        left -= 1;
        await stack.shop.createOrder();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  });
}

async function round(
  stack: Stack,
  orders: number,
  patienceMs: number,
  send: () => Promise<void>,
): Promise<Round> {
  const before = cpuMilliseconds(stack.processes);
  const start = performance.timeOrigin + performance.now();
  const [arrivals] = await Promise.all([stack.arrivals(orders, patienceMs), send()]);
  await sleep(SETTLE_MS);
  const used = difference(cpuMilliseconds(stack.processes), before);

  const { first, repeats } = arrivals;
  const committed = await stack.commitTimes(first.map(([id]) => id));
  const latencies = first.map(([id, at]) => at - (committed.get(id) ?? Number.NaN));
  return {
    deliveries: first.length,
    seconds: (Math.max(...first.map(([, at]) => at)) - start) / 1000,
    latencies,
    cpuPerDelivery: Object.fromEntries(
      Object.entries(used).map(([name, milliseconds]) => [name, milliseconds / first.length]),
    ),
    repeats,
  };
}
