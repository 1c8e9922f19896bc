/** A Postgres other than the embedded one, in the folder POSTGRES_PROGRAMS, such as `/usr/lib/postgresql/15/bin`. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { createDatabase } from '../../../src/db/connection/create-database.ts';
import { createCluster, ensureServerUser } from '../../../src/embedded/postgres-cluster.ts';
import { folderOfTest } from '../ends.ts';
import { freePort } from '../servers/ports.ts';

const run = promisify(execFile);

/** Debian's folder for all versions. */
const DEBIAN = '/usr/lib/postgresql';

/** The folders of the programs that Debian's packages have installed, the oldest version first. */
export function installedPostgres(): string[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort() : [];
  return versions
    .map((version) => join(DEBIAN, version, 'bin'))
    .filter((folder) => existsSync(join(folder, 'postgres')));
}

/** A server in its own folder, with the superuser `waybill` and the same password. */
export interface OtherPostgres {
  initialise(): Promise<void>;
  start(): Promise<void>;
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** @param programs the folder of `postgres`, `initdb` and `pg_ctl` */
export function otherPostgres(
  programs: string,
  { databaseDir, port, postgresFlags }: { databaseDir: string; port: number; postgresFlags: string[] },
): OtherPostgres {
  const [pgCtl, initdb, postgres] = ['pg_ctl', 'initdb', 'postgres'].map((name) => join(programs, name));
  const credentials = { name: 'waybill', password: 'waybill' };
  const control = async (...args: string[]) => {
    const user = await ensureServerUser();
    await run(pgCtl ?? '', [...args, '-D', databaseDir, '-w', '-t', '60'], { ...user, cwd: '/' });
  };
  return {
    async initialise() {
      const paths = { pg_ctl: pgCtl ?? '', initdb: initdb ?? '', postgres: postgres ?? '' };
      const user = await ensureServerUser();
      const passwordFile = `${databaseDir}.password`;
      await createCluster(paths, { directory: databaseDir, passwordFile, user, ...credentials });
    },
    async start() {
      const flags = [
        '-c',
        'unix_socket_directories=',
        '-c',
        'listen_addresses=127.0.0.1',
        '-p',
        String(port),
      ];
      const log = join(databaseDir, 'server.log');
      await control('start', '-l', log, '-o', [...flags, ...postgresFlags].join(' '));
    },
    createDatabase: (name) => createDatabase(`postgres://waybill:waybill@127.0.0.1:${port}/postgres`, name),
    stop: () => control('stop', '-m', 'fast'),
  };
}

/** A database without tables on a server of its own, which ends with the test. */
export async function databaseOn(programs: string, postgresFlags: string[] = []): Promise<string> {
  const directory = await folderOfTest('waybill-installed-');
  // The server's user must be able to enter the folder, which mkdtemp creates for its owner only.
  await chmod(directory, 0o755);
  const port = await freePort();
  const databaseDir = join(directory, 'postgres');
  const server = otherPostgres(programs, { databaseDir, port, postgresFlags });
  await server.initialise();
  await server.start();
  onTestFinished(() => server.stop());
  await server.createDatabase('waybill');
  return `postgres://waybill:waybill@127.0.0.1:${port}/waybill`;
}
