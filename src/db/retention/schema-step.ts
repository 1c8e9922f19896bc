/**
 * Changes of tables beside traffic: a transaction that waits for a lock only briefly, since it blocks all who come
 * later, and tries again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { SCHEMA_LOCK } from '../migrate.ts';
import type { Pool } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';

/** How long traffic may be held up by one try, in milliseconds. */
const LOCK_TIMEOUT_MS = 200;
/** Between two tries, and how many there are: for half a minute. In milliseconds. */
const LOCK_RETRY_INTERVAL_MS = 1_000;
const TRIES = 25;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/** The tables were in use throughout, or another process was changing them. */
export class TablesBusy extends Error {
  override readonly name = 'TablesBusy';
}

/** @throws TablesBusy when that was not possible for half a minute */
export async function schemaStep<T>(sql: Pool, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction(sql, async (tx) => {
        await tx`select set_config('lock_timeout', ${String(LOCK_TIMEOUT_MS)}, true)`;
        const [turn] = await tx<
          { mine: boolean }[]
        >`select pg_try_advisory_xact_lock(${SCHEMA_LOCK}) as mine`;
        if (turn?.mine !== true) throw new TablesBusy('another process is changing tables');
        return await work(tx);
      });
    } catch (error) {
      const locked =
        error instanceof postgres.PostgresError && [LOCK_NOT_AVAILABLE, DEADLOCK].includes(error.code);
      if (!locked && !(error instanceof TablesBusy)) throw error;
      if (tries === TRIES) throw locked ? new TablesBusy('a table was in use throughout') : error;
      await sleep((0.5 + Math.random()) * LOCK_RETRY_INTERVAL_MS);
    }
  }
}
