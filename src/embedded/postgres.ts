/** The embedded Postgres, for a start without a configured database. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, createRole } from '../db/connection/create-database.ts';
import { reasonOf, UserError } from '../lib/user-error.ts';
import type { DataDir } from './data-dir.ts';
import { inaccessibleFolder, restrictFolder, type User } from './own-files.ts';
import { freePort } from './ports.ts';
import { createCluster, ensureServerUser, type Programs, postgresPrograms } from './postgres-cluster.ts';
import { isAlive, isListed, type StopSignals } from './processes.ts';
import { type ServiceOptions, startOnFreePorts, startService, stopOrphan } from './service.ts';

interface PostgresOptions extends Pick<ServiceOptions, 'env' | 'restarts' | 'signal'> {
  readonly maxConnections?: number;
  readonly superuser?: boolean;
}

/** Settings; the server accepts TCP on this machine only. */
const SETTINGS = ['-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1'];

/**
 * SIGINT: Postgres ends its sessions, and then itself. SIGQUIT: it exits at once, and the next start recovers from
 * the log. Only SIGKILL ends a server that hangs or is stopped (SIGSTOP).
 */
const STOP_SIGNALS: StopSignals = ['SIGINT', 'SIGQUIT', 'SIGKILL'];
const STOP_TIMEOUT_MS = 20_000;
/** After a crash Postgres first recovers from its log. Too low: a long recovery is cut off and begins again. */
const READY_TIMEOUT_MS = 600_000;

/**
 * How many times to try to remove a folder in which a program still writes. Too low: a start right after an
 * interrupted one fails. Too high: a folder that cannot be removed is reported later.
 */
const REMOVAL_TRIES = 5;

/** How long a killed server may remain in the process table, in milliseconds. */
const ZOMBIE_PATIENCE_MS = 10_000;

/** Checks early, with a clear message instead of a cryptic error, that the server's user can enter the folder. */
async function requireAccess(path: string, user: User, wayOut: string): Promise<void> {
  const inaccessible = await inaccessibleFolder(path, user);
  if (inaccessible === null) return;
  throw new UserError(
    `Postgres does not run as root, and the user postgres, under whom it runs instead, cannot access ${inaccessible}: ${wayOut}.`,
  );
}

/**
 * Makes sure that the server's user can reach its programs and its folder, and that no other user can.
 * @returns that user; undefined if it is our own
 */
async function grantServerAccess({ postgres }: Programs, dataDir: DataDir): Promise<User | undefined> {
  const user = await ensureServerUser();
  await restrictFolder(dataDir.path, user);
  if (user === undefined) return undefined;
  const elsewhere = 'run Waybill from a folder open to all, as another user, or set DATABASE_URL';
  await requireAccess(postgres, user, elsewhere);
  await requireAccess(dataDir.path, user, 'set DATA_DIR to a folder in a place open to all');
  return user;
}

/** Whether it accepts connections, by the last line of its pid file, as `pg_ctl` asks. */
async function isReady(pidFile: string, pid: number): Promise<boolean> {
  const lines = (await readFile(pidFile, 'utf8')).split('\n');
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/**
 * A killed server remains in the process table as a zombie until its parent reaps it, and until then Postgres
 * considers the folder in use. Its child processes end with it, so its pid file can be removed if it is never reaped.
 */
async function clearZombie(pidFile: string): Promise<void> {
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  for (const end = Date.now() + ZOMBIE_PATIENCE_MS; pid > 0 && isListed(pid) && !(await isAlive(pid)); ) {
    if (Date.now() > end) return await rm(pidFile, { force: true });
    await sleep(100);
  }
}

/** @throws UserError if the place of a new cluster has files, which are never removed */
async function requireEmpty(directory: string): Promise<void> {
  if ((await readdir(directory).catch(() => [])).length > 0)
    throw new UserError(`${directory} contains files, but no Postgres cluster: move it away, or restore it.`);
}

/** The port of an earlier start if it is free, else another, which is recorded for the next start. */
async function choosePort(dataDir: DataDir): Promise<number> {
  const stored = Number(await dataDir.read('postgres-port'));
  const port = await freePort(Number.isInteger(stored) ? stored : 0);
  await dataDir.write('postgres-port', String(port));
  return port;
}

/**
 * Makes a cluster elsewhere, and moves it to its place when it is complete.
 * @param directory its place
 * @throws UserError if it cannot be made or moved
 */
async function makeCluster(
  programs: Programs,
  directory: string,
  cluster: Pick<Parameters<typeof createCluster>[1], 'name' | 'password' | 'user'>,
): Promise<void> {
  const stagingDir = `${directory}-new`;
  await rm(stagingDir, { recursive: true, force: true, maxRetries: REMOVAL_TRIES });
  await mkdir(stagingDir, { mode: 0o700 });
  const { user } = cluster;
  if (user !== undefined) await chown(stagingDir, user.uid, user.gid);
  // An interrupted start may have left its `initdb` running, which removes all that it wrote if it fails: the other
  // name keeps it away from the new cluster.
  const unfinished = join(stagingDir, randomBytes(4).toString('hex'));
  await createCluster(programs, {
    directory: unfinished,
    passwordFile: `${unfinished}.password`,
    ...cluster,
  });
  try {
    await rename(unfinished, directory);
  } catch (error) {
    throw new UserError(
      `The new cluster cannot be moved to ${directory}, which must be no link: ${reasonOf(error)}.`,
    );
  }
  // The new cluster is in its place: anything left here is removed before the next one is made.
  await rm(stagingDir, { recursive: true, force: true, maxRetries: REMOVAL_TRIES }).catch(() => {});
}

/**
 * Starts the server under `DATA_DIR`/postgres, creating the cluster on the first start. A server that an earlier
 * process left running is stopped first.
 * @param say receives lines about slow steps, and about a server that died
 * @param superuser whether a new cluster's only role, `waybill`, is a superuser, as harnesses need it
 * @throws UserError if the server's user cannot use the folder, or it has other files; or with its last output
 */
export async function startPostgres(
  dataDir: DataDir,
  say: (text: string) => void,
  { maxConnections = 200, superuser = false, ...service }: PostgresOptions = {},
) {
  // Resolve symlinks: the orphan check matches this path in the command line.
  const directory = join(await realpath(dataDir.path), 'postgres');
  const passwordIn = (name: string) =>
    dataDir.readOrCreate(name, () => randomBytes(18).toString('base64url'));
  const password = await passwordIn('postgres-password');
  const admin = superuser
    ? { name: 'waybill', password }
    : { name: 'postgres', password: await passwordIn('postgres-superuser-password') };
  const programs = await postgresPrograms();
  const user = await grantServerAccess(programs, dataDir);
  const isNew = !existsSync(join(directory, 'PG_VERSION'));
  const isPrepared = !isNew && (await dataDir.read('postgres-ready')) !== undefined;
  const pidFile = join(directory, 'postmaster.pid');
  await clearZombie(pidFile);
  if (await stopOrphan(pidFile, directory, STOP_TIMEOUT_MS, STOP_SIGNALS))
    say('Stopped the Postgres that an earlier run left behind.');
  if (isNew) {
    await requireEmpty(directory);
    say('Creating the embedded Postgres cluster …');
    // A note about a former cluster says nothing about this one.
    await dataDir.remove('postgres-ready');
    await makeCluster(programs, directory, { ...admin, user });
  }
  const { port, ...server } = await startOnFreePorts(async () => {
    const port = await choosePort(dataDir);
    const started = await startService({
      ...service,
      name: 'Postgres',
      command: programs.postgres,
      args: ['-D', directory, ...SETTINGS, '-c', `max_connections=${maxConnections}`, '-p', String(port)],
      user,
      logFile: dataDir.join('postgres.log'),
      ready: (pid) => isReady(pidFile, pid),
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      stopSignals: STOP_SIGNALS,
      onEvent: say,
    });
    return { ...started, port };
  });
  const address = `127.0.0.1:${port}`;
  if (!isPrepared) {
    try {
      const adminUrl = `postgres://${admin.name}:${admin.password}@${address}/postgres`;
      if (!superuser) await createRole(adminUrl, { name: 'waybill', password });
      await createDatabase(adminUrl, 'waybill', 'waybill');
      await dataDir.write('postgres-ready', '');
    } catch (error) {
      await server.stop();
      throw error;
    }
  }
  return { ...server, url: `postgres://waybill:${password}@${address}/waybill` };
}
