/** The instance that a command works on: its database, and the address of its Temporal. */
import postgres from 'postgres';
import { checkKey } from '../app/master-key.ts';
import type { Settings } from '../config/variables.ts';
import { createPool, type Pool, type PoolOptions } from '../db/connection/pool.ts';
import { inspectServer } from '../db/connection/server.ts';
import { dataDirAt, type Instance } from '../embedded/data-dir.ts';
import { lockDataDir } from '../embedded/data-dir-lock.ts';
import { requireOwnFolder } from '../embedded/own-files.ts';
import { serverUser } from '../embedded/postgres-cluster.ts';
import { databaseProblem, isAway } from '../lib/database-away.ts';
import { UserError } from '../lib/user-error.ts';

/** Explains the database's errors to the person at the command line. */
function explained(error: unknown, settings: Settings): unknown {
  if (error instanceof postgres.PostgresError && error.code === '42P01') {
    return new UserError(
      'The database has no Waybill tables yet: run waybill migrate, or start Waybill once, unless a restore is under way.',
    );
  }
  if (settings.DATABASE_URL !== undefined || !isAway(error)) return databaseProblem(error);
  return new UserError(
    `No Waybill instance is running with DATA_DIR=${settings.DATA_DIR}: run waybill start, or set DATABASE_URL.`,
  );
}

/**
 * The addresses of the instance in `DATA_DIR`; empty if there is no such folder.
 * @throws UserError if they would be used, but another user may have planted them
 */
export async function instanceOf(settings: Settings): Promise<Instance> {
  const { DATA_DIR, DATABASE_URL, TEMPORAL_ADDRESS } = settings;
  const reading = dataDirAt(DATA_DIR).readInstance();
  const isConfigured = DATABASE_URL !== undefined && TEMPORAL_ADDRESS !== undefined;
  return isConfigured ? await reading.catch(() => ({})) : await reading;
}

/** Time limits for statements that read all data of an e-shop. */
const PATIENT = { statementMs: 600_000, silenceMs: 660_000 };

/**
 * Runs `work` on the database at `DATABASE_URL`, else on that of the instance running in `DATA_DIR`.
 * @param connections the maximum number of connections
 * @param pool options, for statements that may take longer than those of a server
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
      `No Waybill instance has run with DATA_DIR=${settings.DATA_DIR}: run waybill start, or set DATABASE_URL.`,
    );
  }
  return await openAt(url, settings, { connections, ...pool }, async (sql) => {
    await checkKey(sql, settings, dataDirAt(settings.DATA_DIR));
    return await work(sql);
  });
}

/** As `withDatabase`, for commands whose statements read all data of an e-shop. */
export const withPatientDatabase = <T>(settings: Settings, work: (sql: Pool) => Promise<T>): Promise<T> =>
  withDatabase(settings, work, 2, PATIENT);

/**
 * Runs `work` on the database of an instance that cannot start, without checking its key: the one at `DATABASE_URL`,
 * else the embedded one, started for this.
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
  await requireOwnFolder(dataDir.path, (await serverUser().catch(() => undefined))?.uid);
  const unlock = await lockDataDir(dataDir);
  try {
    // Loaded only here: no other command needs it.
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
    // Notifies the relay now instead of at its next poll.
    await sql.notifier.close();
    await sql.end({ timeout: 1 });
  }
}

/** The address of Temporal's UI; null if unknown. */
export async function uiUrlOf(settings: Settings): Promise<string | null> {
  if (settings.TEMPORAL_UI_URL !== undefined) return settings.TEMPORAL_UI_URL;
  // The instance's own server is not the one at TEMPORAL_ADDRESS.
  if (settings.TEMPORAL_ADDRESS !== undefined) return null;
  return (await instanceOf(settings)).temporalUiUrl ?? null;
}
