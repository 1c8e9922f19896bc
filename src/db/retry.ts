/**
 * Transactions that Postgres ended because of others.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';

/** Deadlock and failed serialization: the transaction did nothing and may well succeed at once. */
const VICTIM = new Set(['40P01', '40001']);
const MAX_TRIES = 5;

/** Runs a transaction again, up to five times in all, when it fell victim to another one. */
export async function retryVictims<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      const victim = error instanceof postgres.PostgresError && VICTIM.has(error.code);
      if (!victim || tries === MAX_TRIES) throw error;
      // Not together with the one it stumbled over.
      await sleep(Math.random() * 50 * tries);
    }
  }
}
