/** A second Postgres that follows the first and is promoted in its place. */
import { execFile } from 'node:child_process';
import { appendFile, chmod, chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import type { User } from '../../src/embedded/own-files.ts';
import { postgresPrograms, serverUser } from '../../src/embedded/postgres-cluster.ts';
import { freePort } from '../../test/support/servers/ports.ts';
import type { PostgresPart } from './postgres.ts';

const run = promisify(execFile);

/** A server of the pair. */
export interface Node {
  readonly url: string;
  readonly port: number;
  start(): Promise<void>;
  /** Stops it once its commits have reached its standby. */
  stop(): Promise<void>;
  /** Makes it a standby of the other from its next start on. */
  follow(other: Pick<Node, 'port'>): Promise<void>;
  /** Resolves once it accepts writes. */
  promote(): Promise<void>;
}

/** The first of the pair. */
export function firstNode(part: PostgresPart): Node {
  const { url, directory } = part;
  return { ...node(url, directory), start: () => part.start(), stop: () => part.stop() };
}

/**
 * Copies a running server and starts the copy as its standby.
 * @param directory the place of the copy
 */
export async function startStandby(first: PostgresPart, directory: string): Promise<Node> {
  const user = await serverUser();
  const asUser = { ...user, cwd: '/' };
  const sql = postgres(first.url, { max: 1, onnotice: () => {} });
  try {
    await sql`select pg_backup_start('standby', true)`;
    // Files that vanish during the copy belong to ended work: the server's log has the rest.
    await run('cp', ['-a', first.directory, directory]).catch(() => {});
    const [stopped] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
    await writeAs(user, join(directory, 'backup_label'), stopped?.labelfile ?? '');
  } finally {
    await sql.end({ timeout: 1 });
  }
  for (const left of ['postmaster.pid', 'postmaster.opts']) await rm(join(directory, left), { force: true });
  await chmod(directory, 0o700);
  const { pg_ctl: pgCtl } = await postgresPrograms();
  const port = await freePort();
  const url = Object.assign(new URL(first.url), { port: String(port) }).href;
  const options = `-c unix_socket_directories= -c listen_addresses=127.0.0.1 -c max_connections=200 -p ${port}`;
  const standby: Node = {
    ...node(url, directory),
    async start() {
      await run(
        pgCtl,
        ['start', '-D', directory, '-l', join(directory, 'server.log'), '-o', options, '-w', '-t', '60'],
        asUser,
      );
    },
    async stop() {
      await run(pgCtl, ['stop', '-D', directory, '-m', 'fast', '-w', '-t', '60'], asUser);
    },
  };
  await standby.follow(firstNode(first));
  await standby.start();
  return standby;
}

/** The server opens these files for writing. */
async function writeAs(user: User | undefined, file: string, text: string): Promise<void> {
  await writeFile(file, text);
  if (user !== undefined) await chown(file, user.uid, user.gid);
}

function node(url: string, directory: string): Omit<Node, 'start' | 'stop'> {
  const { port, username, password } = new URL(url);
  return {
    url,
    port: Number(port),
    async follow(other) {
      const way = `host=127.0.0.1 port=${other.port} user=${username} password=${password}`;
      await appendFile(join(directory, 'postgresql.auto.conf'), `primary_conninfo = '${way}'\n`);
      await writeAs(await serverUser(), join(directory, 'standby.signal'), '');
    },
    async promote() {
      const sql = postgres(url, { max: 1, onnotice: () => {} });
      try {
        const [promoted] = await sql<{ done: boolean }[]>`select pg_promote(true, 60) as done`;
        if (promoted?.done !== true) throw new Error('The standby was not promoted.');
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
  };
}
