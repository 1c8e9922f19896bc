/** Reports who holds the lock that a session waits for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool } from './pool.ts';

/** The time between two checks, in milliseconds. */
const INTERVAL_MS = 500;

interface Holder {
  readonly pid: number;
  readonly applicationName: string;
  readonly relation: string | null;
  readonly seconds: number;
}

/**
 * Watches a session.
 * @param sql a pool of one connection, the watched one
 * @param onBlocked called once for each holder: "process 4711 (psql), which has held a lock on deliveries for 12 s"
 * @returns a function that stops watching
 */
export async function reportLockHolders(
  url: string,
  sql: Pool,
  onBlocked: (blockedBy: string) => void,
): Promise<() => Promise<void>> {
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const observer = createPool(url, 1);
  const over = new AbortController();
  const reported = new Set<number>();

  async function look(): Promise<void> {
    const holders = await observer<Holder[]>`
      select distinct on (holder.pid) holder.pid, holder.application_name, waiting.relation::regclass::text as relation,
        round(extract(epoch from now() - coalesce(holder.xact_start, holder.backend_start)))::int as seconds
      from pg_locks as waiting
      cross join lateral unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
      join pg_stat_activity as holder on holder.pid = blocking.pid
      where waiting.pid = ${session?.pid ?? 0} and not waiting.granted`;
    for (const { pid, applicationName, relation, seconds } of holders) {
      if (reported.has(pid)) continue;
      reported.add(pid);
      const program = applicationName === '' ? '' : ` (${applicationName})`;
      onBlocked(
        `database process ${pid}${program}, which has held a lock${relation === null ? '' : ` on ${relation}`} for ${seconds} s`,
      );
    }
  }

  const watching = (async () => {
    while (!over.signal.aborted) {
      await sleep(INTERVAL_MS, undefined, { signal: over.signal }).catch(() => {});
      // A failed check is no reason to stop.
      if (!over.signal.aborted) await look().catch(() => {});
    }
  })();
  return async () => {
    over.abort();
    await watching;
    await observer.end({ timeout: 1 });
  };
}
