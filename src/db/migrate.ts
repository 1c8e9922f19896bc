/**
 * Applies the SQL files of `migrations/` in the order of their names, each in a transaction of its own, under
 * an advisory lock, so that any number of processes may start at once.
 * @module
 */
import { readdir, readFile } from 'node:fs/promises';
import { Umzug } from 'umzug';
import { createPool } from './pool.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
/** Any fixed number: it names this lock among the advisory locks of the database. */
const LOCK = 715_021;

/**
 * Brings the database up to date.
 * @param url a `postgres://` address
 * @returns the names of the migrations applied by this call
 */
export async function migrate(url: string): Promise<string[]> {
  // One connection: the advisory lock belongs to the session that took it.
  const sql = createPool(url, 1);
  try {
    await sql`select pg_advisory_lock(${LOCK})`;
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
    const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
    const umzug = new Umzug({
      migrations: files.map((name) => ({
        name,
        up: async () => {
          const text = await readFile(new URL(name, MIGRATIONS), 'utf8');
          await sql.begin(async (tx) => {
            await tx.unsafe(text);
            await tx`insert into migrations (name) values (${name})`;
          });
        },
      })),
      storage: {
        executed: async () =>
          (await sql<{ name: string }[]>`select name from migrations order by name`).map((row) => row.name),
        // Recorded in the migration's own transaction above.
        logMigration: async () => {},
        unlogMigration: async () => {
          throw new Error('Migrations only go forward.');
        },
      },
      logger: undefined,
    });
    return (await umzug.up()).map((migration) => migration.name);
  } finally {
    await sql.end();
  }
}
