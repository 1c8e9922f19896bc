/** Reports who holds the lock that a session waits for. */
import { databaseProcess } from '../../domain/database-session.ts';
import { waitOrStop } from '../../lib/wait-or-stop.ts';
import { createPool, type Pool, type Sql } from '../connection/pool.ts';

/** The time between two checks, in milliseconds. */
const INTERVAL_MS = 500;

interface Holder {
  readonly pid: number;
  readonly application: string;
  readonly relation: string | null;
  /** Null if this user may not see it. */
  readonly seconds: number | null;
}

/** Who holds the locks that a session waits for now. @param sql not this session */
export async function lockHolders(sql: Sql, pid: number): Promise<Holder[]> {
  return await sql<Holder[]>`
    select distinct on (holder.pid) holder.pid, holder.application_name as application,
      waiting.relation::regclass::text as relation,
      round(extract(epoch from now() - coalesce(holder.xact_start, holder.backend_start)))::int as seconds
    from pg_locks as waiting
    cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
    join pg_stat_activity as holder on holder.pid = blocking.pid
    where waiting.pid = ${pid} and not waiting.granted`;
}

/** "database process 4711 (psql), which has held a lock on deliveries for 12 s" */
export function lockHolder({ relation, seconds, ...session }: Holder): string {
  const lock = `a lock${relation === null ? '' : ` on ${relation}`}`;
  const held = seconds === null ? `holds ${lock}` : `has held ${lock} for ${seconds} s`;
  return `${databaseProcess(session)}, which ${held}`;
}

/**
 * Watches a session.
 * @param sql a pool of one connection, the watched one
 * @param onBlocked called once for each holder: "process 4711 (psql), which has held a lock on deliveries for 12 s"
 * @returns a function that stops watching
 */
export async function reportLockHolders(url: string, sql: Pool, onBlocked: (blockedBy: string) => void) {
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const observer = createPool(url, 1);
  const stopping = new AbortController();
  const reported = new Set<number>();

  async function look(): Promise<void> {
    for (const holder of await lockHolders(observer, session?.pid ?? 0)) {
      if (reported.has(holder.pid)) continue;
      reported.add(holder.pid);
      onBlocked(lockHolder(holder));
    }
  }

  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await waitOrStop(INTERVAL_MS, stopping.signal);
      // A failed check is no reason to stop.
      if (!stopping.signal.aborted) await look().catch(() => {});
    }
  })();
  return async () => {
    stopping.abort();
    await watching;
    await observer.end({ timeout: 1 });
  };
}
