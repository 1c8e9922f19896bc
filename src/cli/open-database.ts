/**
 * The database of the instance that the command is about.
 * @module
 */
import { existsSync } from 'node:fs';
import postgres from 'postgres';
import type { Settings } from '../config.ts';
import { createPool, type Pool } from '../db/pool.ts';
import { type Instance, openDataDir } from '../embedded/data-dir.ts';

/** What a person did wrong or has to do first: shown as one sentence, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  /** @param exitCode what the process ends with */
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What the database's errors mean to the person at the command line. */
function explained(error: unknown, settings: Settings): unknown {
  if (error instanceof postgres.PostgresError && error.code === '42P01') {
    return new CommandError('The database has no tables of Waybill yet: start Waybill on it once.');
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const away = ['ECONNREFUSED', 'CONNECT_TIMEOUT', 'CONNECTION_SILENT', 'ENOTFOUND'];
  if (typeof code !== 'string' || !away.includes(code)) return error;
  return new CommandError(
    settings.DATABASE_URL === undefined
      ? `No Waybill is running with DATA_DIR=${settings.DATA_DIR}: run npm start, or set DATABASE_URL.`
      : 'The database at DATABASE_URL cannot be reached.',
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
 * @throws CommandError when there is none
 */
export async function withDatabase<T>(settings: Settings, work: (sql: Pool) => Promise<T>): Promise<T> {
  const url = settings.DATABASE_URL ?? (await instanceOf(settings))?.databaseUrl;
  if (url === undefined) {
    throw new CommandError(
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
