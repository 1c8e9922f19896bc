/**
 * What an ordinary day of a warehouse takes, computed from measurements (docs/measurements.md). Prints the table of
 * docs/handbook/scale.md. Starts nothing.
 *
 *     node --import ./bin/sources.js bench/ordinary-day.ts 20000
 */
import { fileURLToPath } from 'node:url';
import { ASSUMED, MEASURED, thousandfold } from './scale-model.ts';
import { table } from './statistics.ts';

/** The events of an order with its goods: 614 of the 50 orders of `waybill demo`. */
const EVENTS_PER_ORDER = 12;
/** Each event goes to one webhook. */
const WEBHOOKS = 1;
const SECONDS_OF_A_DAY = 86_400;
/** A partition is kept for a week longer than what is in it. */
const KEPT_DAYS = thousandfold.retentionDays + 7;
/** Ten hours of work a day, in which the busiest hour has twice the average of these. */
const WORKING_HOURS = 10;
const BUSIEST_OVER_AVERAGE = 2;

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
  /** What `RETENTION` keeps, in 10⁹ bytes. */
  readonly storedGb: number;
}

const sum = (part: Readonly<Record<'api' | 'worker' | 'temporal' | 'postgres', number>>) =>
  part.api + part.worker + part.temporal + part.postgres;

/** @returns what so many orders a day take, with `WORKFLOWS=all`; pure */
export function ordinaryDay(orders: number): Day {
  const deliveries = orders * EVENTS_PER_ORDER * WEBHOOKS;
  const atPeak = (deliveries / (WORKING_HOURS * 3_600)) * BUSIEST_OVER_AVERAGE;
  const { failing, retries } = thousandfold;
  // Every delivery gets its own workflow, and each retry is assumed to cost as much again.
  const cpuMs =
    sum(MEASURED.accept) / WEBHOOKS +
    sum(MEASURED.attempt) +
    (1 + failing * retries) * sum(MEASURED.workflow);
  const coresAtPeak = (atPeak * cpuMs) / 1_000;
  return {
    deliveries,
    atPeak,
    cpuMs,
    coresAtPeak,
    coresOnAverage: (deliveries * cpuMs) / 1_000 / SECONDS_OF_A_DAY,
    cores: Math.max(1, Math.ceil(coresAtPeak / ASSUMED.busy)),
    storedGb: (deliveries * KEPT_DAYS * MEASURED.bytes) / 1e9,
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
    ],
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv
    .slice(2)
    .map(Number)
    .filter((count) => count > 0);
  console.log(dayTable(given.length > 0 ? given : [2_000, 20_000, 100_000]));
}
