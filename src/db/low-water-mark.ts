/**
 * The low-water mark of committed ids. Rows become visible at COMMIT, not in the order of their ids: a reader that
 * continued after the last one would miss some (docs/decisions/0060-cursors-wait-for-transactions.md).
 */
import { idAt } from '../domain/id-time.ts';
import { oneRow, type Sql } from './pool.ts';

/** How long a transaction may take to appear among the running ones, in seconds: it takes microseconds. */
const MARGIN_SECONDS = 1;

/**
 * The id below which no more events and deliveries will appear, since every transaction begun before its time has ended.
 * Read it before the rows.
 */
export async function lowWaterMark(sql: Sql): Promise<string> {
  // Transactions of other programs count only once they have written something, so that a backup delays nothing.
  const row = await oneRow(sql<{ at: Date }[]>`
    select least(clock_timestamp(), min(xact_start)) - make_interval(secs => ${MARGIN_SECONDS}) as at
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and (backend_xid is not null or application_name = current_setting('application_name'))`);
  return idAt(row.at);
}
