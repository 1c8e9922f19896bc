/** The database's clock. Every time of a delivery is written and compared by it: the clocks of workers may differ. */
import { oneRow, type Sql } from './connection/pool.ts';

export interface Clock {
  now(): Date;
}

/** The database's clock, continued by this process's monotonic clock. @param read the database's time, just read */
export function clockFrom(read: Date): Clock {
  const at = performance.now();
  return { now: () => new Date(read.getTime() + Math.round(performance.now() - at)) };
}

export async function databaseTime(sql: Sql): Promise<Date> {
  return (await oneRow(sql<{ now: Date }[]>`select clock_timestamp() as now`)).now;
}

/** With its microseconds, as Postgres writes it. */
export async function exactDatabaseTime(sql: Sql): Promise<string> {
  return (await oneRow(sql<{ now: string }[]>`select clock_timestamp()::text as now`)).now;
}
