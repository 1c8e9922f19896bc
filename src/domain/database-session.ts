/** Sessions of the database that keep others waiting, in words for operators. */
import { counted, oneLine } from './text.ts';

/** A session of the database. What its user may not see is null. */
export interface DatabaseSession {
  readonly pid: number;
  /** Its `application_name`. */
  readonly application: string | null;
  /** When its transaction began. */
  readonly since: Date | null;
}

/** "database process 4711 (psql)" */
export function databaseProcess({ pid, application }: Omit<DatabaseSession, 'since'>): string {
  const program = oneLine(application ?? '').trim();
  return `database process ${pid}${program === '' ? '' : ` (${program})`}`;
}

/** "database process 4711 (psql), whose transaction has been open since 2026-11-20T19:33:00.000Z" */
export function openTransaction(session: DatabaseSession): string {
  const open = session.since === null ? 'is open' : `has been open since ${session.since.toISOString()}`;
  return `${databaseProcess(session)}, whose transaction ${open}`;
}

/**
 * What keeps dead rows from being removed (a session with an old snapshot, a prepared transaction, or a replication
 * slot), or old write-ahead log (such a slot, or a failing archive).
 */
export type VacuumBlocker =
  /** `since`: its last success; null if there was none. */
  | { readonly kind: 'archive'; readonly since: Date | null }
  | ({ readonly kind: 'session'; readonly transactions: number } & DatabaseSession)
  /** A two-phase commit, with its identifier and the time of its first phase. */
  | { readonly kind: 'prepared'; readonly name: string; readonly since: Date }
  | {
      readonly kind: 'slot';
      readonly name: string;
      /** True if it has a reader, which is behind. */
      readonly inUse: boolean;
      /** How many transactions have begun since the oldest it needs; null if it keeps only the write-ahead log. */
      readonly transactions: number | null;
      /** The bytes of write-ahead log that it keeps. */
      readonly walBytes: number;
    };

/** "the replication slot standby, unused, with 3.0 GiB of write-ahead log" */
export function keeperOfDeadRows(keeper: VacuumBlocker): string {
  if (keeper.kind === 'slot') {
    const gib = (keeper.walBytes / 2 ** 30).toFixed(1);
    const use = keeper.inUse ? 'whose reader is behind' : 'unused';
    return `the replication slot ${oneLine(keeper.name)}, ${use}, with ${gib} GiB of write-ahead log`;
  }
  if (keeper.kind === 'prepared')
    return `the prepared transaction ${oneLine(keeper.name)}, open since ${keeper.since.toISOString()}`;
  if (keeper.kind === 'archive')
    return `the failing archive of the write-ahead log (last success: ${keeper.since?.toISOString() ?? 'never'})`;
  if (keeper.since !== null) return openTransaction(keeper);
  return `${databaseProcess(keeper)}, with a snapshot ${counted(keeper.transactions, 'transaction')} old`;
}
