/** The database of a process: its pools, and the watch of its disk. */
import type { Logger } from 'pino';
import { POOL_SIZE, type Settings } from '../config/variables.ts';
import { watchDisk } from '../db/connection/disk.ts';
import { createPool } from '../db/connection/pool.ts';
import { createSessionPool, inspectServer } from '../db/connection/server.ts';
import { migrate } from '../db/migrate.ts';
import { counted } from '../domain/text.ts';
import { makeAhead } from '../retention/retain.ts';

/** How long a pool may take to end, in seconds. */
const END_S = 5;
const POLLING =
  'Database: a pooler is in front of it, and DATABASE_DIRECT_URL is not set: workers poll for work once a second.';

/**
 * Checks the server, migrates the database, and opens the pools.
 * @param print receives lines for the person who starts the process
 * @throws UserError with one sentence if Waybill cannot work with it
 */
export async function openDatabase(
  url: string,
  { DATABASE_DIRECT_URL: directUrl }: Settings,
  log: Logger,
  print: (text: string) => void,
) {
  const { pooled } = await inspectServer(url);
  const applied = await migrate(url, { say: print });
  const latest = applied.at(-1);
  if (latest !== undefined)
    print(`Database: ${counted(applied.length, 'migration')} applied, up to ${latest}`);
  const session = !pooled;
  const sql = createPool(url, POOL_SIZE, { session });
  const healthSql = createPool(url, 1, { session });
  const direct = directUrl === undefined ? null : await createSessionPool(sql, directUrl);
  if (pooled && direct === null) print(POLLING);
  const pools = direct === null ? [sql] : [sql, direct];
  const disk = watchDisk({
    pools,
    sql: healthSql,
    onChange(isFull) {
      if (isFull) log.error("the database's disk is full: writes fail until there is room");
      else log.info("the database's disk has room again");
    },
  });
  // After weeks without a worker the current week may have no partitions; nothing is lost without them.
  await makeAhead(sql).catch((error: unknown) =>
    log.warn({ err: error }, 'partitions could not be made ahead'),
  );
  return {
    sql,
    /** One connection, for checks of its health. */
    healthSql,
    /** Direct sessions with the server; null if there are none, and the loops only poll. */
    sessionSql: direct ?? (pooled ? null : sql),
    /** Whether the address leads to the server itself, without a pooler. */
    session,
    isDiskFull: disk.isFull,
    /** Wakes relays for the last time, then ends the pools. */
    async close(): Promise<void> {
      await sql.notifier.close();
      await disk.stop();
      for (const pool of [...pools.reverse(), healthSql]) await pool.end({ timeout: END_S });
    },
  };
}
