import { atMost } from '../lib/at-most.ts';
import type { Pool } from './pool.ts';

/** Longer than a busy database takes, shorter than an orchestrator's own timeout. */
const TIMEOUT_MS = 2_000;

/** True if the database says within two seconds that it takes writes. Never throws. */
export async function databaseAnswers(sql: Pool): Promise<boolean> {
  const answered = sql<{ writable: boolean }[]>`
    select not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as writable`.then(
    ([row]) => row?.writable === true,
    () => false,
  );
  return (await atMost(TIMEOUT_MS, answered)) === true;
}
