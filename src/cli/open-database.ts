/**
 * The database of the instance that the command is about.
 * @module
 */
import { existsSync } from 'node:fs';
import postgres from 'postgres';
import type { Settings } from '../config/variables.ts';
import { databaseProblem, isDatabaseAway } from '../database-away.ts';
import { createPool, type Pool } from '../db/pool.ts';
import { type Instance, openDataDir } from '../embedded/data-dir.ts';
import { UserError } from '../user-error.ts';

/** What the database's errors mean to the person at the command line. */
function explained(error: unknown, settings: Settings): unknown {
  if (error instanceof postgres.PostgresError && error.code === '42P01') {
    return new UserError('The database has no tables of Waybill yet: start Waybill on it once.');
  }
  if (settings.DATABASE_URL !== undefined) return databaseProblem(error);
  if (!isDatabaseAway(error)) return error;
  return new UserError(
    `No Waybill is running with DATA_DIR=${settings.DATA_DIR}: run npm start, or set DATABASE_URL.`,
  );
}

/** Where the instance in `DATA_DIR` is reached; undefined where there is no such folder. */
export async function instanceOf(settings: Settings): Promise<Instance | undefined> {
  // Opening the folder would make it, and asking must leave nothing behind.
  const found = existsSync(settings.DATA_DIR) ? await openDataDir(settings.DATA_DIR) : undefined;
  return await found?.readInstance();
}

/**
 * Runs `work` on the database at `DATABASE_URL`, else on the one of the instance that runs in `DATA_DIR`.
 * @throws UserError when there is none
 */
export async function withDatabase<T>(settings: Settings, work: (sql: Pool) => Promise<T>): Promise<T> {
  const url = settings.DATABASE_URL ?? (await instanceOf(settings))?.databaseUrl;
  if (url === undefined) {
    throw new UserError(
      `No Waybill has run with DATA_DIR=${settings.DATA_DIR}: run npm start, or set DATABASE_URL.`,
    );
  }
  const sql = createPool(url, 1);
  try {
    return await work(sql);
  } catch (error) {
    throw explained(error, settings);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
