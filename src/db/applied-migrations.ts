/**
 * The migrations of a database, compared with our files. A file that was changed after it had been applied would
 * leave tables that no release has ever seen, so the hash of each is kept.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { UserError } from '../lib/user-error.ts';
import type { Pool } from './connection/pool.ts';

export type MigrationFile = Awaited<ReturnType<typeof readMigrations>>[number];

/** Reads the files of a folder, in the order in which they are applied. `hash`: SHA-256, in hex. */
export async function readMigrations(folder: URL) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return { name, text, hash: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/**
 * The files that are still to be applied. A database may have more than our files: during a deployment, and after
 * going back, the former release starts on the tables of the new one.
 * @throws UserError if other files than this version's have been applied
 */
export async function pendingMigrations(sql: Pool, files: readonly MigrationFile[]) {
  const [table] = await sql<{ there: boolean }[]>`select to_regclass('migrations') is not null as there`;
  if (table?.there !== true) return files;
  const rows = await sql<{ name: string; hash: string }[]>`
    select name, hash from migrations order by name collate "C"`;
  const isOwn = files.every(
    ({ name, hash }, place) =>
      place >= rows.length || (rows[place]?.name === name && rows[place]?.hash === hash),
  );
  if (isOwn) return files.slice(rows.length);
  throw new UserError(
    'The database was created by other migrations than those of this Waybill, and cannot be upgraded: set DATABASE_URL to a new one (DATA_DIR to a new folder if Postgres is embedded), and TEMPORAL_NAMESPACE too if you run Temporal yourself.',
  );
}
