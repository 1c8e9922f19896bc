/**
 * Changes to tables under traffic: a transaction that waits only briefly for a lock, since it blocks all that come
 * later, and is retried.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SCHEMA_LOCK } from '../advisory-locks.ts';
import type { Pool } from '../connection/pool.ts';
import { lockHolder, lockHolders } from '../maintenance/lock-holders.ts';
import { DEADLOCK, hasSqlstate, LOCK_NOT_AVAILABLE } from '../sqlstate.ts';
import { type Transaction, transaction } from '../transaction.ts';

/** How long one try may hold up traffic, in milliseconds. */
const LOCK_TIMEOUT_MS = 200;
/** The time between two tries, in milliseconds, and how many there are: for half a minute. */
const LOCK_RETRY_INTERVAL_MS = 1_000;
const TRIES = 25;

/** The tables were in use throughout, or another process was changing them. */
export class TablesBusy extends Error {
  override readonly name = 'TablesBusy';
}

/**
 * @param sql with a second connection it sees whom the first waits for
 * @param maxTries for tests
 * @throws TablesBusy if it was not possible for half a minute, with the name of the last session that was in the way
 */
export async function schemaStep<T>(sql: Pool, work: (tx: Transaction) => Promise<T>, maxTries = TRIES) {
  let seen = '';
  for (let tries = 1; ; tries += 1) {
    const finished = new AbortController();
    try {
      return await transaction(sql, async (tx) => {
        await tx`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`;
        const [turn] = await tx<{ mine: boolean; pid: number }[]>`
          select pg_try_advisory_xact_lock(${SCHEMA_LOCK}) as mine, pg_backend_pid() as pid`;
        if (turn?.mine !== true) throw new TablesBusy('another process is changing tables');
        void lookForHolders(sql, turn.pid, finished.signal).then((holders) => {
          seen = holders ?? seen;
        });
        return await work(tx);
      });
    } catch (error) {
      const locked = hasSqlstate(error, LOCK_NOT_AVAILABLE, DEADLOCK);
      if (!locked && !(error instanceof TablesBusy)) throw error;
      if (tries === maxTries) throw locked ? new TablesBusy(`a table was in use throughout${seen}`) : error;
      await sleep((0.5 + Math.random()) * LOCK_RETRY_INTERVAL_MS);
    } finally {
      finished.abort();
    }
  }
}

/** @returns " by database process 4711 (psql), …"; null if the try was over before, or nobody was seen */
async function lookForHolders(sql: Pool, pid: number, finished: AbortSignal): Promise<string | null> {
  try {
    await sleep(LOCK_TIMEOUT_MS / 2, undefined, { signal: finished });
    const holders = await lockHolders(sql, pid);
    return holders.length === 0 ? null : `, by ${holders.map(lockHolder).join('; ')}`;
  } catch {
    return null;
  }
}
