/**
 * Changes of tables under traffic: a transaction that waits only briefly for a lock, since it blocks all that come
 * later, and is retried.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { SCHEMA_LOCK } from '../migrate.ts';
import type { Pool } from '../pool.ts';
import { type Transaction, transaction } from '../transaction.ts';

/** How long one try may hold up traffic, in milliseconds. */
const LOCK_TIMEOUT_MS = 200;
/** The time between two tries, in milliseconds, and how many there are: for half a minute. */
const LOCK_RETRY_INTERVAL_MS = 1_000;
const TRIES = 25;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';

/** The tables were in use throughout, or another process was changing them. */
export class TablesBusy extends Error {
  override readonly name = 'TablesBusy';
}

/** @throws TablesBusy if it was not possible for half a minute */
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
