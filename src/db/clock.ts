/**
 * The database's clock: the one that every time of a delivery is written by and compared with. The clocks of the
 * machines that workers run on may differ from it and from each other.
 */
import type { Sql } from './pool.ts';

/** Tells the time, now and later. */
export interface Clock {
  now(): Date;
}

/**
 * The clock of the database, carried on by this process's monotonic clock, which no correction of the time moves.
 * @param read what the database said its time was, a moment ago
 */
export function clockFrom(read: Date): Clock {
  const at = performance.now();
  return { now: () => new Date(read.getTime() + Math.round(performance.now() - at)) };
}

/** The time by the database's clock. */
export async function databaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  if (row === undefined) throw new Error('The database returned no time.');
  return row.now;
}
