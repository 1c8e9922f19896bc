/** What keeps dead rows or old write-ahead log from being removed: the disk fills, and statements become slower. */
import type { DatabaseSession, VacuumBlocker } from '../../domain/database-session.ts';
import type { Sql } from '../connection/pool.ts';
import { seconds } from '../predicates.ts';

/**
 * How old a snapshot may be, in seconds. Too low: each backup of a small database is named. Too high: the tables of a
 * busy instance have grown by then.
 */
const OLD_SNAPSHOT_SECONDS = 3_600;
/**
 * The same in transactions, if the time is not known: for another user's session or a standby. Too low: a busy
 * instance names it after minutes. Too high: a quiet instance never does.
 */
const OLD_SNAPSHOT_TRANSACTIONS = 1_000_000;
/** The most log kept by an unused replication slot. Too low: a restarting standby is named. Too high: a full disk. */
const KEPT_WAL_BYTES = 2 ** 30;
/** The same while it is in use. Too low: a reader catching up after an import is named. Too high: a full disk. */
const KEPT_IN_USE_WAL_BYTES = 8 * 2 ** 30;

/** The bounds of what counts as old; for tests. */
export interface VacuumBlockerBounds {
  readonly seconds?: number;
  readonly transactions?: number;
  readonly walBytes?: number;
  readonly inUseWalBytes?: number;
}

/** The oldest of each kind first. Other users' sessions are seen as far as this user may. @param bounds for tests */
export async function readVacuumBlockers(
  sql: Sql,
  {
    seconds: old = OLD_SNAPSHOT_SECONDS,
    transactions = OLD_SNAPSHOT_TRANSACTIONS,
    walBytes = KEPT_WAL_BYTES,
    inUseWalBytes = KEPT_IN_USE_WAL_BYTES,
  }: VacuumBlockerBounds = {},
): Promise<VacuumBlocker[]> {
  // Without the right to see it, begin and kind are null. A vacuum's snapshot keeps nothing, however long it takes.
  const sessions = await sql<(DatabaseSession & { transactions: number })[]>`
    select pid, nullif(application_name, '') as application, xact_start as since, age(backend_xmin) as transactions
    from pg_stat_activity
    where backend_xmin is not null and pid <> pg_backend_pid()
      and (datname = current_database() or backend_type = 'walsender') and backend_type is distinct from 'autovacuum worker'
      and pid not in (select pid from pg_stat_progress_vacuum)
      and case when xact_start is null then age(backend_xmin) > ${transactions}
        else xact_start < now() - ${seconds(sql, old)} end
    order by age(backend_xmin) desc`;
  const prepared = await sql<{ name: string; since: Date }[]>`
    select gid as name, prepared as since from pg_prepared_xacts
    where database = current_database() and prepared < now() - ${seconds(sql, old)}
    order by prepared`;
  const slots = await sql<{ name: string; inUse: boolean; transactions: number | null; walBytes: number }[]>`
    select * from (
      select slot_name as name, active as in_use, greatest(age(xmin), age(catalog_xmin)) as transactions,
        coalesce(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), restart_lsn), 0)::float8 as wal_bytes
      from pg_replication_slots) s
    where transactions > ${transactions} or wal_bytes > case when in_use then ${inUseWalBytes}::float8 else ${walBytes} end
    order by wal_bytes desc`;
  const archives = await sql<{ since: Date | null }[]>`
    select last_archived_time as since from pg_stat_archiver
    where current_setting('archive_mode') <> 'off' and last_failed_time > coalesce(last_archived_time, '-infinity')`;
  return [
    ...archives.map(({ since }) => ({ kind: 'archive' as const, since })),
    ...sessions.map((session) => ({ kind: 'session' as const, ...session })),
    ...prepared.map((transaction) => ({ kind: 'prepared' as const, ...transaction })),
    ...slots.map((slot) => ({ kind: 'slot' as const, ...slot })),
  ];
}
