/** Orders sent as fast as they are accepted, for throughput and cost. */
import { type Milliseconds, sharesOf } from './cpu.ts';
import { startCpuClock } from './measure.ts';
import type { Arrival } from './receiver.ts';
import type { ReceiverProcess } from './receiver-process.ts';
import type { Shop } from './shop.ts';
import type { Commit, Stack } from './stack.ts';

/** An e-shop that sends orders, and the receiver of their deliveries. */
export interface Line {
  readonly shop: Shop;
  readonly receiver: ReceiverProcess;
}

/** The result of one round. */
export interface Round {
  readonly deliveries: number;
  /** From the sending of the first order to the arrival of the last delivery. */
  readonly seconds: number;
  /** Processor time per delivery, by part and of all. */
  readonly cpuPerDelivery: Milliseconds;
}

/** Opens a shop with one webhook for created orders, whose first delivery has arrived. */
export async function openLine(stack: Stack): Promise<Line> {
  const { receiver } = stack;
  const shop = await stack.openShop();
  await shop.createWebhook('CREATE_ORDER', `${receiver.url}/prompt/orders`);
  return { shop, receiver };
}

/** Waits until the workers deliver. */
export async function firstDelivery({ shop, receiver }: Line): Promise<void> {
  const arrived = receiver.arrivals(1, FIRST_MS);
  await shop.createOrder();
  await arrived;
}
const FIRST_MS = 60_000;

/**
 * A round of several clients, each sending its next order once the last one was answered.
 * @param patienceMs how long to wait for the last delivery, once the last order was answered
 */
export async function flatOutRound(
  stack: Stack,
  { shop, receiver }: Line,
  load: { readonly orders: number; readonly clients: number; readonly patienceMs: number },
): Promise<Round> {
  const { orders, clients, patienceMs } = load;
  const clock = startCpuClock(stack);
  const start = performance.timeOrigin + performance.now();
  await sendFlatOut(shop, orders, clients);
  const arrived = await receiver.arrivalsWithin({ deliveries: orders, patienceMs });
  const used = await clock.stop();
  return {
    deliveries: arrived.length,
    seconds: ((arrived.at(-1)?.[1] ?? Number.NaN) - start) / 1000,
    cpuPerDelivery: sharesOf(used, arrived.length),
  };
}

/**
 * @param more called before each order: whether to send it
 * @param releaseAt makes them pre-orders with this release time
 */
export async function sendFlatOut(
  shop: Shop,
  orders: number,
  clients: number,
  more: () => boolean = () => true,
  releaseAt?: Date,
): Promise<number> {
  let sent = 0;
  const client = async () => {
    while (sent < orders && more()) {
      sent += 1;
      await shop.createOrder(releaseAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return sent;
}

/** An accepted delivery that has arrived. */
export interface Arrived extends Commit {
  /** In milliseconds since 1970. */
  readonly arrivedAt: number;
}

/** Joins arrivals with their commits, in the order of the commits. */
export async function withCommits(
  stack: Pick<Stack, 'commits'>,
  arrivals: readonly Arrival[],
): Promise<Arrived[]> {
  const commits = await stack.commits(arrivals.map(([id]) => id));
  return arrivals
    .flatMap(([id, arrivedAt]) => {
      const commit = commits.get(id);
      return commit === undefined ? [] : [{ ...commit, arrivedAt }];
    })
    .sort((a, b) => a.committedAt - b.committedAt);
}

/** From COMMIT to arrival, in milliseconds. */
export const latencyOf = ({ arrivedAt, committedAt }: Arrived): number => arrivedAt - committedAt;
