/** The embedded Postgres as seen by other users of the machine: they learn no password and read no file. */
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { createPool } from '../../src/db/connection/pool.ts';
import { openDataDir } from '../../src/embedded/data-dir.ts';
import { restrictFolder } from '../../src/embedded/own-files.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { createCluster, ensureServerUser } from '../../src/embedded/postgres-cluster.ts';
import { writeEml } from '../../src/mail/mailer.ts';
import { folderOfTest } from '../support/ends.ts';
import { nightly } from '../support/runner/nightly.ts';
import { until } from '../support/until.ts';

let directory: string;
beforeEach(async () => {
  directory = await folderOfTest('waybill-postgres-');
  // Postgres may run as another user, who must be able to enter the parents of DATA_DIR.
  await chmod(directory, 0o755);
});

const mode = async (path: string) => (await stat(path)).mode & 0o777;

/** The files below a folder, without those that disappear while it reads. */
async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const found = entries.map((entry) => {
    const file = join(path, entry.name);
    return entry.isDirectory() ? filesBelow(file) : Promise.resolve(entry.isFile() ? [file] : []);
  });
  return (await Promise.all(found)).flat();
}

/** The places where everyone can read a text: in a command line, or in a file open to all. */
async function exposed(text: string, folders: readonly string[]): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const places = pids.map((pid) => `/proc/${pid}/cmdline`);
  for (const file of folders) {
    const found = await stat(file).catch(() => null);
    if (found !== null && (found.mode & 0o004) !== 0) places.push(file);
  }
  const contents = await Promise.all(places.map((place) => readFile(place, 'utf8').catch(() => '')));
  return places.filter((_, index) => contents[index]?.includes(text));
}

it('the password is never in a command line, or in a file that others can read', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  const password = await dataDir.readOrCreate('postgres-password', () => 'the-password-of-this-test');
  let over = false;
  const seen = new Set<string>();
  const watching = (async () => {
    while (!over) {
      const passing = (await readdir(tmpdir())).filter((name) => name.startsWith('pg-password'));
      const files = [...passing.map((name) => join(tmpdir(), name)), ...(await filesBelow(dataDir.path))];
      for (const place of await exposed(password, files)) seen.add(place);
      await turn();
    }
  })();
  const server = await startPostgres(dataDir, () => {});
  try {
    over = true;
    await watching;
    expect([...seen]).toEqual([]);
    // Others cannot even enter; as root, the server's group may pass through to its own folders.
    const asRoot = process.getuid?.() === 0;
    expect(await mode(dataDir.path)).toBe(asRoot ? 0o710 : 0o700);
    expect(await mode(dataDir.join('postgres'))).toBe(0o700);
    expect(await mode(dataDir.join('postgres.log'))).toBe(0o600);
    // The server asks for the password, and the stored one is right.
    const sql = createPool(server.url, 1);
    // Not a superuser, whom Postgres would let run programs and read files.
    expect(await sql`select rolsuper, rolcreaterole from pg_roles where rolname = current_user`).toEqual([
      { rolsuper: false, rolcreaterole: false },
    ]);
    await sql.end();
    const wrong = createPool(server.url.replace(password, 'wrong'), 1);
    await expect(wrong`select 1`).rejects.toThrow(/password authentication failed/);
    await wrong.end();
  } finally {
    over = true;
    await server.stop();
  }
  expect((await readdir(dataDir.path)).filter((name) => name.startsWith('.'))).toEqual([]);
});

it('a cluster is never removed, even without the note of its first start or its version', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  const first = await startPostgres(dataDir, () => {});
  const sql = createPool(first.url, 1);
  await sql`create table kept as select 7 as id`;
  await sql.end();
  await first.stop();
  await dataDir.remove('postgres-ready');
  // What an interrupted start has left goes.
  await mkdir(dataDir.join('postgres-new'));
  const second = await startPostgres(dataDir, () => {});
  const again = createPool(second.url, 1);
  expect(await again`select id from kept`).toEqual([{ id: 7 }]);
  await again.end();
  await second.stop();
  await rm(join(dataDir.join('postgres'), 'PG_VERSION'));
  await expect(startPostgres(dataDir, () => {})).rejects.toThrow(/contains files, but no Postgres cluster/);
  expect(await readdir(join(dataDir.join('postgres'), 'base'))).not.toEqual([]);
});

it('a first start that was interrupted after making the cluster is completed by the next', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  // Of a cluster that was moved away.
  await dataDir.write('postgres-ready', '');
  const interrupted = startPostgres(dataDir, () => {}, { signal: AbortSignal.abort() });
  await expect(interrupted).rejects.toThrow();
  expect(await readdir(dataDir.join('postgres'))).toContain('PG_VERSION');
  const server = await startPostgres(dataDir, () => {});
  try {
    const sql = createPool(server.url, 1);
    expect(await sql`select current_user as name`).toEqual([{ name: 'waybill' }]);
    await sql.end();
  } finally {
    await server.stop();
  }
});

it('a cluster is not made behind a link, and the error says so', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  await mkdir(join(directory, 'elsewhere'));
  await symlink(join(directory, 'elsewhere'), dataDir.join('postgres'));
  await expect(startPostgres(dataDir, () => {})).rejects.toThrow(
    /cannot be moved to .*, which must be no link/,
  );
});

it('a killed server is soon running again at its address, with all that was committed', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  const said: string[] = [];
  const server = await startPostgres(dataDir, (text) => said.push(text));
  try {
    const before = createPool(server.url, 1);
    await before`create table kept as select 7 as id`;
    await before.end();
    process.kill(server.pid() ?? 0, 'SIGKILL');
    await until('its restart', async () => said.at(-1) === 'Postgres is running again.');
    const after = createPool(server.url, 1);
    expect(await after`select id from kept`).toEqual([{ id: 7 }]);
    // A session that is open does not keep it from ending in order.
    await server.stop();
    await after.end();
  } finally {
    await server.stop();
  }
  expect(await readFile(dataDir.join('postgres.log'), 'utf8')).toMatch(/database system is shut down\n$/);
});

it('a server whose port is taken between its choice and the start is started on another port', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  const rival = createServer();
  const ports: string[] = [];
  const server = await startPostgres(
    {
      ...dataDir,
      async write(name, text) {
        if (name === 'postgres-port' && ports.push(text) === 1)
          await once(rival.listen(Number(text), '127.0.0.1'), 'listening');
        await dataDir.write(name, text);
      },
    },
    () => {},
  );
  try {
    expect(ports).toHaveLength(2);
    expect(new URL(server.url).port).toBe(ports[1]);
  } finally {
    await server.stop();
    rival.close();
  }
});

it('a server that an earlier run left behind is stopped, and its data is used', async () => {
  const dataDir = await openDataDir(join(directory, 'data'));
  const said: string[] = [];
  const left = await startPostgres(dataDir, () => {}, { restarts: false });
  const server = await startPostgres(dataDir, (text) => said.push(text));
  try {
    expect(said).toEqual(['Stopped the Postgres that an earlier run left behind.']);
    expect(server.url).toBe(left.url);
    const sql = createPool(server.url, 1);
    expect(await sql`select current_database() as name`).toEqual([{ name: 'waybill' }]);
    await sql.end();
  } finally {
    await server.stop();
    await left.stop();
  }
});

it.runIf(nightly)('a server that was left behind is found through a link to its folder, too', async () => {
  const left = await startPostgres(await openDataDir(join(directory, 'data')), () => {}, { restarts: false });
  await symlink(join(directory, 'data'), join(directory, 'link'));
  const said: string[] = [];
  const server = await startPostgres(await openDataDir(join(directory, 'link')), (text) => said.push(text));
  await server.stop();
  await left.stop();
  expect(said).toEqual(['Stopped the Postgres that an earlier run left behind.']);
});

it('the error of a cluster that cannot be made names the cause, not what is removed afterwards', async () => {
  const initdb = join(directory, 'initdb');
  const output =
    '2026-11-30 01:00:00 UTC [1] FATAL:  no space\n[1] HINT:  Check disk.\ninitdb: removing contents';
  await writeFile(initdb, `#!/bin/sh\necho '${output}' >&2\nexit 1\n`, { mode: 0o755 });
  const made = createCluster(
    { initdb, postgres: initdb, pg_ctl: initdb },
    {
      directory: join(directory, 'cluster'),
      passwordFile: join(directory, 'password'),
      name: 'postgres',
      password: 'secret',
      user: undefined,
    },
  );
  await expect(made).rejects.toThrow(/cluster: no space; Check disk\.$/);
});

it('an open folder is closed if it holds nothing but the instance', async () => {
  const path = join(directory, 'earlier');
  await mkdir(path, { mode: 0o755 });
  await chmod(path, 0o755);
  await writeFile(join(path, 'postgres-port'), '0');
  await restrictFolder(path, await ensureServerUser());
  expect((await mode(path)) & 0o007).toBe(0);
});

it('an open folder with things of others in it keeps its mode', async () => {
  const path = join(directory, 'shared');
  await mkdir(path);
  await chmod(path, 0o755);
  await writeFile(join(path, 'letter.txt'), '');
  await restrictFolder(path, await ensureServerUser());
  expect(await mode(path)).toBe(0o755);
});

it('the folder of mails is closed to others', async () => {
  const path = join(directory, 'mail');
  await writeEml(path, '<one@example.com>', Buffer.from('To: you'));
  expect(await mode(path)).toBe(0o700);
});
