import { atMost } from '../../lib/at-most.ts';
import { hasSqlstate, TOO_MANY_CONNECTIONS } from '../sqlstate.ts';
import type { Pool } from './pool.ts';

/** Longer than a busy database takes, shorter than an orchestrator's own timeout. */
const TIMEOUT_MS = 2_000;

async function takesWrites(sql: Pool): Promise<boolean> {
  const [row] = await sql<{ writable: boolean }[]>`
    select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable`;
  return row?.writable === true;
}

/**
 * True if the database says within two seconds that it takes writes. Never throws.
 * @param sql a pool for nothing else, which is free even when work is not
 * @param working the pool to ask instead if the server has no connection left for `sql`: others may have taken all
 */
export async function databaseAnswers(sql: Pool, working: Pool = sql): Promise<boolean> {
  const answered = takesWrites(sql)
    .catch((error: unknown) => {
      const crowded = hasSqlstate(error, TOO_MANY_CONNECTIONS);
      return crowded && working !== sql ? takesWrites(working) : false;
    })
    .catch(() => false);
  return (await atMost(TIMEOUT_MS, answered)) === true;
}
