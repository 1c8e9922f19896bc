/**
 * The embedded Postgres of an unconfigured start. It runs in its own session, so that Ctrl-C in a terminal reaches
 * only this process, which stops Postgres after the drain.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, createRole } from '../db/create-database.ts';
import { UserError } from '../lib/user-error.ts';
import { childEnvironment } from './child-environment.ts';
import type { DataDir } from './data-dir.ts';
import { freePort } from './ports.ts';
import {
  createCluster,
  ensureServerUser,
  type Programs,
  postgresPrograms,
  serverUser,
} from './postgres-cluster.ts';
import { restrictFolder } from './private-folder.ts';
import { commandLine, isAlive, isListed } from './processes.ts';
import { inaccessibleFolder, type User } from './reachable.ts';
import { rotateLog } from './rotate-log.ts';
import { runProgram } from './run-program.ts';

/** A running server. */
export interface EmbeddedServer {
  readonly url: string;
  /** Restarts it if it no longer runs. */
  ensureRunning(): Promise<'running' | 'restarted'>;
  stop(): Promise<void>;
}

interface PostgresOptions {
  readonly maxConnections?: number;
  readonly superuser?: boolean;
  /** Added to the environment of its processes, read at each start. */
  readonly env?: () => NodeJS.ProcessEnv;
}

/** Settings: TCP on this machine only. */
const SETTINGS = ['-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1'];

/** How long a killed server may remain in the process table, in milliseconds. */
const ZOMBIE_PATIENCE_MS = 10_000;

/** Checks early, with a clear message instead of a cryptic error, that the server's user can enter the folder. */
async function requireAccess(path: string, user: User, wayOut: string): Promise<void> {
  const inaccessible = await inaccessibleFolder(path, user);
  if (inaccessible === null) return;
  throw new UserError(
    `Postgres does not run as root, and the user postgres, as which it runs instead, cannot access ${inaccessible}: ${wayOut}.`,
  );
}

/**
 * Makes sure that the server's user can reach its programs and its folder, and that no other user can reach the
 * folder.
 * @returns that user; undefined if it is our own
 */
async function grantServerAccess({ pg_ctl }: Programs, dataDir: DataDir): Promise<User | undefined> {
  if (process.getuid?.() !== 0) {
    await restrictFolder(dataDir.path);
    return undefined;
  }
  const elsewhere = 'set DATA_DIR to a folder in a place open to all';
  // Before the first start that user may not exist yet: it will own nothing.
  const expected = (await serverUser().catch(() => undefined)) ?? { uid: -1, gid: -1 };
  await requireAccess(
    pg_ctl,
    expected,
    'run Waybill from a folder open to all, as another user, or set DATABASE_URL',
  );
  await requireAccess(dirname(dataDir.path), expected, elsewhere);
  const user = await ensureServerUser();
  await restrictFolder(dataDir.path, user);
  if (user !== undefined) await requireAccess(dataDir.path, user, elsewhere);
  return user;
}

/**
 * Starts the server under `DATA_DIR`/postgres, creating the cluster on the first start. A server that an earlier
 * process left running is stopped first.
 * @param superuser whether a new cluster's only role, `waybill`, is a superuser, as harnesses need it
 * @throws UserError if the folder cannot be used by the server's user
 */
export async function startPostgres(
  dataDir: DataDir,
  say: (text: string) => void,
  { maxConnections = 200, superuser = false, env = () => ({}) }: PostgresOptions = {},
): Promise<EmbeddedServer> {
  const directory = dataDir.join('postgres');
  const passwordIn = (name: string) =>
    dataDir.readOrCreate(name, () => randomBytes(18).toString('base64url'));
  const password = await passwordIn('postgres-password');
  const programs = await postgresPrograms();
  const { pg_ctl: pgCtl } = programs;
  const user = await grantServerAccess(programs, dataDir);
  if (
    !existsSync(dataDir.join('postgres', 'PG_VERSION')) ||
    (await dataDir.read('postgres-ready')) === undefined
  ) {
    say('Creating the embedded Postgres cluster …');
    // An interrupted first start may have left an unusable part of a cluster.
    await rm(directory, { recursive: true, force: true });
    const passwordFile = dataDir.join(`.postgres-password.${randomBytes(4).toString('hex')}`);
    const admin = superuser
      ? { name: 'waybill', password }
      : { name: 'postgres', password: await passwordIn('postgres-superuser-password') };
    await createCluster(programs, { directory, passwordFile, ...admin, user });
    await dataDir.write('postgres-ready', `superuser ${admin.name}\n`);
  }
  const log = dataDir.join('postgres.log');
  const asUser = { ...user, env: childEnvironment() };
  if (user !== undefined) {
    await mkdir(dataDir.join('logs'), { recursive: true });
    await chown(dataDir.join('logs'), user.uid, user.gid);
    await chmod(dataDir.join('logs'), 0o700);
  }
  const logFile = user === undefined ? log : dataDir.join('logs', 'postgres.log');

  async function stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await runProgram(pgCtl, ['stop', '-D', directory, '-m', mode, '-w', '-t', '20'], asUser).catch(
      async (error: unknown) => {
        if (mode === 'fast' && (await postmaster()) !== undefined) await stop('immediate');
        else if ((await postmaster()) !== undefined) throw error;
      },
    );
  }

  const pidFile = `${directory}/postmaster.pid`;
  /** Not a positive number if there is none. */
  const pidInFile = async () => Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0]);

  /**
   * The id of the running server, from its pid file. After a restart of the machine that id may belong to another
   * process, which is left alone; the file is removed, as it would keep Postgres from starting.
   */
  async function postmaster(): Promise<number | undefined> {
    const pid = await pidInFile();
    if (!(pid > 0) || !(await isAlive(pid))) return undefined;
    if ((await commandLine(pid)).includes(directory)) return pid;
    await rm(pidFile, { force: true });
    return undefined;
  }

  async function start(port: number): Promise<void> {
    const most = ['-c', `max_connections=${maxConnections}`];
    const options = [...SETTINGS, ...most, '-p', String(port)].join(' ');
    await rotateLog(logFile);
    try {
      // pg_ctl puts the server into a session of its own. The server's output must not be a pipe of this process.
      const args = ['start', '-D', directory, '-l', logFile, '-o', options, '-w', '-t', '60'];
      await runProgram(pgCtl, args, { ...asUser, env: { ...asUser.env, ...env() } });
    } catch (error) {
      const tail = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-4).join(' ');
      throw new UserError(`The embedded Postgres did not start: ${tail || String(error)}`);
    }
  }

  /**
   * A killed server remains in the process table as a zombie until its parent reaps it, and until then Postgres
   * considers the folder in use. Its child processes end with it, so its pid file can be removed if it is never
   * reaped.
   */
  async function clearZombie(): Promise<void> {
    const pid = await pidInFile();
    for (const end = Date.now() + ZOMBIE_PATIENCE_MS; pid > 0 && isListed(pid) && !(await isAlive(pid)); ) {
      if (Date.now() > end) return await rm(pidFile, { force: true });
      await sleep(100);
    }
  }

  await clearZombie();
  if ((await postmaster()) !== undefined) {
    say('Stopping the Postgres that an earlier run left behind …');
    await stop();
  }
  const known = Number(await dataDir.read('postgres-port'));
  const port = await freePort(Number.isInteger(known) ? known : 0);
  await dataDir.write('postgres-port', String(port));
  await start(port);
  const address = `127.0.0.1:${port}`;
  const url = `postgres://waybill:${password}@${address}/waybill`;
  if ((await dataDir.read('postgres-ready'))?.trim() === 'superuser postgres') {
    const adminPassword = await passwordIn('postgres-superuser-password');
    const admin = `postgres://postgres:${adminPassword}@${address}/postgres`;
    await createRole(admin, { name: 'waybill', password });
    await createDatabase(admin, 'waybill', 'waybill');
  } else {
    // A harness's cluster, or an old one in which the role is a superuser: the first role of a cluster cannot cease
    // to be one.
    await createDatabase(`postgres://waybill:${password}@${address}/postgres`, 'waybill');
  }
  return {
    url,
    async ensureRunning() {
      if ((await postmaster()) !== undefined) return 'running';
      await clearZombie();
      await start(port);
      return 'restarted';
    },
    stop: () => stop(),
  };
}
