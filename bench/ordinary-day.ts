/**
 * Computes the load of a warehouse's ordinary day, and of an outage of its receivers, from measurements
 * (docs/measurements.md). Prints the tables of docs/handbook/scale.md. Starts nothing.
 *
 *     node --import ./bin/sources.js bench/ordinary-day.ts 20000
 */
import { fileURLToPath } from 'node:url';
import { defaultRetryPolicy, SHORTEST_PART, waits } from '../src/domain/retry-policy.ts';
import { table } from '../test/support/harness/table.ts';

/** The events of an order with its goods: 614 of the 50 orders of `waybill demo`. */
const EVENTS_PER_ORDER = 12;
/** Each event goes to one webhook. */
const WEBHOOKS = 1;
const SECONDS_OF_A_DAY = 86_400;
/** `RETENTION`, and a week: a partition is dropped once all of it is older. */
const KEPT_DAYS = 30 + 7;
/** The share of deliveries whose first attempt fails, and the number of retries of each. */
const FAILING = 0.02;
const RETRIES = 4;
/** The use of all processors to plan with in the busiest hour. */
const BUSY = 0.5;
/** Processor milliseconds: docs/measurements.md. */
const MEASURED = {
  /** An order over the API: 1.5 ms with its client, split 2 to 1: two cores accepted and delivered 946 a second. */
  accept: { api: 1, postgres: 0.5, temporal: 0, worker: 0 },
  /** An attempt from the queue. */
  attempt: { api: 0, postgres: 0.2, temporal: 0.09, worker: 0.28 },
  /** A delivery with its workflow. A retry is assumed equal. */
  workflow: { api: 0, postgres: 2.5, temporal: 24, worker: 11.9 },
  /** Bytes stored per delivery, including its event, attempt and indexes, and Temporal's history while it is kept. */
  bytes: 3_200,
} as const;
/** Ten hours of work a day, in which the busiest hour has twice the average of these. */
const WORKING_HOURS = 10;
const BUSIEST_OVER_AVERAGE = 2;
/**
 * The disk to plan with, as a multiple of what is kept. Too low: no room for the write-ahead log, dead rows and the
 * system. Too high: a disk that stays empty.
 */
const DISK_OVER_KEPT = 2;

/** The load of a day, and what it takes of one machine. */
export interface Day {
  readonly deliveries: number;
  /** Per second, in the busiest hour. */
  readonly atPeak: number;
  /** Processor milliseconds of a delivery with its workflow, everything included. */
  readonly cpuMs: number;
  /** Cores that are busy in the busiest hour, and on average over the day. */
  readonly coresAtPeak: number;
  readonly coresOnAverage: number;
  /** Cores to plan with: half of them idle in the busiest hour. */
  readonly cores: number;
  /** The data that `RETENTION` keeps, in 10⁹ bytes. */
  readonly storedGb: number;
  /** The disk to plan with, in 10⁹ bytes: a multiple of ten. */
  readonly diskGb: number;
}

/** An outage of all receivers, at the pace of the busiest hour. */
export interface ReceiversOutage {
  readonly hours: number;
  /** The retries of a delivery whose first attempt fails at the beginning of the outage, until its end. */
  readonly retries: number;
  /** The average over all deliveries; those that begin later have less time. */
  readonly retriesOnAverage: number;
  /** Cores that these retries keep busy, on average over the outage, in addition to an ordinary day's. */
  readonly cores: number;
}

const sum = (part: Readonly<Record<'api' | 'worker' | 'temporal' | 'postgres', number>>) =>
  part.api + part.worker + part.temporal + part.postgres;

/** @returns what so many orders a day take, with `WORKFLOWS=all`; pure */
export function ordinaryDay(orders: number): Day {
  const deliveries = orders * EVENTS_PER_ORDER * WEBHOOKS;
  const atPeak = (deliveries / (WORKING_HOURS * 3_600)) * BUSIEST_OVER_AVERAGE;
  // Every delivery gets its own workflow, and each retry is assumed to cost as much again.
  const cpuMs =
    sum(MEASURED.accept) / WEBHOOKS +
    sum(MEASURED.attempt) +
    (1 + FAILING * RETRIES) * sum(MEASURED.workflow);
  const coresAtPeak = (atPeak * cpuMs) / 1_000;
  const storedGb = (deliveries * KEPT_DAYS * MEASURED.bytes) / 1e9;
  return {
    deliveries,
    atPeak,
    cpuMs,
    coresAtPeak,
    coresOnAverage: (deliveries * cpuMs) / 1_000 / SECONDS_OF_A_DAY,
    cores: Math.max(1, Math.ceil(coresAtPeak / BUSY)),
    storedGb,
    diskGb: Math.ceil((DISK_OVER_KEPT * storedGb) / 10) * 10,
  };
}

/** @returns what so many orders a day take while no receiver accepts anything, by the default policy; pure */
export function receiversOutage(orders: number, hours: number): ReceiversOutage {
  const outageMs = hours * 3_600_000;
  // Waits are shortened by chance: on average by half of what is possible.
  const share = (1 + SHORTEST_PART) / 2;
  let atMs = 0;
  let retries = 0;
  let retriesOnAverage = 0;
  for (const wait of waits(defaultRetryPolicy)) {
    atMs += wait * share;
    if (atMs >= outageMs) break;
    retries += 1;
    // The deliveries that begin during the outage and have this long until its end.
    retriesOnAverage += 1 - atMs / outageMs;
  }
  return {
    hours,
    retries,
    retriesOnAverage,
    cores: (ordinaryDay(orders).atPeak * retriesOnAverage * sum(MEASURED.workflow)) / 1_000,
  };
}

const two = (value: number) => value.toPrecision(2).replace(/\.0$/, '');

/** The table of docs/handbook/scale.md. */
export function dayTable(orders: readonly number[]): string {
  const days = orders.map(ordinaryDay);
  const row = (name: string, cell: (day: Day) => string) => [name, ...days.map(cell)];
  return table(
    ['orders a day', ...orders.map((count) => count.toLocaleString('en'))],
    [
      row('deliveries a day', ({ deliveries }) => deliveries.toLocaleString('en')),
      row('deliveries per second in the busiest hour', ({ atPeak }) => two(atPeak)),
      row('cores busy in that hour', ({ coresAtPeak }) => two(coresAtPeak)),
      row('cores busy on average over the day', ({ coresOnAverage }) => two(coresOnAverage)),
      row('cores to plan with', ({ cores }) => String(cores)),
      row('GB kept in 30 days of `RETENTION`', ({ storedGb }) => String(Math.round(storedGb))),
      row('GB of disk to plan with', ({ diskGb }) => String(diskGb)),
    ],
  );
}

/** The table of docs/handbook/scale.md about outages of these hours, at so many orders a day. */
export function outageTable(orders: number, hours: readonly number[]): string {
  const outages = hours.map((each) => receiversOutage(orders, each));
  const row = (name: string, cell: (outage: ReceiversOutage) => string) => [name, ...outages.map(cell)];
  return table(
    ['no receiver accepts anything for', ...hours.map((each) => (each === 1 ? '1 hour' : `${each} hours`))],
    [
      row('retries of a delivery that fails at the beginning', ({ retries }) => String(retries)),
      row('retries of a delivery, on average', ({ retriesOnAverage }) => two(retriesOnAverage)),
      row('further cores that they keep busy', ({ cores }) => two(cores)),
    ],
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv
    .slice(2)
    .map(Number)
    .filter((count) => count > 0);
  console.log(dayTable(given.length > 0 ? given : [2_000, 20_000, 100_000]));
  console.log(`\n${outageTable(given[0] ?? 20_000, [1, 4])}`);
}
