/** The instance that a command is about: its database, and where its Temporal is. */
import postgres from 'postgres';
import { checkKey } from '../app/master-key.ts';
import type { Settings } from '../config/variables.ts';
import { notifierOf } from '../db/outbox/notify.ts';
import { createPool, type Pool, type PoolOptions } from '../db/pool.ts';
import { inspectServer } from '../db/server.ts';
import { dataDirAt, type Instance, lockDataDir, requireFormat } from '../embedded/data-dir.ts';
import { databaseProblem } from '../lib/database-away.ts';
import { UserError } from '../lib/user-error.ts';

/** What the database's errors mean to the person at the command line. */
function explained(error: unknown, settings: Settings): unknown {
  if (error instanceof postgres.PostgresError && error.code === '42P01') {
    return new UserError(
      'The database has no Waybill tables yet: run waybill migrate, or start Waybill once.',
    );
  }
  const problem = databaseProblem(error);
  if (settings.DATABASE_URL !== undefined || problem === error) return problem;
  return new UserError(
    `No Waybill instance is running with DATA_DIR=${settings.DATA_DIR}: run npm start, or set DATABASE_URL.`,
  );
}

/** Where the instance in `DATA_DIR` is reached; nothing where there is no such folder. */
export function instanceOf(settings: Settings): Promise<Instance> {
  return dataDirAt(settings.DATA_DIR).readInstance();
}

/** For commands whose statements read all of an e-shop. */
export const PATIENT = { statementMs: 600_000, silenceMs: 660_000 };

/**
 * Runs `work` on the database at `DATABASE_URL`, else on the one of the instance that runs in `DATA_DIR`.
 * @param connections at most so many
 * @param pool for statements that may take longer than those of a server
 * @throws UserError when there is none
 */
export async function withDatabase<T>(
  settings: Settings,
  work: (sql: Pool) => Promise<T>,
  connections = 1,
  pool: Partial<PoolOptions> = {},
): Promise<T> {
  const url = settings.DATABASE_URL ?? (await instanceOf(settings)).databaseUrl;
  if (url === undefined) {
    throw new UserError(
      `No Waybill instance has run with DATA_DIR=${settings.DATA_DIR}: run npm start, or set DATABASE_URL.`,
    );
  }
  return await openAt(url, settings, { connections, ...pool }, async (sql) => {
    await checkKey(sql, settings, dataDirAt(settings.DATA_DIR));
    return await work(sql);
  });
}

/**
 * Runs `work` on the database of an instance that cannot start, whatever its key: the one at `DATABASE_URL`, else the embedded
 * one, started for as long as it takes.
 * @throws UserError when there is none, or its instance is running
 */
export async function withStoppedDatabase<T>(
  settings: Settings,
  work: (sql: Pool) => Promise<T>,
): Promise<T> {
  if (settings.DATABASE_URL !== undefined)
    return await openAt(settings.DATABASE_URL, settings, { connections: 1 }, work);
  const dataDir = dataDirAt(settings.DATA_DIR);
  if ((await dataDir.read('postgres-ready')) === undefined) {
    throw new UserError(`There is no database in DATA_DIR=${settings.DATA_DIR}: set DATABASE_URL.`);
  }
  await requireFormat(dataDir);
  const unlock = await lockDataDir(dataDir);
  try {
    // No other command needs it.
    const { startPostgres } = await import('../embedded/postgres.ts');
    const server = await startPostgres(dataDir, () => {});
    try {
      return await openAt(server.url, settings, { connections: 1 }, work);
    } finally {
      await server.stop();
    }
  } finally {
    await unlock();
  }
}

async function openAt<T>(
  url: string,
  settings: Settings,
  { connections, ...pool }: Partial<PoolOptions> & { readonly connections: number },
  work: (sql: Pool) => Promise<T>,
): Promise<T> {
  const { pooled } = await inspectServer(url).catch((error: unknown) => {
    throw explained(error, settings);
  });
  const sql = createPool(url, connections, { session: !pooled, ...pool });
  try {
    return await work(sql);
  } catch (error) {
    throw explained(error, settings);
  } finally {
    // What was written is passed on now, not with a relay's next look.
    await notifierOf(sql).close();
    await sql.end({ timeout: 1 });
  }
}

/** Its address; null where nothing says so. */
export async function uiUrlOf(settings: Settings): Promise<string | null> {
  if (settings.TEMPORAL_UI_URL !== undefined) return settings.TEMPORAL_UI_URL;
  // The instance's own server is not the one at TEMPORAL_ADDRESS.
  if (settings.TEMPORAL_ADDRESS !== undefined) return null;
  return (await instanceOf(settings)).temporalUiUrl ?? null;
}
