/**
 * The low-water mark of committed ids. Rows become visible at COMMIT, not in the order of their ids: a reader that
 * continued after the last one would miss some (docs/decisions/0060-cursors-wait-for-transactions.md).
 */
import type { DatabaseSession } from '../../domain/database-session.ts';
import { idAt } from '../../domain/id-time.ts';
import { firstRow, oneRow, type Sql } from '../connection/pool.ts';
import { seconds } from '../predicates.ts';

/**
 * How long a transaction may take to appear among the running ones, in seconds: it takes microseconds. Too low: a
 * list may pass by its events. Too high: lists show events later.
 */
const MARGIN_SECONDS = 1;
/**
 * How long a transaction must be open, in seconds, to be named as the one that cursors and recoveries wait for.
 * Too low: Waybill's own are named. Too high: an operator who looks for the cause of a standstill does not find it.
 */
export const BLOCKER_AGE_SECONDS = 5;

/**
 * The assumed age, in seconds, of a writing transaction if this database user may not see when it began, because the
 * process of Waybill has another user or `track_activities` is off. Too low: longer transactions are missed.
 * Too high: cursors lag behind such processes.
 */
const HIDDEN_SECONDS = 30;

/**
 * The open transactions that the mark waits for, as SQL. Those of other programs count only once they have written
 * something, so that a backup delays nothing. In sessions of other users, where the type is hidden too, only
 * Waybill's own count.
 */
const blockingTransactions = (sql: Sql) => sql`
  pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and case
        when backend_type = 'client backend'
          then backend_xid is not null or application_name = current_setting('application_name')
        else backend_type is null
          and usesysid is not null
          and backend_xid is not null
          and application_name = current_setting('application_name') end`;

/**
 * Lets the mark pass the present transaction until it writes, as SQL. For long transactions that write neither events
 * nor deliveries. Outside a transaction it does nothing.
 * @param name the name of its session until then: any except the service's
 */
export const excludedFromMark = (sql: Sql, name: string) =>
  sql`set_config('application_name', ${name}, true)`;

/**
 * The id below which no more events and deliveries will appear, since every transaction begun before its time has
 * ended. Read it before the rows and, in a transaction, before anything else that reads `pg_stat_activity`: Postgres
 * reads that once per transaction.
 */
export async function lowWaterMark(sql: Sql): Promise<string> {
  const row = await oneRow(sql<{ at: Date }[]>`
    select least(clock_timestamp(), min(xact_start), min(clock_timestamp() - ${seconds(sql, HIDDEN_SECONDS)})
      filter (where xact_start is null and backend_xid is not null)) - ${seconds(sql, MARGIN_SECONDS)} as at
    from ${blockingTransactions(sql)}`);
  return idAt(row.at);
}

/** The oldest transaction that the mark waits for, as SQL: none unless open for {@link BLOCKER_AGE_SECONDS}. */
export const oldestBlocker = (sql: Sql) => sql`
  select pid, nullif(application_name, '') as application, xact_start as since,
    xact_start - ${seconds(sql, MARGIN_SECONDS)} as mark
  from ${blockingTransactions(sql)} and xact_start < clock_timestamp() - ${seconds(sql, BLOCKER_AGE_SECONDS)}
  order by xact_start limit 1`;

/** The transaction that cursors and recoveries wait for, and for how many seconds it has been open. */
type CursorBlocker = DatabaseSession & { readonly seconds: number };

/** Null unless one has been open for {@link BLOCKER_AGE_SECONDS}. */
export async function readCursorBlocker(sql: Sql): Promise<CursorBlocker | null> {
  return await firstRow(sql<CursorBlocker[]>`
    select pid, application, since, extract(epoch from clock_timestamp() - since)::float8 as seconds
    from (${oldestBlocker(sql)}) o`);
}
