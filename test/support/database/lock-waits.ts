/** Statements of a test's database that wait for a lock. */
import type { Sql } from '../../../src/db/connection/pool.ts';
import { until } from '../until.ts';

/** Waits until at least this many wait. */
export async function untilBlocked(sql: Sql, count = 1): Promise<void> {
  await until(`${count} that wait for a lock`, async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return waiting.length >= count;
  });
}
